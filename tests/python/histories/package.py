"""Steps of a history by versioned-hdf5."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File, delete_versions, modify_metadata

from . import kinds, pipelines
from .model import Step, value_array
from .selections import Resolved, resolve


def apply(path: Path, steps: list[Step]) -> None:
    """Does steps on a file, which is made if there is none; opens it once."""
    with h5py.File(path, "a") as file:
        versioned = VersionedHDF5File(file)
        for step in steps:
            if step["step"] == "version":
                _version(versioned, step)
            elif step["step"] == "delete":
                delete_versions(versioned, step["versions"])
            else:
                _modify(versioned, step)


def _version(versioned: VersionedHDF5File, step: Step) -> None:
    text = step["timestamp"]
    timestamp = None if text is None else datetime.fromisoformat(text).astimezone(UTC)
    with versioned.stage_version(
        step["name"], prev_version=step["parent"], make_current=step["make_current"], timestamp=timestamp
    ) as group:
        for op in step["ops"]:
            _operate(versioned.f, group, op)


def _modify(versioned: VersionedHDF5File, step: Step) -> None:
    changes: dict[str, Any] = dict(step.get("keywords", {}))
    if changes.get("compression") == "lzf":
        # Else the level of gzip stays behind, which LZF does not take.
        changes["compression_opts"] = None
    if "chunks" in step:
        changes["chunks"] = tuple(step["chunks"])
    if "dtype" in step:
        changes["dtype"] = step["dtype"]
    if "fill" in step:
        changes["fillvalue"] = step["fill"]
    modify_metadata(versioned, step["dataset"], **changes)


def _operate(file: h5py.File, group: Any, op: dict[str, Any]) -> None:
    match op["op"]:
        case "create":
            _create(file, group, op)
        case "write":
            _write(group[op["dataset"]], op)
        case "resize":
            group[op["dataset"]].resize(tuple(op["shape"]))
        case "delete":
            _delete(group, op["path"])
        case "group":
            if op["path"] not in group:
                group.create_group(op["path"])
        case "attr":
            attrs = (group[op["path"]] if op["path"] else group).attrs
            if op["value"] is None:
                del attrs[op["name"]]
            else:
                attrs[op["name"]] = attribute(op["value"])
        case other:
            raise NotImplementedError(other)


def attribute(value: Any) -> Any:
    """A JSON value as the value of an attribute."""
    if isinstance(value, list):
        return np.array(value, h5py.string_dtype() if isinstance(value[0], str) else None)
    return value if isinstance(value, str) else np.array(value)[()]


def _create(file: h5py.File, group: Any, op: dict[str, Any]) -> None:
    path = op["dataset"]
    text = op["dtype"]
    # A dataset that has stored chunks takes no filters again: those of plugins are compared with the parameters that
    # the plugin added, and so are never equal.
    known = f"_version_data/{path}/raw_data" in file
    fill = kinds.fill_of(text, op["fill"])[()] if "fill" in op else None
    if known and _is_nan(fill):
        # It compares fill values by `!=`, and no NaN is equal to the one that is stored.
        raise NotImplementedError("another dataset with NaN as its fill value")
    group.create_dataset(
        path,
        data=op.get("array"),
        shape=tuple(op["shape"]) if "shape" in op else None,
        dtype=kinds.dtype_of(text),
        chunks=tuple(op["chunks"]),
        fillvalue=fill,
        **({} if known else pipelines.keywords(op["filters"])),
    )


def _is_nan(fill: Any) -> bool:
    return isinstance(fill, np.inexact) and bool(np.isnan(fill))


def _delete(group: Any, path: str) -> None:
    """Deletes members first: `del` of a group changes what it iterates over."""
    found = group[path]
    if isinstance(found, h5py.Group):
        for name in list(found):
            _delete(group, f"{path}/{name}")
    del group[path]


def _write(dataset: Any, op: dict[str, Any]) -> None:
    values = op.get("array")
    if values is None:
        # The type of strings says nothing about their length: it is never converted.
        values = (
            value_array(kinds.STRING, op["value"]) if dataset.dtype == object else _literal(dataset.dtype, op["value"])
        )
    if values.dtype.kind in "iu":
        # Integers of the other byte order are taken for the dataset's own (`tools.asarray`).
        values = values.astype(dataset.dtype)
    chosen = resolve(op["select"], dataset.shape)
    fill = np.asarray(dataset.fillvalue)
    if fill.dtype.kind == "f" and np.isnan(fill) and hasattr(dataset, "dataset"):
        # Writing all of a dataset makes versioned-hdf5 compare its fill value with itself, by !=, and fail for NaN
        # (`backend.write_dataset`). The array behind the wrapper is written like any part.
        dataset = dataset.dataset
    for index, part in _simple(chosen, values):
        dataset[index] = part


def _literal(dtype: np.dtype, value: Any) -> np.ndarray:
    return np.array(kinds.scalar(dtype.str, value), dtype)


def _simple(chosen: Resolved, values: np.ndarray) -> Iterator[tuple[Any, Any]]:
    """Indices that versioned-hdf5 takes: no negative steps, and one list at most, without integers beside it."""
    entries = chosen.entries
    plain = [isinstance(entry, int) or (isinstance(entry, slice) and (entry.step or 1) > 0) for entry in entries]
    if all(plain):
        # An array without axes, given for a single string, would be stored as it is, and not the string in it.
        yield tuple(entries), values.item() if values.dtype == object and values.ndim == 0 else values
        return
    values = chosen.spread(values)
    axes: list[list[Any]] = []
    turned: list[Any] = []
    listed = False
    for entry, indices in zip(entries, chosen.axes, strict=True):
        backwards = isinstance(entry, slice) and (entry.step or 1) < 0
        turned.append(slice(None, None, -1) if backwards else slice(None))
        if isinstance(entry, int):
            axes.append([(slice(int(indices[0]), int(indices[0]) + 1), slice(None))])
        elif backwards:
            start, stop = (int(indices[-1]), int(indices[0]) + 1) if len(indices) else (0, 0)
            axes.append([(slice(start, stop, -entry.step), slice(None))])
        elif isinstance(entry, slice):
            axes.append([(entry, slice(None))])
        elif not listed:
            listed = True
            axes.append([(entry, slice(None))])
        else:
            axes.append([(slice(int(i), int(i) + 1), slice(at, at + 1)) for at, i in enumerate(indices)])
    values = values[tuple(turned)]
    for parts in product(*axes):
        index, where = zip(*parts, strict=True)
        yield index, values[where]
