"""What versioned-hdf5's get_diff says of a file, as answers for the tests of comparing versions.

diffs.py FILE   JSON: [version 1, version 2, dataset, changes] of each version with its parent and with the one before
                it in time, for each dataset that both have; a change is [start, stop, digest in version 1, digest in
                version 2], with null where the version has nothing stored there
"""

import hashlib
import itertools
import json
import sys
from typing import Any

import h5py
import hdf5plugin  # noqa: F401 (registers filters)
import numpy as np
from versioned_hdf5 import VersionedHDF5File


def digest(values: np.ndarray[Any, Any] | None) -> str | None:
    """SHA-256 of elements as bytes; of strings each one's length as u64 little-endian, and its bytes."""
    if values is None:
        return None
    sha = hashlib.sha256()
    if values.dtype.kind in "OT":
        for string in values.flat:
            text = string if isinstance(string, bytes) else str(string).encode()
            sha.update(len(text).to_bytes(8, "little") + text)
    else:
        sha.update(np.ascontiguousarray(values).tobytes())
    return sha.hexdigest()


def datasets(group: h5py.Group) -> set[str]:
    """Paths of all datasets of a version."""
    found: set[str] = set()
    group.visititems(lambda path, thing: found.add(path) if isinstance(thing, h5py.Dataset) else None)
    return found


def changes(file: VersionedHDF5File, path: str, one: str, two: str) -> list[Any]:
    """What get_diff says, in order of the slices."""
    listed = []
    for key, (old, new) in file.get_diff(path, one, two).items():
        slices = [axis.reduce() for axis in key.args]
        start, stop = [axis.start for axis in slices], [axis.stop for axis in slices]
        listed.append([start, stop, digest(old), digest(new)])
    return sorted(listed, key=lambda change: (change[0], change[1]))


def main() -> None:
    with h5py.File(sys.argv[1], "r") as opened:
        versions = opened["_version_data/versions"]
        names = [name for name in versions if name != "__first_version__"]
        names.sort(key=lambda name: versions[name].attrs["timestamp"])
        pairs = set(itertools.pairwise(names))
        pairs |= {(versions[name].attrs["prev_version"], name) for name in names}
        file = VersionedHDF5File(opened)
        answers = []
        for one, two in sorted(pairs):
            if one == "__first_version__":
                continue
            for path in sorted(datasets(versions[one]) & datasets(versions[two])):
                answers.append([one, two, path, changes(file, path, one, two)])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
