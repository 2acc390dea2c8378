"""The rows that write: what is written, by whom, and what h5strata must reach."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from .cases import Beside, Case, Faster, Figure, NoSlowerThan, WriteCase
from .rivals import H5PY, PLAIN_COMMIT, PWRITE_FLOOR, SHA_FLOOR, VERSIONED
from .stores import DATASET, SHUFFLE_GZIP, Scale, integers, measurements
from .writes import Series, Step, Values, Workload, everything, save, save_signal

ALL_CORES = os.cpu_count() or 1

W1_CHUNK = 1_000
W1_CHANGED = 2
"""Chunks of each dataset."""
W2_CHUNK = 1_000
W2_VERSIONS = 10
W3_SLAB = (36, 26, 19)
W3_AROUND = 4
"""Commits on either side that a commit's figure is the median of: one alone is at the mercy of the machine."""
W4_CHUNK = 100
W4_COMMITS = 5
W4_LARGEST = 100_000
"""Chunks that versioned-hdf5 is still asked for."""
W5_CHUNK = 10_240
"""Elements: 80 KiB."""
W5_BUDGET = 240.0
"""Seconds: enough for h5py to compress it all three times."""
W6_CHUNKS = (10, 100)
W6_ROWS = 1
W6_COLUMNS = 500
A1_CHUNK = 8_000
"""Elements: 64 kB."""


def total(times_faster: float) -> Figure:
    """Everything together, which must take versioned-hdf5 so many times as long."""
    return Figure("", sum, (VERSIONED,), (Faster((VERSIONED,), times_faster),))


def one_by_one(dataset: str, source: str, length: int, seed: int, picks: Sequence[Sequence[int]]) -> Series:
    """Integers of which each version after the first changes some, one element a block."""
    shape = (length,)

    def expected(values: Values, version: int) -> Values:
        changed = values.copy()
        for number, picked in enumerate(picks[:version], 1):
            changed[list(picked)] = values[list(picked)] + number
        return changed

    changes = (
        Step(shape, tuple(((at, at + 1),) for at in picked), plus=number) for number, picked in enumerate(picks, 1)
    )
    return Series(
        dataset=dataset,
        source=source,
        make=save(lambda: integers(shape, seed)),
        steps=(Step(shape, (everything(shape),)), *changes),
        expected=expected,
    )


def row_1(scale: Scale) -> Iterator[WriteCase]:
    datasets, versions = scale.w1_datasets, scale.w1_versions
    random = np.random.default_rng(11)

    def series(number: int, chunks: int) -> Series:
        def picks() -> list[int]:
            chosen = random.choice(chunks, W1_CHANGED, replace=False) * W1_CHUNK
            return [int(at) for at in chosen + random.integers(W1_CHUNK, size=W1_CHANGED)]

        name = f"{DATASET}{number:02}"
        return one_by_one(name, f"w1-{number}", chunks * W1_CHUNK, number, [picks() for _ in range(versions - 1)])

    sizes = [int(chunks) for chunks in np.linspace(*scale.w1_chunks, datasets)]
    yield WriteCase(
        row="W1",
        name=f"{datasets} datasets of {sizes[0]} to {sizes[-1]} chunks, {versions} versions",
        workload=Workload(
            name="w1",
            chunks=(W1_CHUNK,),
            series=tuple(series(number, chunks) for number, chunks in enumerate(sizes)),
            reopen=False,
        ),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(total(60),),
    )


def row_2(scale: Scale) -> Iterator[Case]:
    length = scale.w2_length

    def expected(values: Values, version: int) -> Values:
        return np.concatenate([values, np.zeros(version, values.dtype)])

    yield WriteCase(
        row="W2",
        name=f"{W2_VERSIONS} versions, each one longer, all written back",
        workload=Workload(
            name="w2",
            chunks=(W2_CHUNK,),
            series=(
                Series(
                    dataset=DATASET,
                    source="w2",
                    make=save(lambda: integers((length,), 12)),
                    steps=(
                        Step((length,), (everything((length,)),)),
                        *(Step((length + number,), write_back=True) for number in range(1, W2_VERSIONS + 1)),
                    ),
                    expected=expected,
                ),
            ),
            reopen=False,
        ),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(total(15),),
    )


def slabs(versions: int) -> Workload:
    """A slab more a version, each a chunk."""
    slab, *across = W3_SLAB

    def step(number: int) -> Step:
        shape = (slab * (number + 1), *across)
        return Step(shape, (((slab * number, shape[0]), *everything(tuple(across))),))

    def expected(values: Values, version: int) -> Values:
        return values[: slab * (version + 1)]

    series = Series(
        dataset=DATASET,
        source="w3",
        make=save(lambda: measurements((slab * versions, *across), 13)),
        steps=tuple(map(step, range(versions))),
        expected=expected,
    )
    return Workload(name="w3", chunks=W3_SLAB, series=(series,))


def row_3(scale: Scale) -> Iterator[Case]:
    versions, width = scale.w3_versions, 2 * W3_AROUND + 1
    rivals = (VERSIONED, H5PY)
    tenth = Figure(f"10th commit (of {width})", lambda steps: median(steps[9 - W3_AROUND : 10 + W3_AROUND]), rivals)
    yield WriteCase(
        row="W3",
        name=f"a slab a version, {versions:,} versions",
        workload=slabs(versions),
        threads=ALL_CORES,
        rivals=rivals,
        figures=(
            Figure("total", sum, rivals, (Faster((VERSIONED,), 12),)),
            tenth,
            Figure(
                f"last commit (of {width})",
                lambda steps: median(steps[-width:]),
                rivals,
                (NoSlowerThan(tenth.name, 1.3),),
            ),
        ),
    )


def row_4(scale: Scale) -> Iterator[Case]:
    names: list[str] = []
    for chunks, times_faster in zip(scale.w4_chunks, (None, 80, 100, None), strict=True):
        length = chunks * W4_CHUNK
        picks = [[number * length // (W4_COMMITS + 1) + number] for number in range(1, W4_COMMITS + 1)]
        rivals = (VERSIONED,) if chunks <= W4_LARGEST else ()
        names.append(f"one element of {chunks:,} chunks")
        targets = (Faster(rivals, times_faster),) if times_faster else ()
        yield WriteCase(
            row="W4",
            name=names[-1],
            workload=Workload(
                name=f"w4-{chunks}",
                chunks=(W4_CHUNK,),
                series=(one_by_one(DATASET, f"w4-{chunks}", length, 14, picks),),
            ),
            threads=ALL_CORES,
            rivals=rivals,
            figures=(Figure("", lambda steps: median(steps[1:]), rivals, targets),),
            targets=() if rivals else (Beside(names[-2]),),
        )


def row_5(scale: Scale) -> Iterator[Case]:
    length = scale.w5_chunks * W5_CHUNK
    shape = (length,)
    middle = scale.w5_chunks // 2 * W5_CHUNK
    one_chunk = (middle, middle + W5_CHUNK)

    def expected(values: Values, version: int) -> Values:
        words = values.view(np.uint64) + np.uint64(min(version, 1))
        if version == 2:
            words[slice(*one_chunk)] += np.uint64(1)
        return words.view(np.float64)

    kinds: tuple[tuple[str, dict[str, object], float], ...] = (("plain", {}, 1.0), ("gzip", SHUFFLE_GZIP, 1.5))
    for kind, filters, times_faster in kinds:
        both = (VERSIONED, H5PY)
        yield WriteCase(
            row="W5",
            name=kind,
            workload=Workload(
                name=f"w5-{kind}",
                chunks=(W5_CHUNK,),
                series=(
                    Series(
                        dataset=DATASET,
                        source="w5",
                        make=save_signal(length, 15),
                        steps=(
                            Step(shape, (everything(shape),)),
                            Step(shape, (everything(shape),), plus=1),
                            Step(shape, ((one_chunk,),), plus=2),
                        ),
                        expected=expected,
                    ),
                ),
                filters=filters,
            ),
            threads=ALL_CORES,
            rivals=(*both, SHA_FLOOR, PWRITE_FLOOR),
            budget=W5_BUDGET,
            own_processes=True,
            synced_beside=False,
            figures=(
                Figure(
                    f"first commit of {scale.w5_chunks:,} chunks",
                    lambda steps: steps[0],
                    (*both, SHA_FLOOR, PWRITE_FLOOR),
                    (Faster((H5PY,), times_faster),),
                ),
                Figure("all chunks changed", lambda steps: steps[1], both),
                Figure("one chunk changed", lambda steps: steps[2], both),
            ),
        )


def row_6(scale: Scale) -> Iterator[Case]:
    rows, columns = scale.w6_shape
    versions = scale.w6_versions

    def shape(number: int) -> tuple[int, int]:
        return rows + W6_ROWS * number, columns + W6_COLUMNS * number

    def step(number: int) -> Step:
        before, after = shape(number - 1), shape(number)
        new_rows = ((before[0], after[0]), (0, after[1]))
        new_columns = ((0, before[0]), (before[1], after[1]))
        return Step(after, (new_rows, new_columns))

    def expected(values: Values, version: int) -> Values:
        to_row, to_column = shape(version)
        return values[:to_row, :to_column]

    yield WriteCase(
        row="W6",
        name=f"panel that grows, {versions} versions",
        workload=Workload(
            name="w6",
            chunks=W6_CHUNKS,
            series=(
                Series(
                    dataset=DATASET,
                    source="w6",
                    make=save(lambda: measurements(shape(versions), 16)),
                    steps=(Step(shape(0), (everything(shape(0)),)), *map(step, range(1, versions + 1))),
                    expected=expected,
                ),
            ),
            reopen=False,
        ),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(total(25),),
    )


def atomic_row(scale: Scale) -> Iterator[Case]:
    """Halves of a dataset change in turn."""
    chunks, commits = scale.a1_chunks, scale.a1_commits
    half, length = chunks // 2 * A1_CHUNK, chunks * A1_CHUNK
    halves = ((half, length), (0, half))

    def expected(values: Values, version: int) -> Values:
        changed = values.copy()
        for number in range(1, version + 1):
            part = slice(*halves[number % 2])
            changed[part] = values[part] + number
        return changed

    changes = (Step((length,), ((halves[number % 2],),), plus=number) for number in range(1, commits + 1))
    yield WriteCase(
        row="A1",
        name=f"{chunks // 2} of {chunks} chunks of {A1_CHUNK * 8 // 1000} kB changed",
        workload=Workload(
            name="a1",
            chunks=(A1_CHUNK,),
            series=(
                Series(
                    dataset=DATASET,
                    source="a1",
                    make=save(lambda: integers((length,), 17)),
                    steps=(Step((length,), (everything((length,)),)), *changes),
                    expected=expected,
                ),
            ),
        ),
        threads=ALL_CORES,
        rivals=(PLAIN_COMMIT,),
        synced=True,
        synced_beside=False,
        figures=(Figure("", lambda steps: median(steps[1:]), (PLAIN_COMMIT,), (Faster((PLAIN_COMMIT,), 1 / 1.3),)),),
    )


def space_row(scale: Scale) -> Iterator[Case]:
    yield WriteCase(
        row="S1",
        name=f"W3, {scale.w3_versions:,} versions",
        workload=slabs(scale.w3_versions),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(),
        synced_beside=False,
        weighed=True,
    )


WRITE_ROWS = ("W1", "W2", "W3", "S1", "W4", "W5", "W6", "A1")


def write_cases(scale: Scale, folder: Path) -> Iterator[Case]:
    """Every case that writes, row by row; the files stand in `folder` as long as they are needed."""
    for row in (row_1, row_2, row_3, space_row, row_4, row_5, row_6, atomic_row):
        for case in row(scale):
            assert isinstance(case, WriteCase)
            yield replace(case, workload=case.workload.placed(folder))
