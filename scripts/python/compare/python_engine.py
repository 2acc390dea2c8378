"""The Python rivals as engines: versioned-hdf5 opened `r` or `r+`, and plain h5py. See protocol.py.

Run as `python -m compare.python_engine MODE`, where MODE (`r` or `r+`) is how files are opened.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  registers its filters with libhdf5
import numpy as np
from numpy.typing import NDArray
from versioned_hdf5 import VersionedHDF5File
from versioned_hdf5.staged_changes import StagedChangesArray

from digest import VERSIONS, datasets_below

from .checksum import checksum
from .python_writes import delete, digest, write
from .selection import parse_selection

Index = tuple[Any, ...] | NDArray[Any]


def requested_index(request: dict[str, Any]) -> Index:
    """The index for NumPy that a request asks for."""
    if "index_file" in request:
        array: NDArray[Any] = np.load(request["index_file"])
        return array
    return parse_selection(request["selection"])


def read_h5py(dataset: h5py.Dataset, index: Index) -> NDArray[Any]:
    """Reads the selection the fastest way that h5py has for it.

    It takes index arrays only in increasing order and without repeats, and is quicker at reading everything and
    picking in memory than at selecting scattered elements once these are many.
    """
    if not isinstance(index, np.ndarray):
        return np.asarray(dataset[index])
    if index.dtype == bool:
        return np.asarray(dataset[()][index])
    unique, inverse = np.unique(index, return_inverse=True)
    return np.asarray(dataset[unique][inverse])


def timed_read(request: dict[str, Any], mode: str) -> tuple[float, NDArray[Any]]:
    """Opens, reads and closes; h5py alone where the request names no version."""
    index = requested_index(request)
    start = time.perf_counter()
    with h5py.File(request["file"], mode) as file:
        if request["version"] is None:
            values = read_h5py(file[request["dataset"]], index)
        elif mode == "r":
            # Opened read-only, the package hands out h5py's own datasets.
            values = read_h5py(VersionedHDF5File(file)[request["version"]][request["dataset"]], index)
        else:
            values = np.asarray(VersionedHDF5File(file)[request["version"]][request["dataset"]][index])
    return time.perf_counter() - start, values


def read(request: dict[str, Any], mode: str) -> dict[str, Any]:
    seconds, values = timed_read(request, mode)
    return {"seconds": seconds, "checksum": checksum(values), "shape": list(values.shape)}


def timed_read_all(path: str) -> tuple[float, dict[str, dict[str, NDArray[Any]]]]:
    """Opens, reads every dataset of every version, and closes."""
    start = time.perf_counter()
    with h5py.File(path, "r") as file:
        versioned = VersionedHDF5File(file)
        groups = sorted((versioned[name] for name in versioned.versions), key=lambda group: group.attrs["timestamp"])
        values = {
            group.name.removeprefix(f"/{VERSIONS}/"): {
                dataset.name.removeprefix(f"{group.name}/"): np.asarray(dataset[()])
                for dataset in datasets_below(group)
            }
            for group in groups
        }
    return time.perf_counter() - start, values


def read_all(request: dict[str, Any], mode: str) -> dict[str, Any]:
    if mode != "r":
        raise ValueError(f"everything is read from files opened r, not {mode}")
    seconds, values = timed_read_all(request["file"])
    checksums = {
        version: {path: checksum(array) for path, array in datasets.items()} for version, datasets in values.items()
    }
    return {"seconds": seconds, "checksums": checksums}


def diff(request: dict[str, Any], mode: str) -> dict[str, Any]:
    start = time.perf_counter()
    with h5py.File(request["file"], mode) as file:
        changed = VersionedHDF5File(file).get_diff(request["dataset"], request["old"], request["new"])
    seconds = time.perf_counter() - start
    regions = sorted(
        (([int(axis.start) for axis in place.raw], sides) for place, sides in changed.items()),
        key=lambda region: region[0],
    )
    values = [sides[side].reshape(-1) for side in (0, 1) for _, sides in regions]
    return {
        "seconds": seconds,
        "starts": [first for first, _ in regions],
        "checksum": checksum(np.concatenate(values)),
    }


def plan(request: dict[str, Any]) -> dict[str, Any]:
    """Times the planner of versioned-hdf5's staged arrays; all chunks in the fill slab, which it does not mind."""
    index = requested_index(request)
    array = StagedChangesArray.full(tuple(request["shape"]), chunk_size=tuple(request["chunks"]), dtype="i8")
    start = time.perf_counter()
    for _ in range(request["times"]):
        made = array._getitem_plan(index)
    seconds = (time.perf_counter() - start) / request["times"]
    return {"seconds": seconds, "transfers": sum(len(transfer) for transfer in made.transfers)}


def answer(line: str, mode: str) -> dict[str, Any]:
    request = json.loads(line)
    handlers: dict[str, Callable[[], dict[str, Any]]] = {
        "read": lambda: read(request, mode),
        "read_all": lambda: read_all(request, mode),
        "diff": lambda: diff(request, mode),
        "plan": lambda: plan(request),
        "write": lambda: write(request),
        "delete": lambda: delete(request),
        "digest": lambda: digest(request),
    }
    try:
        return handlers[request["op"]]()
    except Exception as error:  # whatever the library raises is the answer, and the engine goes on
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    mode = sys.argv[1]
    for line in sys.stdin:
        print(json.dumps(answer(line, mode)), flush=True)


if __name__ == "__main__":
    main()
