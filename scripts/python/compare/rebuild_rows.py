"""The rows in which a file of versions is written anew, which h5strata makes before."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .cases import DeleteCase, Faster, MemoryCase, RebuildCase, RepackCase
from .rivals import COPY, H5REPACK, OBJECT_COPY, VERSIONED
from .stores import DATASET, Scale, integers, measurements
from .write_rows import row_1
from .writes import Series, Step, Values, Workload, everything, save

ALL_CORES = os.cpu_count() or 1

M1_SHAPE = (20, 30)
M1_CHUNKS = (10, 10)
M1_KEPT = 10
"""Of so many versions one is left."""
M2_LIMIT = 1_800.0
"""Seconds for h5repack."""
S2_CHUNK = 10_240
"""Elements: 80 KiB."""
S2_KEPT = 2
"""Of so many versions one is left."""


def in_turn(
    source: str, make: Callable[[], Values], shape: tuple[int, ...], parts: Sequence[tuple[int, int]], versions: int
) -> Series:
    """A dataset of which each version after the first changes one part of the first axis, each part in its turn."""

    def part(number: int) -> tuple[int, int]:
        return parts[number % len(parts)]

    def expected(values: Values, version: int) -> Values:
        words = np.array(values).view(np.uint64)
        for number in range(max(1, version - len(parts) + 1), version + 1):
            rows = slice(*part(number))
            words[rows] = np.array(values[rows]).view(np.uint64) + np.uint64(number)
        return words.view(values.dtype)

    changes = (Step(shape, ((part(number), *everything(shape[1:])),), plus=number) for number in range(1, versions))
    return Series(
        dataset=DATASET,
        source=source,
        make=save(make),
        steps=(Step(shape, (everything(shape),)), *changes),
        expected=expected,
    )


def delete_row(scale: Scale) -> Iterator[RebuildCase]:
    rows, versions = M1_SHAPE[0], scale.m1_versions
    one_by_one = [(row, row + 1) for row in range(rows)]
    series = in_turn("m1", lambda: measurements(M1_SHAPE, 18), M1_SHAPE, one_by_one, versions)
    yield DeleteCase(
        row="M1",
        name=f"all but every {M1_KEPT}th of {versions:,} versions deleted",
        workload=Workload(name="m1", chunks=M1_CHUNKS, series=(series,), reopen=False),
        keep_every=M1_KEPT,
        threads=ALL_CORES,
        rivals=(VERSIONED,),
        targets=(Faster((VERSIONED,), 15),),
    )


def repack_row(scale: Scale) -> Iterator[RebuildCase]:
    """h5repack takes part where it is installed."""
    targets = [Faster((COPY,), 1 / 2.5)]
    if shutil.which("h5repack"):
        targets.append(Faster((H5REPACK,), 150))
    [written] = row_1(scale)
    yield RepackCase(
        row="M2",
        name=f"the file of W1 repacked, {scale.w1_versions} versions",
        workload=replace(written.workload, name="m2"),
        threads=ALL_CORES,
        rivals=(*(target.rivals[0] for target in targets), OBJECT_COPY),
        synced=True,
        synced_beside=False,
        limit=M2_LIMIT,
        targets=tuple(targets),
    )


def memory_row(scale: Scale) -> Iterator[RebuildCase]:
    (chunks, changed), versions = scale.s2_chunks, scale.s2_versions
    length, part = chunks * S2_CHUNK, changed * S2_CHUNK
    parts = [(start, start + part) for start in range(0, length - part + 1, part)]
    file_bytes = (chunks + (versions - 1) * changed) * S2_CHUNK * 8
    series = in_turn("s2", lambda: integers((length,), 19), (length,), parts, versions)
    yield MemoryCase(
        row="S2",
        name=f"{file_bytes / (1 << 20):,.0f} MiB in {versions} versions",
        workload=Workload(name="s2", chunks=(S2_CHUNK,), series=(series,), reopen=False),
        keep_every=S2_KEPT,
        file_bytes=file_bytes,
        most_bytes=scale.s2_most_bytes,
        threads=ALL_CORES,
        rivals=(),
        synced_beside=False,
    )


REBUILD_ROWS = ("M1", "M2", "S2")


def rebuild_cases(scale: Scale, folder: Path) -> Iterator[RebuildCase]:
    """Every case that writes a file anew; values stand in `folder` as long as they are needed."""
    for row in (delete_row, repack_row, memory_row):
        for case in row(scale):
            yield replace(case, workload=case.workload.placed(folder))
