"""Versioned files written with h5py alone, for what versioned-hdf5 cannot or does not write.

The result has the package's layout: `raw_data` and `hash_table` for each dataset, and a virtual dataset a version.
"""

import datetime
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from .oracle import FIRST_VERSION
from .package import START, TIMESTAMP_FORMAT, create_file, moment

HASH_ROW = np.dtype([("hash", "u1", (32,)), ("shape", "i8", (2,))])
STRING = h5py.string_dtype()

Index = tuple[int, ...]
#: Chunk index in a version's grid -> raw chunk.
ChunkMap = Mapping[Index, int]
#: One mapping: virtual selection, source file, source dataset, source selection.
Mapped = tuple[h5s.SpaceID, bytes, bytes, h5s.SpaceID]


class Handmade:
    """A versioned file under construction, made as `create_file` says; use it as a context manager."""

    def __init__(self, path: Path, data_version: int | None = 4, **options: Any) -> None:
        self.file = create_file(path, **options)
        self.versions = self.file.create_group("_version_data/versions")
        self.versions.create_group(FIRST_VERSION).attrs["timestamp"] = START.strftime(TIMESTAMP_FORMAT)
        self.versions.attrs["current_version"] = FIRST_VERSION
        if data_version is not None:
            self.versions.attrs["data_version"] = data_version

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def raw(self, path: str) -> h5py.Dataset:
        """The `raw_data` of a dataset."""
        return self.file[f"_version_data/{path}/raw_data"]

    def create(
        self,
        path: str,
        dtype: np.dtype | str | h5t.TypeID,
        chunks: Index,
        fill: object = None,
        filters: Callable[[h5p.PropDCID], object] = lambda pipeline: None,
    ) -> None:
        """Add a dataset without chunks; `filters` gets the creation property list of its `raw_data`."""
        group = self.file.create_group(f"_version_data/{path}")
        pipeline = h5p.create(h5p.DATASET_CREATE)
        pipeline.set_chunk(chunks)
        filters(pipeline)
        if fill is not None:
            pipeline.set_fill_value(np.asarray(fill))
        kind = dtype if isinstance(dtype, h5t.TypeID) else h5t.py_create(np.dtype(dtype), logical=True)
        space = h5s.create_simple((0, *chunks[1:]), (h5s.UNLIMITED, *chunks[1:]))
        raw = h5py.Dataset(h5d.create(group.id, b"raw_data", kind, space, pipeline))
        raw.attrs["chunks"] = chunks
        table = group.create_dataset("hash_table", (1,), HASH_ROW, maxshape=(None,), chunks=(4096,), compression="lzf")
        table.attrs["largest_index"] = 0

    def append(self, path: str, values: np.ndarray) -> int:
        """Append a chunk, whole or trimmed at the edge of the version; returns its number."""
        raw, number = self._grow(path)
        start = number * raw.chunks[0]
        raw[(slice(start, start + values.shape[0]), *(slice(extent) for extent in values.shape[1:]))] = values
        self._record(path, start, values.shape, hash_bytes(values))
        return number

    def append_bytes(self, path: str, stored: bytes, filter_mask: int = 0) -> int:
        """Append a chunk as the bytes that are to stand in the file, whatever they decode to; returns its number."""
        raw, number = self._grow(path)
        start = number * raw.chunks[0]
        raw.id.write_direct_chunk((start, *(0 for _ in raw.chunks[1:])), stored, filter_mask)
        self._record(path, start, raw.chunks, stored)
        return number

    def append_unwritten(self, path: str) -> int:
        """Append a chunk that HDF5 never allocates: it reads as the fill value; returns its number."""
        raw, number = self._grow(path)
        self._record(path, number * raw.chunks[0], raw.chunks, b"")
        return number

    def _grow(self, path: str) -> tuple[h5py.Dataset, int]:
        raw = self.raw(path)
        number = raw.shape[0] // raw.chunks[0]
        raw.resize(raw.shape[0] + raw.chunks[0], axis=0)
        return raw, number

    def _record(self, path: str, start: int, shape: Index, content: bytes) -> None:
        table = self.file[f"_version_data/{path}/hash_table"]
        rows = int(table.attrs["largest_index"])
        table.resize((rows + 1,))
        sha = hashlib.sha256(content + str(tuple(shape)).encode()).digest()
        table[rows] = (np.frombuffer(sha, dtype="u1"), (start, start + shape[0]))
        table.attrs["largest_index"] = rows + 1

    def version(self, name: str, parent: str | None = None, timestamp: datetime.datetime | None = None) -> h5py.Group:
        """Add a committed version without datasets and make it current; `parent` defaults to the current one."""
        group = self.versions.create_group(name)
        group.attrs["prev_version"] = self.versions.attrs["current_version"] if parent is None else parent
        group.attrs["committed"] = True
        timestamp = timestamp or moment(len(self.versions) - 1)
        group.attrs["timestamp"] = timestamp.strftime(TIMESTAMP_FORMAT)
        self.versions.attrs["current_version"] = name
        return group

    def link(self, version: str, path: str, shape: Index, chunk_map: ChunkMap) -> h5py.Dataset:
        """Give a version a dataset of `shape` whose chunks are the raw chunks that `chunk_map` names."""
        raw = self.raw(path)
        return self.link_mappings(version, path, shape, plain_mappings(raw, shape, chunk_map))

    def link_mappings(self, version: str, path: str, shape: Index, mappings: Iterable[Mapped]) -> h5py.Dataset:
        """Give a version a dataset with just these mappings, right or wrong."""
        layout = h5p.create(h5p.DATASET_CREATE)
        for mapping in mappings:
            layout.set_virtual(*mapping)
        return self.finish(version, path, shape, layout)

    def finish(self, version: str, path: str, shape: Index, layout: h5p.PropDCID) -> h5py.Dataset:
        """Create a version's dataset from its creation properties and set the package's two attributes."""
        raw = self.raw(path)
        kind = raw.id.get_type()
        if not isinstance(kind, h5t.TypeStringID) or not kind.is_variable_str():
            copy_fill(raw.id.get_create_plist(), layout, kind)
        links = h5p.create(h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        created = h5d.create(
            self.versions[version].id, path.encode(), kind, h5s.create_simple(shape), layout, lcpl=links
        )
        dataset = h5py.Dataset(created)
        dataset.attrs["raw_data"] = f"/_version_data/{path}/raw_data"
        dataset.attrs["chunks"] = raw.chunks
        return dataset


def copy_fill(source: h5p.PropDCID, target: h5p.PropDCID, kind: h5t.TypeID) -> None:
    """Copy a user-defined fill value from one creation property list to another."""
    if source.fill_value_defined() == h5d.FILL_VALUE_USER_DEFINED and kind.get_class() in (h5t.INTEGER, h5t.FLOAT):
        fill = np.zeros((1,), dtype=kind.dtype)
        source.get_fill_value(fill)
        target.set_fill_value(fill)


def hash_bytes(values: np.ndarray) -> bytes:
    """What the package hashes of a chunk, but for its shape."""
    if values.dtype != object:
        return np.ascontiguousarray(values).tobytes()
    texts = [text.encode() if isinstance(text, str) else text for text in values.ravel()]
    return b"".join(len(text).to_bytes(8, "little") + text for text in texts)


def block(extent: Index, start: Index, shape: Index) -> h5s.SpaceID:
    """A dataspace of `extent` with one block selected."""
    space = h5s.create_simple(extent)
    space.select_hyperslab(start, tuple(1 for _ in shape), block=shape)
    return space


def plain_mappings(raw: h5py.Dataset, shape: Index, chunk_map: ChunkMap) -> list[Mapped]:
    """One mapping a chunk, as the package writes them."""
    mappings = []
    for index, number in chunk_map.items():
        start = tuple(i * chunk for i, chunk in zip(index, raw.chunks, strict=True))
        trimmed = tuple(min(chunk, n - at) for chunk, n, at in zip(raw.chunks, shape, start, strict=True))
        source = block(raw.shape, (number * raw.chunks[0], *(0 for _ in shape[1:])), trimmed)
        mappings.append((block(shape, start, trimmed), b".", raw.name.encode(), source))
    return mappings


def grid(shape: Index, chunks: Index) -> list[Index]:
    """All chunk indices of a shape, in row-major order."""
    counts = tuple(math.ceil(extent / chunk) for extent, chunk in zip(shape, chunks, strict=True))
    return list(np.ndindex(*counts))


def chunk_of(values: np.ndarray, chunks: Index, index: Index) -> np.ndarray:
    """The part of an array that lies in a chunk."""
    return values[tuple(slice(i * chunk, (i + 1) * chunk) for i, chunk in zip(index, chunks, strict=True))]
