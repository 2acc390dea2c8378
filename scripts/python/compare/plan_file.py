"""Writes the file of byte ranges that the C program `pread_floor` reads; its layout is in benches/c/plan.h."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from .selection import Selection
from .stores import RAW_DATASET, Store

MAX_GAP = 4_096
"""Wanted bytes of one file that are at most this far apart are read in one go: less costs more than it spares."""
MAX_RANGE = 1 << 20
"""A read is not longer than this, so that its bytes are still in the processor's cache when they are put in place."""

Integers = NDArray[np.uint64]


def chunk_addresses(store: Store) -> Integers:
    """The file address of each chunk of the current version, in the shape of its chunk grid."""
    with h5py.File(store.versioned, "r") as file:
        raw_addresses: dict[int, int] = {}
        raw = file[RAW_DATASET]
        raw.id.chunk_iter(lambda chunk: raw_addresses.__setitem__(chunk.chunk_offset[0], chunk.byte_offset))
        dataset = file[store.virtual_dataset]
        grid = [-(-size // chunk) for size, chunk in zip(dataset.shape, store.chunks, strict=True)]
        addresses = np.zeros(grid, np.uint64)
        for mapping in dataset.virtual_sources():
            start = mapping.vspace.get_select_bounds()[0]
            position = tuple(first // chunk for first, chunk in zip(start, store.chunks, strict=True))
            addresses[position] = raw_addresses[mapping.src_space.get_select_bounds()[0][0]]
        return addresses


def element_addresses(store: Store, selection: Selection) -> Integers:
    """The file address of each element of the result, in C order."""
    axes = selection.axis_positions(store.values.shape)
    itemsize = store.values.dtype.itemsize
    addresses = chunk_addresses(store)[
        np.ix_(*(positions // chunk for positions, chunk in zip(axes, store.chunks, strict=True)))
    ]
    stride = itemsize
    for axis in reversed(range(len(axes))):
        offsets = (axes[axis] % store.chunks[axis] * stride).astype(np.uint64)
        addresses = addresses + offsets.reshape([-1 if a == axis else 1 for a in range(len(axes))])
        stride *= store.chunks[axis]
    return addresses.reshape(-1)


def runs(addresses: Integers, itemsize: int) -> tuple[Integers, Integers, Integers]:
    """Address, place in the result and length of each run of bytes that follow each other in both, by address."""
    starts = np.flatnonzero(np.diff(addresses, prepend=addresses[0] + np.uint64(1)) != itemsize)
    lengths = np.diff(starts, append=len(addresses)) * itemsize
    order = np.argsort(addresses[starts], kind="stable")
    return (
        addresses[starts][order],
        (starts * itemsize).astype(np.uint64)[order],
        lengths.astype(np.uint64)[order],
    )


def split_long(address: Integers, target: Integers, length: Integers) -> tuple[Integers, Integers, Integers]:
    """Cuts runs that are longer than MAX_RANGE."""
    pieces = (length + np.uint64(MAX_RANGE - 1)) // np.uint64(MAX_RANGE)
    owner = np.repeat(np.arange(len(length)), pieces.astype(np.int64))
    first = np.cumsum(pieces) - pieces
    skipped = (np.arange(len(owner), dtype=np.uint64) - first[owner]) * np.uint64(MAX_RANGE)
    return address[owner] + skipped, target[owner] + skipped, np.minimum(length[owner] - skipped, np.uint64(MAX_RANGE))


def range_starts(address: Integers, length: Integers) -> NDArray[np.int64]:
    """Where a new read begins: after a gap, or when the one before has become long enough."""
    gap = address[1:] - np.minimum(address[1:], np.maximum.accumulate(address + length)[:-1]) > MAX_GAP
    block = address // np.uint64(MAX_RANGE)
    cuts = np.flatnonzero(gap | (block[1:] != block[:-1])) + 1
    return np.concatenate([[0], cuts])


def write_plan(store: Store, selection: Selection, path: Path) -> None:
    """Writes the plan of one case."""
    itemsize = store.values.dtype.itemsize
    addresses = element_addresses(store, selection)
    address, target, length = split_long(*runs(addresses, itemsize))
    starts = range_starts(address, length)
    counts = np.diff(starts, append=len(address))
    ends = np.maximum.reduceat(address + length, starts)
    begin = address[starts]

    ranges: NDArray[Any] = np.stack([begin, ends - begin, starts.astype(np.uint64), counts.astype(np.uint64)], axis=1)
    segments = np.zeros(len(address), np.dtype([("target", "<u8"), ("source", "<u4"), ("length", "<u4")]))
    segments["target"] = target
    segments["source"] = address - np.repeat(begin, counts)
    segments["length"] = length
    header = np.array([len(addresses) * itemsize, len(ranges), len(segments)], "<u8")
    with path.open("wb") as file:
        for part in (header, ranges.astype("<u8"), segments):
            file.write(part.tobytes())
