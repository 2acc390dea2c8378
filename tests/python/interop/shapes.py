"""Shapes and chunk grids: one to five axes, resized at random; sparse, empty and all-fill datasets."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .handmade import Handmade
from .package import Writer
from .registry import file

RANDOM_SHAPES = {
    1: ((200,), (16,)),
    2: ((37, 41), (8, 10)),
    3: ((13, 9, 17), (4, 5, 6)),
    4: ((7, 6, 5, 8), (3, 2, 4, 3)),
    5: ((4, 5, 3, 4, 6), (2, 3, 2, 3, 4)),
}
#: Shapes against chunks that are larger, equal, one element, or thin.
GRIDS = {
    "chunk-larger": ((5, 3), (8, 16)),
    "chunk-equal": ((6, 4), (6, 4)),
    "one-element": ((7, 3), (1, 1)),
    "thin-rows": ((9, 20), (1, 20)),
    "thin-columns": ((9, 20), (100, 1)),
    "one-past": ((33,), (32,)),
    "one-short": ((31,), (32,)),
    "single": ((1,), (1,)),
}


def random_history(path: Path, rank: int) -> None:
    """Eight versions of random resizes and writes, with a fill value and without."""
    rng = np.random.default_rng(rank)
    shape, chunks = RANDOM_SHAPES[rank]
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("filled", data=rng.standard_normal(shape), chunks=chunks, fillvalue=2.5)
            group.create_dataset("sparse", shape=shape, dtype="<i4", chunks=chunks, fillvalue=-7)
        for number in range(1, 8):
            with writer.stage(f"r{number}") as group:
                for name in ("filled", "sparse"):
                    dataset = group[name]
                    if rng.random() < 0.6:
                        dataset.resize(
                            tuple(int(n) for n in np.maximum(1, np.array(shape) + rng.integers(-3, 5, rank)))
                        )
                    box = tuple(
                        slice(*sorted(int(bound) for bound in rng.integers(0, extent + 1, 2)))
                        for extent in dataset.shape
                    )
                    dataset[box] = rng.integers(-99, 99, tuple(part.stop - part.start for part in box))


for axes in RANDOM_SHAPES:
    file(f"random-{axes}d")(partial(random_history, rank=axes))


@file("grids")
def grids(path: Path) -> None:
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            for name, (shape, chunks) in GRIDS.items():
                group.create_dataset(name, data=np.arange(np.prod(shape)).reshape(shape), chunks=chunks)
        with writer.stage("r1") as group:
            for name, (shape, _) in GRIDS.items():
                group[name].resize(tuple(extent + 1 for extent in shape))
        with writer.stage("r2") as group:
            for name, (shape, _) in GRIDS.items():
                group[name][...] = 5
                group[name].resize(shape)


@file("resized")
def resized(path: Path) -> None:
    """Growth, shrinking and zero on each axis, and back: what was cut off does not come back."""
    steps = [(4, 6), (10, 6), (10, 15), (3, 15), (3, 2), (0, 2), (5, 2), (5, 0), (5, 7), (0, 0), (8, 8)]
    with Writer(path) as writer:
        for number, shape in enumerate(steps):
            with writer.stage(f"r{number}") as group:
                if number == 0:
                    group.create_dataset("plain", data=np.arange(1, 25).reshape(shape), chunks=(4, 3))
                    group.create_dataset("fill", data=np.arange(1, 25).reshape(shape), chunks=(4, 3), fillvalue=-1)
                    continue
                for name in ("plain", "fill"):
                    group[name].resize(shape)
                    group[name][:1, :1] = 100 + number


@file("empty")
def empty(path: Path) -> None:
    """No elements on one or all axes, nothing but fill, and chunks that turn to fill."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("zero", shape=(0,), dtype="<f8", chunks=(3,), compression="lzf")
            group.create_dataset("zero-from-data", data=np.zeros(0, "i2"), chunks=(3,))
            group.create_dataset("zero-inner", shape=(3, 0, 2), dtype="<i4", chunks=(3, 2, 2))
            group.create_dataset("zero-bytes", shape=(0, 4), dtype="S5", chunks=(3, 2))
            group.create_dataset("all-fill", shape=(10, 4), dtype="<f4", chunks=(3, 4), fillvalue=3)
            group.create_dataset("all-zero", shape=(10,), dtype=">i8", chunks=(3,))
            group.create_dataset("turns-to-fill", data=np.arange(1, 11), chunks=(3,), fillvalue=4)
            group.create_group("no datasets/inside")
        with writer.stage("r1") as group:
            group["turns-to-fill"][...] = 4
            group["zero"].resize((0,))
            group["zero-inner"].resize((3, 2, 2))
        with writer.stage("r2") as group:
            group["zero"].resize((4,))
            group["turns-to-fill"][8:] = 5
        with writer.stage("no parent", parent=""):
            pass


@file("fill-values")
def fill_values(path: Path) -> None:
    """Never-written chunks between written ones, for each kind of fill value.

    None of them has padding inside: what the package leaves there is whatever memory held.
    """
    record = np.dtype([("a", ">i2"), ("s", "S3"), ("f", "<f8")])
    values: dict[str, tuple[DTypeLike, Any]] = {
        "int": ("<i4", -3),
        "big-endian": (">i4", 0x01020304),
        "u8": ("<u8", 2**64 - 1),
        "half": ("<f2", 1.5),
        "nan": ("<f8", np.nan),
        "minus-zero": ("<f8", -0.0),
        "complex": ("<c16", 1 - 2j),
        "bool": (bool, True),
        "bytes": ("S7", b"ab"),
        "opaque": ("V4", np.void(b"abcd")),
        "compound": (record, np.array((5, b"xy", 2.5), record)[()]),
    }
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            for name, (dtype, fill) in values.items():
                group.create_dataset(name, shape=(23,), dtype=dtype, chunks=(4,), fillvalue=fill)
        with writer.stage("r1") as group:
            for name, (dtype, _) in values.items():
                group[name][9:11] = np.zeros(2, dtype)
        with writer.stage("r2") as group:
            for name in values:
                group[name].resize((30,))


@file("fill-long-double-handmade")
def long_double_fill(path: Path) -> None:
    """A fill value of ten bytes in an element of sixteen, the six others zero."""
    fill = np.zeros(1, "g")
    fill[0] = np.longdouble("0.1")
    values = np.zeros(4, "g")
    with Handmade(path) as made:
        made.create("data", "g", (4,), fill=fill)
        made.version("r0")
        made.link("r0", "data", (11,), {(1,): made.append("data", values)})


@file("signed-zero-and-nan")
def bits(path: Path) -> None:
    """Values that compare equal, or unequal to themselves, and differ in bits."""
    with Writer(path) as writer:
        patterns = [0.0, -0.0, np.nan, np.array(0x7FF8_0000_0000_0001, "u8").view("f8")]
        for number, pattern in enumerate(patterns):
            with writer.stage(f"r{number}") as group:
                data = np.full(4, pattern)
                if number == 0:
                    group.create_dataset("bits", data=data, chunks=(2,), fillvalue=0.0)
                else:
                    group["bits"][...] = data
