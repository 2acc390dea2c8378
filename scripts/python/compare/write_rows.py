"""The rows that write: what is written, by whom, and what h5strata must reach."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from .cases import Beside, Case, Faster, Figure, WriteCase
from .rivals import H5PY, PWRITE_FLOOR, SHA_FLOOR, VERSIONED
from .stores import SHUFFLE_GZIP, Scale, integers, measurements
from .writes import Step, Values, Workload, everything, save, save_signal

ALL_CORES = os.cpu_count() or 1

W2_CHUNK = 1_000
W2_VERSIONS = 10
W3_SLAB = (36, 26, 19)
W5_CHUNK = 10_240
"""Elements: 80 KiB."""
W5_BUDGET = 240.0
"""Seconds: enough for h5py to compress it all three times."""
W6_CHUNKS = (10, 100)
W6_ROWS = 1
W6_COLUMNS = 500

TOTAL = Figure("", sum, (VERSIONED,))


def row_2(scale: Scale) -> Iterator[Case]:
    length = scale.w2_length

    def expected(values: Values, version: int) -> Values:
        return np.concatenate([values, np.zeros(version, values.dtype)])

    yield WriteCase(
        row="W2",
        name=f"{W2_VERSIONS} versions, each one longer, all written back",
        workload=Workload(
            name="w2",
            source="w2",
            make=save(lambda: integers((length,), 12)),
            chunks=(W2_CHUNK,),
            steps=(
                Step((length,), (everything((length,)),)),
                *(Step((length + number,), write_back=True) for number in range(1, W2_VERSIONS + 1)),
            ),
            expected=expected,
            reopen=False,
        ),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(TOTAL,),
    )


def row_3(scale: Scale) -> Iterator[Case]:
    slab, *across = W3_SLAB
    versions = scale.w3_versions

    def step(number: int) -> Step:
        shape = (slab * (number + 1), *across)
        return Step(shape, (((slab * number, shape[0]), *everything(tuple(across))),))

    def expected(values: Values, version: int) -> Values:
        return values[: slab * (version + 1)]

    rivals = (VERSIONED, H5PY)
    tenth = Figure("10th commit", lambda steps: steps[9], rivals)
    yield WriteCase(
        row="W3",
        name=f"a slab a version, {versions:,} versions",
        workload=Workload(
            name="w3",
            source="w3",
            make=save(lambda: measurements((slab * versions, *across), 13)),
            chunks=W3_SLAB,
            steps=tuple(map(step, range(versions))),
            expected=expected,
        ),
        threads=ALL_CORES,
        rivals=rivals,
        figures=(
            Figure("total", sum, rivals),
            tenth,
            Figure("last commit", lambda steps: steps[-1], rivals, (Beside(tenth.name),)),
        ),
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
                source="w5",
                make=save_signal(length, 15),
                chunks=(W5_CHUNK,),
                steps=(
                    Step(shape, (everything(shape),)),
                    Step(shape, (everything(shape),), plus=1),
                    Step(shape, ((one_chunk,),), plus=2),
                ),
                expected=expected,
                filters=filters,
            ),
            threads=ALL_CORES,
            rivals=(*both, SHA_FLOOR, PWRITE_FLOOR),
            budget=W5_BUDGET,
            own_processes=True,
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
            source="w6",
            make=save(lambda: measurements(shape(versions), 16)),
            chunks=W6_CHUNKS,
            steps=(Step(shape(0), (everything(shape(0)),)), *map(step, range(1, versions + 1))),
            expected=expected,
            reopen=False,
        ),
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        figures=(TOTAL,),
    )


WRITE_ROWS = ("W2", "W3", "W5", "W6")


def write_cases(scale: Scale, folder: Path) -> Iterator[Case]:
    """Every case that writes, row by row; the files stand in `folder` as long as they are needed."""
    for row in (row_2, row_3, row_5, row_6):
        for case in row(scale):
            assert isinstance(case, WriteCase)
            yield replace(case, workload=replace(case.workload, folder=folder))
