"""The forms that one and the same chunk map can have on disk."""

from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5s

from .handmade import Handmade, Index, chunk_of, grid, plain_mappings
from .registry import file

SHAPE, CHUNKS = (10, 11), (4, 3)
VALUES = np.arange(110, dtype="<i4").reshape(SHAPE)


def single_elements(extent: Index, start: Index, shape: Index) -> h5s.SpaceID:
    """Blocks of one element side by side: the other way to select a box."""
    space = h5s.create_simple(extent)
    space.select_hyperslab(start, shape, stride=tuple(1 for _ in shape))
    return space


def encodings(path: Path, **options: Any) -> None:
    with Handmade(path, **options) as made:
        made.create("data", "<i4", CHUNKS, fill=-5)
        chunk_map = {index: made.append("data", chunk_of(VALUES, CHUNKS, index)) for index in grid(SHAPE, CHUNKS)}
        raw = made.raw("data")

        made.version("blocks in order")
        made.link("blocks in order", "data", SHAPE, chunk_map)

        shuffled = list(chunk_map)
        np.random.default_rng(3).shuffle(shuffled)
        made.version("blocks in another order")
        made.link("blocks in another order", "data", SHAPE, {tuple(i): chunk_map[tuple(i)] for i in shuffled})

        made.version("single elements")
        elements = []
        for (_, name, dataset, source), index in zip(plain_mappings(raw, SHAPE, chunk_map), chunk_map, strict=True):
            shape = chunk_of(VALUES, CHUNKS, index).shape
            start = tuple(i * chunk for i, chunk in zip(index, CHUNKS, strict=True))
            offset = (chunk_map[index] * CHUNKS[0], 0)
            elements.append(
                (single_elements(SHAPE, start, shape), name, dataset, single_elements(source.shape, offset, shape))
            )
        made.link_mappings("single elements", "data", SHAPE, elements)

        made.version("holes")
        made.link("holes", "data", SHAPE, {index: number for index, number in chunk_map.items() if sum(index) % 2})

        made.version("one chunk everywhere")
        whole = dict.fromkeys(grid((8, 9), CHUNKS), chunk_map[0, 0])
        made.link("one chunk everywhere", "data", (8, 9), whole)

        made.version("source extent of the selection alone")
        narrow = []
        for virtual, name, dataset, source in plain_mappings(raw, SHAPE, chunk_map):
            _, last = source.get_select_bounds()
            extent = tuple(int(n) + 1 for n in last)
            source.set_extent_simple(extent)
            narrow.append((virtual, name, dataset, source))
        made.link_mappings("source extent of the selection alone", "data", SHAPE, narrow)

        made.version("no mapping")
        made.link("no mapping", "data", SHAPE, {})

        made.version("hard link to the parent's dataset")
        made.versions["hard link to the parent's dataset"]["data"] = made.versions["holes"]["data"]


for bound in ("earliest", "v112", "latest"):
    file(f"encodings-{bound}")(partial(encodings, libver=bound if bound == "latest" else (bound, "latest")))


@file("not-virtual-handmade")
def not_virtual(path: Path) -> None:
    """Datasets without stored chunks as older writers left them: plain, contiguous, never allocated."""
    with Handmade(path) as made:
        made.version("r0")
        for name, shape, fill in (("no-elements", (0,), None), ("all-fill", (7,), 3), ("inner-zero", (2, 0), None)):
            made.create(name, "<i8", tuple(4 for _ in shape), fill=fill)
            dataset = made.versions["r0"].create_dataset(name, shape, "<i8", fillvalue=fill)
            dataset.attrs["raw_data"] = f"/_version_data/{name}/raw_data"
            dataset.attrs["chunks"] = made.raw(name).chunks
        texts = made.versions["r0"].create_dataset("texts", (0,), h5py.string_dtype())
        made.create("texts", h5py.string_dtype(), (4,))
        texts.attrs["raw_data"] = "/_version_data/texts/raw_data"
        texts.attrs["chunks"] = (4,)


@file("unwritten-raw-chunk-handmade")
def unwritten(path: Path) -> None:
    """A mapping to a raw chunk that was never allocated: it reads as the fill value, and is no error."""
    with Handmade(path) as made:
        for name, fill in (("zero", None), ("fill", 9)):
            made.create(name, "<i4", (4,), fill=fill)
        made.version("r0")
        for name in ("zero", "fill"):
            written = made.append(name, np.arange(4, dtype="<i4"))
            made.link("r0", name, (10,), {(0,): made.append_unwritten(name), (1,): written})
