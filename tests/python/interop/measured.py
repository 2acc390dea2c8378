"""Files whose chunk grids show what a read costs."""

from pathlib import Path

import numpy as np

from .handmade import Handmade
from .package import Writer
from .registry import file


@file("thin-chunks")
def thin_chunks(path: Path) -> None:
    """deshaw/versioned-hdf5 #193: chunks 300 times as high as the data, so that most of what is stored is padding."""
    with Writer(path) as writer, writer.stage("r0") as group:
        group.create_dataset("data", data=np.arange(3 * 15 * 30.0).reshape(3, 15, 30), chunks=(900, 3, 3))


@file("plain-grids")
def plain_grids(path: Path) -> None:
    """A line and a plane of unfiltered chunks that lie one after the other in the file."""
    with Writer(path) as writer, writer.stage("r0") as group:
        group.create_dataset("line", data=np.arange(400_000), chunks=(10_000,))
        group.create_dataset("plane", data=np.arange(160_000.0).reshape(400, 400), chunks=(100, 100))


@file("tall-and-flat")
def tall_and_flat(path: Path) -> None:
    """deshaw/versioned-hdf5 #401, #224: the same rows in thousands of chunks and in few, and a dataset of one chunk.

    One more version changes one element of each.
    """
    rng = np.random.default_rng(401)
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("tall", data=rng.integers(-99, 99, (365, 1234), "i1"), chunks=(10, 10))
            group.create_dataset("flat", data=rng.integers(-99, 99, (10, 1234), "i1"), chunks=(10, 10))
            group.create_dataset("small", data=rng.standard_normal((19, 36)), chunks=(19, 36))
        with writer.stage("r1") as group:
            for name in ("tall", "flat", "small"):
                group[name][7, 20] = 1


@file("ten-thousand-mappings-handmade")
def ten_thousand_mappings(path: Path) -> None:
    """A list of mappings of a megabyte over just four stored chunks."""
    with Handmade(path) as made:
        made.create("data", "<i4", (2,))
        stored = [made.append("data", np.array([number, -number], "<i4")) for number in range(1, 5)]
        made.version("r0")
        made.link("r0", "data", (20_000,), {(index,): stored[index % 4] for index in range(10_000)})
