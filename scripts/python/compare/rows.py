"""The rows of the comparison: what is read, by whom, and what h5strata must reach."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import h5py
import numpy as np

from .cases import AtMost, Case, DiffCase, Faster, NoSlowerThan, PlanCase, ReadCase
from .rivals import (
    CHUNK_READ,
    DIRECT_CHUNK,
    H5PY,
    MEMCPY_FLOOR,
    PACKAGE_MODES,
    PREAD_FLOOR,
    VDS_READ,
    VERSIONED_PLANNER,
    VERSIONED_R,
    VERSIONED_RW,
)
from .selection import Selection
from .stores import R1_CHUNKS, R2_CHUNK, R3_CHUNK, R4_CHUNK, R6_CHUNKS, RAW_DATASET, Scale, Store

ALL_CORES = os.cpu_count() or 1

NEVER_SLOWER = Faster((DIRECT_CHUNK,), 1.0)
"""In every row with the C program that uses H5Dread_chunk."""

PLAN_COST = AtMost(fixed_seconds=1e-6, seconds_a_transfer=15e-9)
"""For strided selections."""


@dataclass(frozen=True)
class Arrays:
    """The index arrays of row R3, for an axis of some length."""

    length: int

    def picks(self, count: int) -> Selection:
        """Random indices in no order, with repeats."""
        return Selection(array=np.random.default_rng(33).integers(0, self.length, count))

    def sorted_picks(self, count: int) -> Selection:
        """The same indices in increasing order."""
        array = self.picks(count).array
        assert array is not None
        return Selection(array=np.sort(array))

    def half(self) -> Selection:
        """A mask that selects half of the elements at random."""
        return Selection(array=np.random.default_rng(34).random(self.length) < 0.5)


def row_1(store: Store) -> Iterator[Case]:
    yield ReadCase(
        row="R1",
        name="full read",
        store=store,
        selection=Selection(),
        threads=ALL_CORES,
        uncached=True,
        rivals=(VERSIONED_R, VERSIONED_RW, H5PY, VDS_READ, CHUNK_READ, DIRECT_CHUNK, PREAD_FLOOR, MEMCPY_FLOOR),
        targets=(
            Faster((VERSIONED_R,), 20),
            Faster((H5PY,), 12),
            Faster((PREAD_FLOOR,), 1 / 1.5),
            NEVER_SLOWER,
        ),
    )


def raw_index(store: Store, element: int) -> int:
    """Where an element's value stands in raw_data; every value occurs once."""
    with h5py.File(store.versioned, "r") as file:
        return int(np.flatnonzero(file[RAW_DATASET][()] == store.values[element])[0])


def row_2(scale: Scale, stores: dict[str, Store]) -> Iterator[Case]:
    fewest, *_, most = scale.r2_mappings
    for mappings in scale.r2_mappings:
        store = stores[f"r2-{mappings}"]
        element = mappings * R2_CHUNK * 2 // 3 + 1
        targets = (
            (Faster(PACKAGE_MODES, 100), NoSlowerThan(f"one element of {fewest:,} mappings", 3))
            if mappings == most
            else ()
        )
        yield ReadCase(
            row="R2",
            name=f"one element of {mappings:,} mappings",
            store=store,
            selection=Selection(str(element)),
            threads=ALL_CORES,
            raw_index=partial(raw_index, store, element),
            rivals=(VERSIONED_R, VERSIONED_RW, H5PY, VDS_READ, DIRECT_CHUNK),
            targets=(*targets, NEVER_SLOWER),
        )


def row_3(scale: Scale, store: Store) -> Iterator[Case]:
    length = scale.r3_chunks * R3_CHUNK
    arrays = Arrays(length)
    inside = length // 2 + 100
    strided = (VERSIONED_R, VERSIONED_RW, H5PY, VDS_READ, CHUNK_READ, DIRECT_CHUNK, PREAD_FLOOR, MEMCPY_FLOOR)
    indexed = (VERSIONED_R, VERSIONED_RW, H5PY, DIRECT_CHUNK, PREAD_FLOOR, MEMCPY_FLOOR)
    picks = scale.r3_chunks
    for name, selection, rivals, times_faster in (
        ("[:]", Selection(":"), strided, 8),
        ("[::7]", Selection("::7"), strided, 8),
        ("[a:b] in one chunk", Selection(f"{inside}:{inside + 500}"), strided, None),
        (f"{picks:,} indices, sorted", arrays.sorted_picks(picks), indexed, 50),
        (f"{picks:,} indices, unsorted", arrays.picks(picks), indexed, 50),
        ("mask of half", arrays.half(), indexed, None),
    ):
        goals = () if times_faster is None else (Faster(PACKAGE_MODES, times_faster),)
        yield ReadCase(
            row="R3",
            name=name,
            store=store,
            selection=selection,
            threads=ALL_CORES,
            rivals=rivals,
            targets=(*goals, NEVER_SLOWER),
        )


def row_m3(store: Store) -> Iterator[Case]:
    """One chunk in a hundred is another. The package compares versions of files that are opened read-only alone."""
    yield DiffCase(
        row="M3",
        name="what changed in a version",
        store=store,
        threads=ALL_CORES,
        rivals=(VERSIONED_R,),
        targets=(Faster((VERSIONED_R,), 50),),
    )


def row_4(scale: Scale, stores: dict[str, Store]) -> Iterator[Case]:
    side = scale.r4_side
    middle = side // 2 + 7
    from_here, to_here = side // 4 + 33, side // 4 + 33 + side // 8
    selections = (
        ("all", Selection(":, :")),
        ("one row", Selection(f"{middle}, :")),
        ("one column", Selection(f":, {middle}")),
        ("block off the grid", Selection(f"{from_here}:{to_here}, {from_here}:{to_here}")),
    )
    unfiltered = (VERSIONED_R, VERSIONED_RW, H5PY, VDS_READ, CHUNK_READ, DIRECT_CHUNK, PREAD_FLOOR, MEMCPY_FLOOR)
    # Where values are compressed, the bytes that must be read are not the bytes that are wanted: no pread floor.
    filtered = tuple(rival for rival in unfiltered if rival != PREAD_FLOOR)
    for kind, rivals, all_faster in (("plain", unfiltered, 2.5), ("gzip", filtered, 3.0)):
        for name, selection in selections:
            for threads in sorted({1, ALL_CORES}) if name == "all" else (ALL_CORES,):
                wanted = {"all": all_faster, "one row": 10.0, "one column": 10.0}.get(name)
                reach = wanted is not None and threads == ALL_CORES
                yield ReadCase(
                    row="R4",
                    name=f"{kind}, {name}, {threads} thread{'s' if threads > 1 else ''}",
                    store=stores[f"r4-{kind}"],
                    selection=selection,
                    threads=threads,
                    rivals=rivals,
                    targets=(*((Faster(PACKAGE_MODES, wanted),) if reach and wanted else ()), NEVER_SLOWER),
                )


def row_5(scale: Scale, store: Store) -> Iterator[Case]:
    for name, selection in (
        ("all strings", Selection(":")),
        ("1,000 random strings", Arrays(scale.r5_strings).picks(1_000)),
    ):
        yield ReadCase(
            row="R5",
            name=name,
            store=store,
            selection=selection,
            threads=ALL_CORES,
            rivals=(VERSIONED_R, VERSIONED_RW, H5PY),
            targets=(Faster(PACKAGE_MODES, 3),),
        )


def row_6(store: Store) -> Iterator[Case]:
    yield ReadCase(
        row="R6",
        name="first row, 100 times",
        store=store,
        selection=Selection("0, :"),
        threads=ALL_CORES,
        times=100,
        rivals=(VERSIONED_R, VERSIONED_RW, H5PY, VDS_READ, CHUNK_READ, DIRECT_CHUNK, PREAD_FLOOR, MEMCPY_FLOOR),
        targets=(Faster((H5PY,), 1), NEVER_SLOWER),
    )


def plans(scale: Scale) -> Iterator[Case]:
    length = scale.r3_chunks * R3_CHUNK
    arrays = Arrays(length)
    inside = length // 2 + 100
    side = scale.r4_side
    middle = side // 2 + 7
    off_grid = f"{side // 4 + 33}:{side // 4 + 33 + side // 8}"
    one_axis, two_axes = ((length,), (R3_CHUNK,)), ((side, side), (R4_CHUNK, R4_CHUNK))
    few, many = scale.r3_chunks, 10 * scale.r3_chunks
    for name, (shape, chunks), selection, times, target in (
        ("R1 full", (scale.r1_shape, R1_CHUNKS), Selection(), 10, PLAN_COST),
        ("R3 [:]", one_axis, Selection(":"), 10, PLAN_COST),
        ("R3 [::7]", one_axis, Selection("::7"), 10, PLAN_COST),
        ("R3 [a:b] in one chunk", one_axis, Selection(f"{inside}:{inside + 500}"), 100, PLAN_COST),
        (f"R3 {few:,} indices, sorted", one_axis, arrays.sorted_picks(few), 2, None),
        (f"R3 {few:,} indices, unsorted", one_axis, arrays.picks(few), 2, None),
        (f"R3 {many:,} indices, unsorted", one_axis, arrays.picks(many), 1, AtMost(fixed_seconds=10e-3)),
        ("R4 all", two_axes, Selection(":, :"), 10, PLAN_COST),
        ("R4 one row", two_axes, Selection(f"{middle}, :"), 100, PLAN_COST),
        ("R4 one column", two_axes, Selection(f":, {middle}"), 100, PLAN_COST),
        ("R4 block off the grid", two_axes, Selection(f"{off_grid}, {off_grid}"), 100, PLAN_COST),
        ("R6 first row", (scale.r6_shape, R6_CHUNKS), Selection("0, :"), 100, PLAN_COST),
    ):
        yield PlanCase(
            row="P1",
            name=name,
            shape=shape,
            chunks=chunks,
            selection=selection,
            times=times,
            rivals=(VERSIONED_PLANNER,),
            targets=() if target is None else (target,),
        )


ROWS = ("R1", "R2", "R3", "M3", "R4", "R5", "R6", "P1")


def cases(scale: Scale, stores: dict[str, Store]) -> Iterator[Case]:
    """Every case, row by row."""
    yield from row_1(stores["r1"])
    yield from row_2(scale, stores)
    yield from row_3(scale, stores["r3"])
    yield from row_m3(stores["r3"])
    yield from row_4(scale, stores)
    yield from row_5(scale, stores["r5"])
    yield from row_6(stores["r6"])
    yield from plans(scale)
