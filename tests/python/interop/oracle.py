"""What plain h5py reads from a versioned file: values, digests and metadata.

Nothing here goes through versioned-hdf5: a version's dataset is read as the virtual dataset it is.
"""

import hashlib
import math
import struct
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
from h5py import h5s, h5t

#: A JSON object.
Row = dict[str, Any]

FIRST_VERSION = "__first_version__"
INTERNAL_ATTRIBUTES = {"raw_data", "chunks"}
INTERNAL_VERSION_ATTRIBUTES = {"prev_version", "committed", "timestamp"}


def is_string(dtype: np.dtype) -> bool:
    """Whether `dtype` is a variable-length string."""
    info = h5py.check_string_dtype(dtype)
    return info is not None and info.length is None


def dtype_text(dtype: np.dtype) -> str:
    """NumPy's text of a type, `str` for variable-length strings, `compound` for compounds."""
    if is_string(dtype):
        return "str"
    return "compound" if dtype.fields is not None and dtype.kind == "V" else dtype.str


def read_values(dataset: h5py.Dataset) -> np.ndarray:
    """All elements: as untouched bytes of the file's type (NumPy void), or as `bytes` objects for strings.

    Integers that use only some bits of their bytes are converted as h5py does: their sign fills up the rest.
    """
    if is_string(dataset.dtype):
        values: np.ndarray = dataset[()]
        return values
    file_type = dataset.id.get_type()
    if isinstance(file_type, h5t.TypeIntegerID) and file_type.get_precision() < 8 * file_type.get_size():
        values = dataset[()]
        return values.view(f"V{values.itemsize}")
    values = np.zeros(dataset.shape, dtype=f"V{file_type.get_size()}")
    if values.size:
        dataset.id.read(h5s.ALL, h5s.ALL, values, mtype=file_type)
    return values


def digest(values: np.ndarray) -> str:
    """SHA-256 of the values in C order, strings as u64 little-endian byte length and then the bytes."""
    if values.dtype != object:
        return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
    sha = hashlib.sha256()
    for text in values.ravel():
        sha.update(struct.pack("<Q", len(text)))
        sha.update(text)
    return sha.hexdigest()


def versions(file: h5py.File) -> list[str]:
    """Names of all versions, sorted."""
    return sorted(name for name in file["_version_data/versions"] if name != FIRST_VERSION)


def datasets(group: h5py.Group) -> list[str]:
    """Paths of all datasets of a version, sorted."""
    paths: list[str] = []
    group.visititems(lambda path, item: paths.append(path) if isinstance(item, h5py.Dataset) else None)
    return sorted(paths)


def metadata(file: h5py.File) -> Row:
    """Versions and datasets as the library's listings are to show them."""
    group = file["_version_data/versions"]
    current = group.attrs["current_version"]
    return {
        "data_version": int(group.attrs.get("data_version", 1)),
        "current": None if current == FIRST_VERSION else current,
        "versions": [version_metadata(group, name) for name in versions(file)],
        "datasets": [dataset_metadata(file, name, path) for name in versions(file) for path in datasets(group[name])],
    }


def version_metadata(versions_group: h5py.Group, name: str) -> Row:
    group = versions_group[name]
    parent = group.attrs["prev_version"]
    groups: list[str] = []
    group.visititems(lambda path, item: groups.append(path) if isinstance(item, h5py.Group) else None)
    return {
        "version": name,
        "parent": None if parent == FIRST_VERSION else parent,
        "timestamp": group.attrs["timestamp"],
        "current": versions_group.attrs["current_version"] == name,
        "datasets": len(datasets(group)),
        "groups": {path: attributes(group[path], set()) for path in sorted(groups)},
        "attributes": attributes(group, INTERNAL_VERSION_ATTRIBUTES),
    }


def dataset_metadata(file: h5py.File, version: str, path: str) -> Row:
    dataset = file[f"_version_data/versions/{version}/{path}"]
    raw_data = file[f"{dataset.attrs['raw_data']}"]
    chunks = tuple(int(n) for n in dataset.attrs["chunks"])
    pipeline = raw_data.id.get_create_plist()
    sources = dataset.virtual_sources() if dataset.is_virtual else []
    written = written_chunks(raw_data)
    total = math.prod(-(-extent // chunk) for extent, chunk in zip(dataset.shape, chunks, strict=True))
    return {
        "version": version,
        "path": path,
        "shape": list(dataset.shape),
        "dtype": dtype_text(dataset.dtype),
        "chunks": list(chunks),
        "filters": [
            {"id": number, "flags": flags, "values": list(values)}
            for number, flags, values, _ in map(pipeline.get_filter, range(pipeline.get_nfilters()))
        ],
        "stored_chunks": len(sources),
        "written_chunks": sum(source.src_space.get_select_bounds()[0][0] // chunks[0] in written for source in sources),
        "total_chunks": total,
        "attributes": attributes(dataset, INTERNAL_ATTRIBUTES),
    }


def written_chunks(raw_data: h5py.Dataset) -> set[int]:
    """Numbers of the raw chunks that have a place in the file."""
    numbers: set[int] = set()
    raw_data.id.chunk_iter(lambda chunk: numbers.add(chunk.chunk_offset[0] // raw_data.chunks[0]))
    return numbers


def attributes(item: h5py.Group | h5py.Dataset, internal: set[str]) -> list[Row]:
    """A user's attributes: name, shape (null for an empty attribute), type, digest of the value."""
    return [attribute(item, name) for name in sorted(item.attrs) if name not in internal]


def attribute(item: h5py.Group | h5py.Dataset, name: str) -> Row:
    raw = item.attrs.get_id(name)
    row: Row = {"name": name, "dtype": dtype_text(raw.dtype), "shape": None, "sha256": None}
    if raw.get_space().get_simple_extent_type() == h5s.NULL:
        return row
    row["shape"] = list(raw.shape)
    row["sha256"] = digest(attribute_values(item, raw, name))
    return row


def attribute_values(item: h5py.Group | h5py.Dataset, raw: h5py.h5a.AttrID, name: str) -> np.ndarray:
    if not is_string(raw.dtype):
        values = np.zeros(raw.shape, dtype=f"V{raw.get_type().get_size()}")
        raw.read(values, mtype=raw.get_type())
        return values
    texts = np.empty(raw.shape, dtype=object)
    texts[...] = item.attrs[name]
    for index, text in np.ndenumerate(texts):
        texts[index] = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return texts
