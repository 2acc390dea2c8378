"""The filters of histories: as `h5strata commit --ops` has them, and as keywords of h5py."""

from functools import lru_cache
from typing import Any

import h5py
import hdf5plugin

from . import kinds

#: Name -> (JSON of `"filters"`, keywords of `create_dataset`).
PIPELINES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none": ({}, {}),
    "gzip": ({"gzip": 4}, {"compression": "gzip", "compression_opts": 4}),
    "gzip-9": ({"gzip": 9}, {"compression": "gzip", "compression_opts": 9}),
    "shuffle-gzip": (
        {"gzip": 1, "shuffle": True},
        {"compression": "gzip", "compression_opts": 1, "shuffle": True},
    ),
    "shuffle": ({"shuffle": True}, {"shuffle": True}),
    "fletcher32": ({"fletcher32": True}, {"fletcher32": True}),
    "all-three": (
        {"gzip": 4, "shuffle": True, "fletcher32": True},
        {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True},
    ),
    "lzf": ({"lzf": True}, {"compression": "lzf"}),
    "shuffle-lzf": ({"lzf": True, "shuffle": True}, {"compression": "lzf", "shuffle": True}),
    "zstd": ({"zstd": 3}, dict(hdf5plugin.Zstd(clevel=3))),
    "lz4": ({"lz4": True}, dict(hdf5plugin.LZ4())),
    "blosc": ({"blosc": True}, dict(hdf5plugin.Blosc())),
    "bitshuffle": ({"bitshuffle": True}, dict(hdf5plugin.Bitshuffle())),
}
FROM_PLUGINS = {"zstd", "lz4", "blosc", "bitshuffle"}
#: Filters that see the bytes of variable-length strings see addresses: the common ones only.
FOR_STRINGS = ("none", "gzip", "shuffle-gzip", "lzf")


def keywords(filters: dict[str, Any] | None) -> dict[str, Any]:
    """What h5py calls these filters."""
    for json, found in PIPELINES.values():
        if json == (filters or {}):
            return found
    raise KeyError(f"unknown filters {filters}")


def expected(dtype: str, chunks: tuple[int, ...], keywords: dict[str, Any]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Id, flags and parameters of each filter on a dataset that h5py makes with these settings."""
    return _expected(dtype, chunks, tuple(keywords.items()))


@lru_cache(maxsize=1000)
def _expected(dtype: str, chunks: tuple[int, ...], keywords: tuple[tuple[str, Any], ...]) -> list[Any]:
    with h5py.File("filters", "w", driver="core", backing_store=False) as file:
        shape = (0, *chunks[1:])
        dataset = file.create_dataset(
            "d", shape, kinds.dtype_of(dtype), chunks=chunks, maxshape=(None, *chunks[1:]), **dict(keywords)
        )
        return actual(dataset)


def actual(dataset: h5py.Dataset) -> list[tuple[int, int, tuple[int, ...]]]:
    """Id, flags and parameters of a dataset's filters."""
    plist = dataset.id.get_create_plist()
    filters = [tuple(plist.get_filter(i)[:3]) for i in range(plist.get_nfilters())]
    if h5py.check_string_dtype(dataset.dtype) is None or h5py.check_string_dtype(dataset.dtype).length is not None:
        return filters
    # Of strings of variable length HDF5 2.0 leaves the element size out, and 2.2 puts that of a reference in.
    return [(number, flags, () if number == h5py.h5z.FILTER_SHUFFLE else values) for number, flags, values in filters]
