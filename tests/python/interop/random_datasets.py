"""Many small datasets of random shapes, chunks, types, fill values and filters, sparse, resized over three versions."""

from pathlib import Path
from typing import Any

import numpy as np

from .dtypes import random_values
from .package import Writer
from .registry import file

DATASETS = 48
TYPES = ["<i4", ">i2", "<f8", ">f4", "|u1", "<c8", "|b1", "|S7", "|V3"]
FILTERS: list[dict[str, Any]] = [
    {},
    {},
    {"compression": "gzip", "shuffle": True},
    {"compression": "lzf"},
    {"fletcher32": True},
]


@file("random-datasets")
def random_datasets(path: Path) -> None:
    rng = np.random.default_rng(2026)
    shapes: dict[str, tuple[int, ...]] = {}
    with Writer(path) as writer:
        for version in range(3):
            with writer.stage(f"r{version}") as group:
                for number in range(DATASETS):
                    name = f"{number:02}"
                    if version == 0:
                        shapes[name] = create(rng, group, name)
                    else:
                        change = rng.integers(-4, 6, len(shapes[name]))
                        shapes[name] = tuple(int(n) for n in np.maximum(0, np.array(shapes[name]) + change))
                        group[name].resize(shapes[name])
                    if version == 0 or rng.random() < 0.7:
                        write_box(rng, group[name], shapes[name])


def create(rng: np.random.Generator, group: Any, name: str) -> tuple[int, ...]:
    """A dataset without values; returns its shape."""
    rank = int(rng.integers(1, 5))
    longest = {1: 90, 2: 22, 3: 10, 4: 6}[rank]
    shape = tuple(int(n) for n in rng.integers(1, longest + 1, rank))
    chunks = tuple(int(n) for n in rng.integers(1, longest // 2 + 2, rank))
    dtype = np.dtype(TYPES[int(rng.integers(len(TYPES)))])
    options = FILTERS[int(rng.integers(len(FILTERS)))]
    if dtype.kind in "iuf" and rng.random() < 0.6:
        options = options | {"fillvalue": dtype.type(rng.integers(1, 100))}
    group.create_dataset(name, shape=shape, dtype=dtype, chunks=chunks, **options)
    return shape


def write_box(rng: np.random.Generator, dataset: Any, shape: tuple[int, ...]) -> None:
    """Random values in a random box: chunks beside it stay unwritten."""
    box = tuple(slice(*sorted(int(bound) for bound in rng.integers(0, extent + 1, 2))) for extent in shape)
    size = tuple(part.stop - part.start for part in box)
    if 0 not in size:
        dataset[box] = random_values(dataset.dtype, size, int(rng.integers(1 << 30)))
