"""Reads back what an engine has written, with h5py, and tells what is wrong with it."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from digest import FIRST_VERSION, VERSIONS

from .checksum import checksum_of_ones
from .rivals import H5PY, PWRITE_FLOOR, SHA_FLOOR
from .writes import Workload

BAND_BYTES = 256 << 20
"""Read at a time: a virtual dataset costs libhdf5 a walk through all its mappings each time."""

MANY_MAPPINGS = 50_000
"""The time in which libhdf5 reads a virtual dataset grows with the square of its mappings."""

REBUILT_BYTES = 1 << 30
"""Read back of one file that was written anew."""

MOST_CHUNKS = 300_000
"""Read back of one file, unless they are those of three versions."""


def fault_of_writing(
    engine: str, workload: Workload, answer: dict[str, Any], target: Path, thorough: bool
) -> str | None:
    """What is wrong with what an engine has written or answered: in a file of versions with the last one, and if
    `thorough` with the others too, or with a sample of very many."""
    last = len(workload.versions) - 1
    if engine == SHA_FLOOR:
        expected = workload.digest
        return f"digest {answer['digest']} instead of {expected}" if answer["digest"] != expected else None
    if engine == PWRITE_FLOOR:
        expected = checksum_of_ones(workload.first_bytes)
        return f"checksum {answer['checksum']} instead of {expected}" if answer["checksum"] != expected else None
    if len(answer["steps"]) != len(workload.versions):
        return f"{len(answer['steps'])} steps instead of {len(workload.versions)}"
    if engine == H5PY:
        return fault_in_plain(target, workload)
    return fault_in_versions(target, workload, sampled(workload) if thorough else [last])


def fault_of_rebuilding(workload: Workload, left: Sequence[int], target: Path, thorough: bool) -> str | None:
    """What is wrong with a file that was written anew and has only some versions left: with the last one, and if
    `thorough` with others too, as many as are quickly read and 3 at least."""
    count = min(len(left), max(3, REBUILT_BYTES // workload.first_bytes)) if thorough else 1
    places = np.linspace(len(left) - 1, 0, count).round().astype(int)
    return fault_in_versions(target, workload, [left[place] for place in places], left)


def sampled(workload: Workload) -> list[int]:
    """Numbers of the versions that are read back: all, if they are few, else some 30 with the first and the last, or
    fewer where they have very many chunks, 3 at least."""
    count = len(workload.versions)
    chunks = max(1, workload.first_bytes // workload.chunk_bytes)
    step = -(-count // max(3, min(30, MOST_CHUNKS // chunks)))
    return sorted({*range(0, count, step), count - 1})


def fault_in_versions(
    path: Path, workload: Workload, numbers: Iterable[int], left: Sequence[int] | None = None
) -> str | None:
    """What is wrong with the versions of a file, by libhdf5's own reading of their virtual datasets. Those that are
    `left` must be there and no others: all, where nothing is said; the last of them is the current one."""
    names = workload.versions if left is None else [workload.versions[number] for number in left]
    with h5py.File(path, "r") as file:
        found = [name for name in file[VERSIONS] if name != FIRST_VERSION]
        if sorted(found) != sorted(names):
            return f"{len(found)} versions instead of {len(names)}, or others"
        current = file[VERSIONS].attrs["current_version"]
        if current != names[-1]:
            return f"the current version is {current} instead of {names[-1]}"
        for number in numbers:
            name = workload.versions[number]
            for series in workload.series:
                dataset = file[f"{VERSIONS}/{name}/{series.dataset}"]
                if fault := fault_in(dataset, series.expected(series.values, number)):
                    return f"version {name}, {series.dataset}: {fault}"
    return None


def fault_in_plain(path: Path, workload: Workload) -> str | None:
    """What is wrong with a file without versions, which holds what the last version does."""
    with h5py.File(path, "r") as file:
        series = workload.only
        return fault_in(file[series.dataset], series.expected(series.values, len(series.steps) - 1))


def fault_in(dataset: h5py.Dataset, expected: NDArray[Any]) -> str | None:
    if (dataset.shape, dataset.dtype) != (expected.shape, expected.dtype):
        return f"{dataset.dtype} {dataset.shape} instead of {expected.dtype} {expected.shape}"
    if dataset.is_virtual and dataset.id.get_create_plist().get_virtual_count() >= MANY_MAPPINGS:
        return None if np.array_equal(assembled(dataset), expected) else "other values than were written"
    row_bytes = max(1, expected.nbytes // len(expected))
    rows = max(1, BAND_BYTES // row_bytes)
    for start in range(0, len(expected), rows):
        band = slice(start, start + rows)
        if digest(dataset[band]) != digest(expected[band]):
            return f"other values than were written, in rows {start} to {min(band.stop, len(expected))}"
    return None


def assembled(dataset: h5py.Dataset) -> NDArray[Any]:
    """The values of a virtual dataset, put together by its list of mappings as libhdf5 gives it."""
    values = np.full(dataset.shape, dataset.fillvalue, dataset.dtype)
    created = dataset.id.get_create_plist()
    stored = dataset.file[created.get_virtual_dsetname(0)][...]
    for number in range(created.get_virtual_count()):
        target = block(created.get_virtual_vspace(number))
        values[target] = stored[block(created.get_virtual_srcspace(number))]
    return values


def block(space: h5py.h5s.SpaceID) -> tuple[slice, ...]:
    """What is selected, which is one block."""
    first, last = space.get_select_bounds()
    return tuple(slice(start, stop + 1) for start, stop in zip(first, last, strict=True))


def digest(values: NDArray[Any]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(values).data).digest()
