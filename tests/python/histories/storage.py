"""Holds stored chunks, hash tables and chunk maps to the rules of the format, and to a model."""

from itertools import product
from typing import Any

import h5py
import numpy as np

from . import kinds, pipelines
from .model import Dataset, Model, digest

HASH_ROW = np.dtype([("hash", "u1", (32,)), ("shape", "<i8", (2,))])
LZF = 32000


class StorageError(Exception):
    """What is stored is against the rules of the format."""


def check(file: h5py.File, model: Model) -> None:
    """Everything of `_version_data` but the versions' contents."""
    found = raw_paths(file)
    wanted = {path for version in model.versions.values() for path in version.datasets}
    _hold(wanted <= found, f"datasets without stored chunks: {wanted - found}")
    _hold(found <= set(model.raw), f"stored chunks of unknown datasets: {found - set(model.raw)}")
    groups = {"versions", *(path.split("/")[0] for path in model.paths)}
    _hold(set(file["_version_data"]) <= groups, f"groups {set(file['_version_data']) - groups} left behind")
    for path in found:
        try:
            _dataset(file, model, path)
        except StorageError as error:
            raise StorageError(f"{path}: {error}") from error


def raw_paths(file: h5py.File) -> set[str]:
    """Paths of the datasets that have stored chunks, in whatever version."""
    found: set[str] = set()

    def walk(group: h5py.Group, prefix: str) -> None:
        if "raw_data" in group and isinstance(group["raw_data"], h5py.Dataset):
            _hold(set(group) == {"raw_data", "hash_table"}, f"members {set(group)} of {group.name}")
            found.add(prefix)
            return
        for name, member in group.items():
            if prefix or name != "versions":
                walk(member, f"{prefix}/{name}" if prefix else name)

    walk(file["_version_data"], "")
    return found


def raw_chunk_counts(file: h5py.File) -> dict[str, int]:
    """Stored chunks of each dataset, of all versions."""
    return {path: int(file[f"_version_data/{path}/hash_table"].attrs["largest_index"]) for path in raw_paths(file)}


def digests(file: h5py.File, path: str) -> list[bytes]:
    """Digests in the hash table of a dataset."""
    table = file[f"_version_data/{path}/hash_table"]
    return [row.tobytes() for row in table[: int(table.attrs["largest_index"])]["hash"]]


def _hold(holds: bool, what: str) -> None:
    if not holds:
        raise StorageError(what)


def _dataset(file: h5py.File, model: Model, path: str) -> None:
    settings = model.settings[path]
    chunks, text = settings.chunks, settings.dtype
    raw = file[f"_version_data/{path}/raw_data"]
    table = file[f"_version_data/{path}/hash_table"]
    count = int(table.attrs["largest_index"])

    _hold(raw.chunks == chunks, f"chunk shape {raw.chunks}")
    _hold(raw.maxshape == (None, *chunks[1:]), f"maxshape {raw.maxshape}")
    _hold(raw.shape == (count * chunks[0], *chunks[1:]), f"raw_data of shape {raw.shape} for {count} chunks")
    _hold(raw.dtype == kinds.dtype_of(text), f"type {raw.dtype}")
    _hold(tuple(raw.attrs["chunks"]) == chunks, "attribute chunks")
    _hold(set(raw.attrs) == {"chunks"}, f"attributes {set(raw.attrs)}")
    if text != kinds.STRING:
        _hold(kinds.same(np.array(raw.fillvalue, raw.dtype), settings.fill, text), f"fill value {raw.fillvalue!r}")
    wanted = settings.pipeline()
    _hold(pipelines.actual(raw) == wanted, f"filters {pipelines.actual(raw)}, expected {wanted}")

    _hold(table.dtype == HASH_ROW, f"hash table of type {table.dtype}")
    _hold(table.chunks == (4096,) and table.maxshape == (None,), f"hash table in chunks {table.chunks}")
    _hold([entry[0] for entry in pipelines.actual(table)] == [LZF], "filters of the hash table")
    _hold(table.shape == (max(1, count),), f"hash table of shape {table.shape} for {count} chunks")
    _hold(set(table.attrs) == {"largest_index"}, f"attributes {set(table.attrs)} of the hash table")
    for owner, name in ((table, "largest_index"), (raw, "chunks")):
        kind = owner.attrs.get_id(name).dtype
        _hold(kind == np.dtype("<i8"), f"attribute {name} of type {kind}")
    rows = table[:count]
    found = [row.tobytes() for row in rows["hash"]]
    starts = rows["shape"][:, 0].tolist()
    _hold(sorted(starts) == [k * chunks[0] for k in range(count)], f"starts {starts}")
    _hold(len(set(found)) == count or not kinds.is_exact(text), "the same digest twice")

    stored = raw[()]
    by_start = dict(zip(starts, zip(found, rows["shape"][:, 1].tolist(), strict=True), strict=True))
    shapes: dict[int, tuple[int, ...]] = {}
    for name, version in model.versions.items():
        if path in version.datasets:
            virtual = file[f"_version_data/versions/{name}/{path}"]
            try:
                _mappings(virtual, raw, version.datasets[path], by_start, shapes, text)
            except StorageError as error:
                raise StorageError(f"{name}: {error}") from error
    for start, (sha, stop) in by_start.items():
        chunk = stored[start : start + chunks[0]]
        candidates = [shapes[start]] if start in shapes else product(*(range(edge, 0, -1) for edge in chunks))
        fitting = [shape for shape in candidates if digest(chunk[tuple(map(slice, shape))], text) == sha]
        _hold(bool(fitting), f"the chunk at {start} has another digest")
        _hold(stop - start in {shape[0] for shape in fitting}, f"the chunk at {start} stops at {stop}")
        _padding(chunk, fitting[0], settings.fill, text, start)
    if kinds.is_exact(text):
        _hold(set(found) == model.raw[path], f"{count} stored chunks, expected {len(model.raw[path])}")


def _padding(chunk: np.ndarray, shape: tuple[int, ...], fill: np.ndarray, text: str, start: int) -> None:
    """What lies beyond the edge is fill: never values of other versions."""
    outside = np.ones(chunk.shape, bool)
    outside[tuple(map(slice, shape))] = False
    padding = chunk[outside]
    filled = np.full(padding.shape, fill, padding.dtype)
    _hold(kinds.same(padding, filled, text), f"padding {padding} of the chunk at {start}")


def _mappings(
    virtual: h5py.Dataset,
    raw: h5py.Dataset,
    dataset: Dataset,
    by_start: dict[int, Any],
    shapes: dict[int, tuple[int, ...]],
    text: str,
) -> None:
    """The layout rules of a version's dataset: one chunk a mapping."""
    edges = dataset.settings.chunks
    _hold(virtual.attrs["raw_data"] == raw.name, f"attribute raw_data {virtual.attrs['raw_data']!r}")
    _hold(virtual.is_virtual, "not a virtual dataset")
    seen: dict[tuple[int, ...], bytes] = {}
    for mapping in virtual.virtual_sources():
        _hold(mapping.file_name == ".", f"source file {mapping.file_name!r}")
        _hold(mapping.dset_name == raw.name, f"source dataset {mapping.dset_name!r}")
        start, extent = _hyperslab(mapping.vspace)
        source, source_extent = _hyperslab(mapping.src_space)
        chunk = tuple(at // edge for at, edge in zip(start, edges, strict=True))
        box = dataset.box(chunk)
        _hold(start == tuple(piece.start for piece in box), f"mapping to {start}")
        _hold(extent == tuple(piece.stop - piece.start for piece in box), f"mapping to {start} of extent {extent}")
        _hold(source_extent == extent, f"mapping to {start} from extent {source_extent}")
        _hold(source[1:] == (0,) * (len(edges) - 1) and source[0] in by_start, f"mapping to {start} from {source}")
        _hold(chunk not in seen, f"two mappings to {start}")
        _hold(shapes.setdefault(source[0], extent) == extent, f"two shapes of the chunk at {source}")
        seen[chunk] = by_start[source[0]][0]
    if kinds.is_exact(text):
        stored = dataset.stored
        _hold(set(seen) == set(stored), f"mapped chunks {sorted(seen)}, expected {sorted(stored)}")
        _hold(seen == stored, "mappings to other chunks")


def _hyperslab(space: h5py.h5s.SpaceID) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Start and extent of a selection that is one block."""
    _hold(space.get_select_type() == h5py.h5s.SEL_HYPERSLABS and space.is_regular_hyperslab(), "an irregular mapping")
    start, stride, count, block = space.get_regular_hyperslab()
    for step, times, length in zip(stride, count, block, strict=True):
        _hold(times == 1 or step == length, "a mapping with gaps")
    return tuple(start), tuple(times * length for times, length in zip(count, block, strict=True))
