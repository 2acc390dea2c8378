"""Selections as text, by NumPy's rules, but every axis on its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

#: What one axis has in a selection; `Any` for want of a type of `...`.
Entry = Any


class InvalidHistoryError(Exception):
    """What the history asks for makes no sense: minimising dropped what it needs."""


@dataclass
class Resolved:
    """Indices along every axis, from 0."""

    entries: list[Entry]
    axes: list[np.ndarray]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values: without the axes that integers chose."""
        return tuple(len(axis) for entry, axis in zip(self.entries, self.axes, strict=True) if not _is_integer(entry))

    @property
    def full_shape(self) -> tuple[int, ...]:
        """The shape of the values with all axes."""
        return tuple(map(len, self.axes))

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values broadcast to the selection, with all axes."""
        try:
            return np.broadcast_to(values, self.shape).reshape(self.full_shape)
        except ValueError as error:
            raise InvalidHistoryError(str(error)) from error

    def chunks(self, chunk_shape: tuple[int, ...]) -> set[tuple[int, ...]]:
        """The chunks that hold a selected element."""
        along = [np.unique(axis // edge) for axis, edge in zip(self.axes, chunk_shape, strict=True)]
        return set(zip(*(grid.ravel().tolist() for grid in np.meshgrid(*along, indexing="ij")), strict=True))


def _is_integer(entry: Entry) -> bool:
    return isinstance(entry, int) and not isinstance(entry, bool)


def resolve(text: str, shape: tuple[int, ...]) -> Resolved:
    """A selection's text against a shape."""
    found = eval(f"Slicer()[{text}]", {"Slicer": _Slicer})
    entries = list(found) if isinstance(found, tuple) else [found]
    missing = len(shape) - sum(entry is not Ellipsis for entry in entries)
    if missing < 0:
        raise InvalidHistoryError(f"{text!r} has more axes than {shape}")
    if Ellipsis not in entries:
        entries.append(Ellipsis)
    at = entries.index(Ellipsis)
    entries[at : at + 1] = [slice(None)] * missing
    return Resolved(entries, [_along(entry, size) for entry, size in zip(entries, shape, strict=True)])


def _along(entry: Entry, size: int) -> np.ndarray:
    everything = np.arange(size)
    try:
        if isinstance(entry, slice):
            return np.array(range(*entry.indices(size)), int)
        chosen = entry if isinstance(entry, list) else [entry]
        picked: np.ndarray = everything[np.array(chosen, dtype=bool if chosen and isinstance(chosen[0], bool) else int)]
        return picked
    except IndexError as error:
        raise InvalidHistoryError(str(error)) from error


class _Slicer:
    def __getitem__(self, index: Entry) -> Entry:
        return index
