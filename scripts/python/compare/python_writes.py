"""The Python rivals as engines that write: versioned-hdf5, plain h5py, and hashing alone. See protocol.py."""

import gc
import hashlib
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import h5py
import numpy as np
from numpy.typing import NDArray
from versioned_hdf5 import VersionedHDF5File, delete_versions

Values = NDArray[Any]
Block = tuple[tuple[slice, ...], Values]
"""Where values go, and the values."""


class Writer(Protocol):
    """A file that is open for writing one version after the other."""

    def __init__(self, file: h5py.File) -> None: ...

    def version(self, name: str) -> AbstractContextManager[Any]:
        """The group in which the dataset of the next version is changed."""
        ...


class VersionedWriter:
    """Versions as versioned-hdf5 makes them."""

    def __init__(self, file: h5py.File) -> None:
        self._versioned = VersionedHDF5File(file)

    def version(self, name: str) -> AbstractContextManager[Any]:
        staged: AbstractContextManager[Any] = self._versioned.stage_version(name)
        return staged


class PlainWriter:
    """No versions: what h5py writes stands in the place of what was there."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file

    def version(self, name: str) -> AbstractContextManager[Any]:
        return nullcontext(self._file)


def blocks_of(values: Values, step: dict[str, Any]) -> list[Block]:
    """What a step writes, in memory of its own."""
    blocks = []
    for ranges in step["blocks"]:
        place = tuple(slice(start, stop) for start, stop in ranges)
        part = np.array(values[place], order="C")
        part.view(np.uint64)[...] += np.uint64(step["plus"])
        blocks.append((place, part))
    return blocks


def write_first(group: Any, request: dict[str, Any], dataset: str, blocks: list[Block]) -> None:
    options = dict(request["filters"])
    if request["grows"] and not request["versioned"]:
        options["maxshape"] = (None,) * len(request["chunks"])
    [(_, values)] = blocks
    group.create_dataset(dataset, data=values, chunks=tuple(request["chunks"]), **options)


def write_next(dataset: Any, step: dict[str, Any], blocks: list[Block]) -> None:
    if dataset.shape != tuple(step["shape"]):
        dataset.resize(tuple(step["shape"]))
    if step["write_back"]:
        dataset[...] = dataset[...]
    for place, values in blocks:
        dataset[place] = values


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Makes a version a step: each with its seconds, from opening the file to closing it."""
    kind: type[Writer] = VersionedWriter if request["versioned"] else PlainWriter
    values = [np.load(series["values"], mmap_mode="r") for series in request["series"]]
    datasets = [series["dataset"] for series in request["series"]]
    # A version has a step of every dataset.
    versions = list(zip(*(series["steps"] for series in request["series"]), strict=True))
    file = writer = None
    steps: list[float] = []
    for number, parts in enumerate(versions, request["first_version"]):
        blocks = [blocks_of(*of_dataset) for of_dataset in zip(values, parts, strict=True)]
        is_last = len(steps) + 1 == len(versions)
        start = time.perf_counter()
        if file is None or writer is None:
            file = h5py.File(request["file"], "w-" if number == 0 else "r+")
            writer = kind(file)
        with writer.version(f"v{number}") as group:
            for dataset, step, of_dataset in zip(datasets, parts, blocks, strict=True):
                if number == 0:
                    write_first(group, request, dataset, of_dataset)
                else:
                    write_next(group[dataset], step, of_dataset)
        if request["reopen"] or is_last:
            file.close()
            file = writer = None
        steps.append(time.perf_counter() - start)
        # Memory that was needed is not to be short in the next step.
        del blocks
        if request["reopen"]:
            gc.collect()
    return {"seconds": sum(steps), "steps": steps}


def delete(request: dict[str, Any]) -> dict[str, Any]:
    """Deletes versions, as the package means it to be done."""
    start = time.perf_counter()
    with h5py.File(request["file"], "r+") as file:
        delete_versions(file, request["versions"])
    return {"seconds": time.perf_counter() - start}


def digest(request: dict[str, Any]) -> dict[str, Any]:
    """Hashes the values piece by piece, and then the digests."""
    data = memoryview(np.load(request["values"]).reshape(-1).view(np.uint8))
    piece = request["piece"]
    start = time.perf_counter()
    digests = [hashlib.sha256(data[at : at + piece]).digest() for at in range(0, len(data), piece)]
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "digest": hashlib.sha256(b"".join(digests)).hexdigest()}
