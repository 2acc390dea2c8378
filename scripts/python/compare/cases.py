"""What a case of the comparison is, and what it must reach."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checksum import checksum
from .selection import Selection
from .stores import Store


@dataclass(frozen=True)
class Faster:
    """Our time must be at most the fastest of these rivals' divided by `times`."""

    rivals: tuple[str, ...]
    times: float


@dataclass(frozen=True)
class NoSlowerThan:
    """Our time must be at most `times` our own in another case of the row."""

    case: str
    times: float


@dataclass(frozen=True)
class AtMost:
    """Our time must be at most this many seconds, as a function of the transfers planned."""

    fixed_seconds: float
    seconds_a_transfer: float = 0.0

    def limit(self, transfers: int) -> float:
        return self.fixed_seconds + self.seconds_a_transfer * transfers


Target = Faster | NoSlowerThan | AtMost


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of a row."""

    row: str
    name: str
    selection: Selection
    rivals: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    times: int = 1
    """How often one measurement does it; the time given is that of all together (P1: of one)."""

    @property
    def slug(self) -> str:
        """A name for files."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.row} {self.name}".lower()).strip("-")


@dataclass(frozen=True, kw_only=True)
class ReadCase(Case):
    """Reading a selection of a store's current version, from opening the file to closing it."""

    store: Store
    threads: int
    uncached: bool = False
    """Whether H5Dread per chunk is faster without libhdf5's caches: where little of each chunk is wanted."""
    raw_index: Callable[[], int] | None = None
    """Where h5py finds the element in raw_data, in rows that read raw_data itself with it."""

    def expected(self) -> NDArray[Any]:
        """The values that every engine must deliver."""
        return np.asarray(self.store.values[self.selection.index()])

    @cached_property
    def expected_checksum(self) -> str:
        return checksum(self.expected())


@dataclass(frozen=True, kw_only=True)
class PlanCase(Case):
    """Planning alone, without a file."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
