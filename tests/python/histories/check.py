"""Holds a file to a model: what every version reads as, by h5py and by versioned-hdf5."""

import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File

from . import kinds, storage
from .model import FIRST, Dataset, Model, Version
from .package import attribute
from .selections import resolve

INTERNAL = {"raw_data", "chunks"}
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\+0000")


class DifferenceError(Exception):
    """A file does not hold what it must."""


def check(path: Path, model: Model) -> None:
    """Everything; raises [`DifferenceError`] at the first difference."""
    with h5py.File(path, "r") as file:
        _history(file, model)
        for name, version in model.versions.items():
            with Told(f"h5py, {name}"):
                _content(file[f"_version_data/versions/{name}"], version, plain=True)
        storage.check(file, model)
        versioned = VersionedHDF5File(file)
        with Told("versioned-hdf5 r"):
            _opened(versioned, model)
    with h5py.File(path, "r+") as file:
        versioned = VersionedHDF5File(file)
        with Told("versioned-hdf5 r+"):
            _opened(versioned, model)
            for name, version in model.versions.items():
                with Told(name):
                    _content(versioned[name], version, plain=False)


class Told:
    """Names where something is wrong."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            raise DifferenceError(
                f"{self.place}: {error if isinstance(error, (DifferenceError, AssertionError)) else repr(error)}"
            ) from error


def _same(found: Any, expected: Any, what: str) -> None:
    if found != expected:
        raise DifferenceError(f"{what}: found {found!r}, expected {expected!r}")


def _history(file: h5py.File, model: Model) -> None:
    _same(set(file), {"_version_data"}, "root")
    versions = file["_version_data/versions"]
    _same(set(versions), {FIRST, *model.versions}, "versions")
    _attributes(versions, {"current_version": model.current, "data_version": 4}, "versions")
    _same(set(versions[FIRST].attrs), {"timestamp"}, "attributes of the first version")
    _same(len(versions[FIRST]), 0, "members of the first version")
    for name, version in model.versions.items():
        group = versions[name]
        timestamp = group.attrs["timestamp"]
        if not isinstance(timestamp, str) or not TIMESTAMP.fullmatch(timestamp):
            raise DifferenceError(f"timestamp {timestamp!r} of {name}")
        if version.timestamp is not None:
            text = version.timestamp.replace("T", " ").replace("Z", "")
            text = (text if "." in text else text + ".").ljust(26, "0")
            _same(timestamp, text + "+0000", f"timestamp of {name}")
        own = {"prev_version": version.parent, "committed": True, "timestamp": timestamp}
        _attributes(group, own | version.attrs, name)


def _opened(versioned: VersionedHDF5File, model: Model) -> None:
    """What versioned-hdf5 says of the history."""
    _same(set(versioned), set(model.versions), "versions")
    _same(versioned.current_version, model.current, "current version")
    name, back = model.current, 0
    while name != FIRST:
        _same(versioned[-back].name.rsplit("/", 1)[-1], name, f"version {-back}")
        name, back = model.versions[name].parent, back + 1


def _content(group: h5py.Group, version: Version, *, plain: bool) -> None:
    found_groups: set[str] = set()
    found_datasets: set[str] = set()

    def visit(name: str, item: Any) -> None:
        (found_groups if isinstance(item, h5py.Group) else found_datasets).add(name)

    group.visititems(visit)
    _same(found_datasets, set(version.datasets), "datasets")
    _same(found_groups, set(version.groups), "groups")
    for path, attrs in version.groups.items():
        _attributes(group[path], attrs, path)
    for path, dataset in version.datasets.items():
        with Told(path):
            _dataset(group[path], dataset, plain=plain)


def _dataset(found: Any, dataset: Dataset, *, plain: bool) -> None:
    settings, values = dataset.settings, dataset.values
    text = settings.dtype
    _same(found.dtype, values.dtype, "type")
    if text == kinds.STRING:
        _same(h5py.check_string_dtype(found.dtype), h5py.check_string_dtype(kinds.dtype_of(text)), "type of strings")
    _same(h5py.check_enum_dtype(found.dtype), h5py.check_enum_dtype(kinds.dtype_of(text)), "enumeration")
    _same(found.shape, values.shape, "shape")
    read = found[()] if found.shape else found[...]
    if not kinds.same(np.asarray(read), values, text):
        raise DifferenceError(f"values: found {np.asarray(read)!r}, expected {values!r}")
    if plain:
        _same(found.maxshape, values.shape, "maxshape")
        _same(tuple(found.attrs["chunks"]), settings.chunks, "attribute chunks")
        _same(found.attrs.get_id("chunks").dtype, np.dtype("<i8"), "type of attribute chunks")
        _attributes(found, dataset.attrs, "dataset", INTERNAL)
    else:
        _same(found.chunks, settings.chunks, "chunks")
        _values_of_attributes(found.attrs, dataset.attrs, INTERNAL)
        _parts(found, dataset)
    # Versions cannot have a fill value of strings, nor can h5py read the one of fixed-length strings in versions.
    if text == kinds.STRING or (plain and values.dtype.kind == "S"):
        return
    if not kinds.same(np.array(found.fillvalue, values.dtype), settings.fill, text):
        raise DifferenceError(f"fill value: found {found.fillvalue!r}, expected {settings.fill!r}")


def _parts(found: Any, dataset: Dataset) -> None:
    """Reads of parts, through versioned-hdf5's own chunk maps."""
    shape = dataset.values.shape
    for select in (":1", "1::2", "..., -1:", "..., 1:3"):
        axes = resolve(select, shape).axes
        index = tuple(
            slice(int(a[0]), int(a[-1]) + 1, int(a[1] - a[0]) if len(a) > 1 else 1) if len(a) else slice(0, 0)
            for a in axes
        )
        if not kinds.same(np.asarray(found[index]), dataset.values[index], dataset.settings.dtype):
            raise DifferenceError(f"values of [{select}]")


def _attributes(found: h5py.HLObject, expected: dict[str, Any], what: str, hidden: set[str] | None = None) -> None:
    """Names, values, types and shapes of attributes."""
    _values_of_attributes(found.attrs, expected, hidden or set(), what)
    for name, value in expected.items():
        value = np.asarray(attribute(value), dtype=h5py.string_dtype() if isinstance(value, str) else None)
        stored = found.attrs.get_id(name)
        _same(stored.shape, value.shape, f"shape of attribute {name} of {what}")
        _same(stored.dtype, value.dtype, f"type of attribute {name} of {what}")
        if value.dtype == object:
            kind = h5py.check_string_dtype(stored.dtype)
            _same(kind, h5py.check_string_dtype(h5py.string_dtype()), f"type of attribute {name} of {what}")


def _values_of_attributes(found: Any, expected: dict[str, Any], hidden: set[str], what: str = "dataset") -> None:
    _same(set(found) - hidden, set(expected), f"attributes of {what}")
    if not hidden <= set(found):
        raise DifferenceError(f"attributes {hidden} of {what}")
    for name, value in expected.items():
        read = found[name]
        read = read.tolist() if isinstance(read, (np.ndarray, np.generic)) else read
        _same((type(read), read), (type(value), value), f"attribute {name} of {what}")
