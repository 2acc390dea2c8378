"""Bytes that HDF5 says datasets have stored, as answers for the tests of counting bytes.

storage_sizes.py FILE...   JSON: of each file the raw_data and hash_table datasets and those outside the versioned tree,
                           by path, each with its number of stored chunks (null if it has none) and its bytes
storage_sizes.py add FILE  adds datasets of all layouts outside the versioned tree, and other names for some
"""

import json
import sys
from typing import Any

import h5py
import hdf5plugin  # noqa: F401 (registers filters)
import numpy as np

ROOT = "_version_data"


def sizes(path: str) -> dict[str, Any]:
    """Of one file."""
    found: dict[str, Any] = {}

    def visit(name: str, thing: h5py.Dataset | h5py.Group) -> None:
        if not isinstance(thing, h5py.Dataset) or thing.is_virtual or name.startswith(f"{ROOT}/versions/"):
            return
        if name.startswith(f"{ROOT}/") and name.rsplit("/", 1)[-1] not in ("raw_data", "hash_table"):
            return
        if thing.id.get_create_plist().get_layout() == h5py.h5d.COMPACT:
            return
        chunks = thing.id.get_num_chunks() if thing.chunks else None
        found["/" + name] = [chunks, thing.id.get_storage_size()]

    with h5py.File(path, "r") as file:
        # By each object once, whatever its names.
        file.visititems(visit)
    return found


def add(path: str) -> None:
    """Adds what is not versioned."""
    with h5py.File(path, "r+") as file:
        file["a/contiguous"] = np.arange(100, dtype="i8")
        file.create_dataset("a/chunked", data=np.ones((30, 40), "f4"), chunks=(7, 8), compression="gzip")
        file.create_dataset("a/empty", shape=(5,), dtype="f8")
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file["a"].id, b"compact", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((3,)), compact)
        layout = h5py.VirtualLayout((100,), "i8")
        layout[:] = h5py.VirtualSource(file["a/contiguous"])
        file.create_virtual_dataset("a/virtual", layout)
        file["a/again"] = file["a"]
        file["other name"] = file["a/contiguous"]
        file["soft"] = h5py.SoftLink("/a/contiguous")
        file["nowhere"] = h5py.SoftLink("/zzz")
        file["elsewhere"] = h5py.ExternalLink("zzz.h5", "/")
        for group in list(file[ROOT]):
            if "raw_data" in file[ROOT][group]:
                file["of a version"] = file[ROOT][group]["raw_data"]
                break


if __name__ == "__main__":
    if sys.argv[1] == "add":
        add(sys.argv[2])
    else:
        json.dump([sizes(path) for path in sys.argv[1:]], sys.stdout)
