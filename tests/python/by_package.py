"""What versioned-hdf5 does with a file.

by_package.py commit FILE VERSION       commits a version with the first element of every dataset changed
by_package.py delete FILE VERSION...    deletes versions
by_package.py digests FILE              JSON: by version and dataset, the SHA-256 of the values
by_package.py rebuild FILE              makes all hash tables anew
by_package.py tables FILE               JSON: by dataset, the digests in its hash table, sorted, but for those that only
                                        say that there is a chunk
"""

import hashlib
import json
import sys
from collections.abc import Callable

import h5py
import hdf5plugin  # noqa: F401 (registers filters)
import numpy as np
from versioned_hdf5 import VersionedHDF5File, delete_versions

#: What digests begin with that are none.
NO_DIGEST = bytes(24)


def datasets(group: h5py.Group) -> list[str]:
    found: list[str] = []
    group.visititems(lambda path, thing: found.append(path) if isinstance(thing, h5py.Dataset) else None)
    return sorted(found)


def commit(file: h5py.File, version: str) -> None:
    versioned = VersionedHDF5File(file)
    paths = datasets(file["_version_data/versions"][versioned.current_version])
    with versioned.stage_version(version) as stage:
        for path in paths:
            dataset = stage[path]
            if dataset.size:
                changed = dataset[...]
                is_text = changed.dtype.kind == "O"
                changed.flat[0] = f"by {version}" if is_text else changed.flat[-1] + 1
                dataset[...] = changed


def delete(file: h5py.File, *versions: str) -> None:
    delete_versions(VersionedHDF5File(file), list(versions))


def digests(file: h5py.File) -> None:
    found: dict[str, str] = {}
    for version, group in file["_version_data/versions"].items():
        for path in datasets(group):
            sha = hashlib.sha256()
            values = group[path][...]
            if values.dtype.kind == "O":
                for text in values.flat:
                    sha.update(len(text).to_bytes(8, "little") + text)
            else:
                sha.update(np.ascontiguousarray(values).tobytes())
            found[f"{version}/{path}"] = sha.hexdigest()
    print(json.dumps(found, sort_keys=True))


def rebuild(file: h5py.File) -> None:
    # It refuses some formats when it is made, and none when it is asked for this.
    versioned = VersionedHDF5File.__new__(VersionedHDF5File)
    versioned.f = file
    versioned._closed, versioned._version_cache = False, {}
    versioned.rebuild_hashtables()


def tables(file: h5py.File) -> None:
    found: dict[str, list[str]] = {}

    def collect(path: str, thing: h5py.Dataset | h5py.Group) -> None:
        if path.endswith("/hash_table") and not path.startswith("versions/"):
            rows = thing[: int(thing.attrs["largest_index"])]
            hashes = (bytes(row["hash"]) for row in rows)
            found[path] = sorted(one.hex() for one in hashes if not one.startswith(NO_DIGEST))

    file["_version_data"].visititems(collect)
    print(json.dumps(found, sort_keys=True))


COMMANDS: dict[str, Callable[..., None]] = {"commit": commit, "delete": delete, "rebuild": rebuild}
QUESTIONS: dict[str, Callable[..., None]] = {"digests": digests, "tables": tables}

if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    with h5py.File(path, "r+" if command in COMMANDS else "r") as opened:
        (COMMANDS | QUESTIONS)[command](opened, *rest)
