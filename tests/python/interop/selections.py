"""Random selections with the answers NumPy gives, each axis on its own (orthogonal).

An axis is written twice: as text in NumPy's grammar, and as a tagged value for callers that build selections in code.
"""

import zlib
from typing import Any

import numpy as np

from .oracle import Row, digest

#: One axis: {"int": i}, {"slice": [start, stop, step]}, {"index": [...]}, {"mask": [...]} or {"ellipsis": True}.
Axis = dict[str, Any]

READS_PER_DATASET = 6


def reads(version: str, path: str, values: np.ndarray, how_many: int = READS_PER_DATASET) -> list[Row]:
    """`how_many` random selections of `values`, always the same ones for the same names and shape."""
    seed = zlib.crc32(f"{version}/{path}/{values.shape}".encode())
    rng = np.random.default_rng(seed)
    return [read(version, path, values, random_axes(rng, values.shape)) for _ in range(how_many)]


def read(version: str, path: str, values: np.ndarray, axes: list[Axis]) -> Row:
    """One selection and its answer."""
    answer = select(values, axes)
    return {
        "version": version,
        "dataset": path,
        "selection": ", ".join(axis_text(axis) for axis in axes),
        "axes": axes,
        "shape": list(answer.shape),
        "sha256": digest(answer),
    }


def select(values: np.ndarray, axes: list[Axis]) -> np.ndarray:
    """The elements at the crossings of the axes' selections; an integer drops its axis."""
    indices = [axis_index(axis) for axis in expand(axes, values.ndim)]
    # From the last axis to the first, so that dropped axes don't shift those still to come. The ellipsis keeps the
    # result an array, even of rank 0.
    for number in reversed(range(len(indices))):
        values = values[(slice(None),) * number + (indices[number], ...)]
    return values


def expand(axes: list[Axis], rank: int) -> list[Axis]:
    """One entry per axis: the ellipsis, or the missing end, stands for whole axes."""
    whole = {"slice": [None, None, None]}
    if {"ellipsis": True} not in axes:
        axes = [*axes, {"ellipsis": True}]
    at = axes.index({"ellipsis": True})
    return axes[:at] + [whole] * (rank - len(axes) + 1) + axes[at + 1 :]


def axis_index(axis: Axis) -> Any:
    match axis:
        case {"int": index}:
            return index
        case {"slice": [start, stop, step]}:
            return slice(start, stop, step)
        case {"index": indices}:
            return np.array(indices, dtype=np.int64)
        case {"mask": mask}:
            return np.array(mask, dtype=bool)
    raise ValueError(f"not an axis: {axis}")


def axis_text(axis: Axis) -> str:
    match axis:
        case {"ellipsis": _}:
            return "..."
        case {"int": index}:
            return str(index)
        case {"slice": [start, stop, step]}:
            start, stop = ("" if bound is None else bound for bound in (start, stop))
            return f"{start}:{stop}" if step is None else f"{start}:{stop}:{step}"
        case {"index": items} | {"mask": items}:
            return "[" + ",".join(map(str, items)) + "]"
    raise ValueError(f"not an axis: {axis}")


def random_axes(rng: np.random.Generator, shape: tuple[int, ...]) -> list[Axis]:
    axes = [random_axis(rng, extent) for extent in shape]
    # Sometimes an ellipsis stands for a run of axes (also for none), sometimes the last axes are left out.
    if rng.random() < 0.3:
        first, last = sorted(int(bound) for bound in rng.integers(0, len(axes) + 1, 2))
        axes[first:last] = [{"ellipsis": True}]
    elif rng.random() < 0.2:
        axes = axes[: rng.integers(1, len(axes) + 1)]
    return axes


def random_axis(rng: np.random.Generator, extent: int) -> Axis:
    kinds = ["slice", "stepped", "reversed", "index", "mask", "whole"] + (["int"] if extent else [])
    kind = rng.choice(kinds)
    # Bounds may lie outside the axis: NumPy clips them.
    first, last = (int(bound) for bound in rng.integers(-extent - 2, extent + 3, 2))
    step = int(rng.integers(1, max(2, min(extent, 9))))
    if kind == "int":
        return {"int": int(rng.integers(-extent, extent))}
    if kind == "slice":
        return {"slice": [None if rng.random() < 0.2 else first, None if rng.random() < 0.2 else last, None]}
    if kind == "stepped":
        return {"slice": [first if rng.random() < 0.5 else None, last if rng.random() < 0.5 else None, step]}
    if kind == "reversed":
        return {"slice": [first if rng.random() < 0.5 else None, last if rng.random() < 0.3 else None, -step]}
    if kind == "index":
        count = int(rng.integers(0, min(extent, 12) + 1))
        return {"index": [int(index) for index in rng.integers(-extent, extent, count)] if extent else []}
    if kind == "mask":
        # Long masks make unreadable reports: past 64 elements a slice does.
        if extent > 64:
            return {"slice": [None, None, step]}
        return {"mask": [bool(bit) for bit in rng.random(extent) < 0.4]}
    return {"slice": [None, None, None]}
