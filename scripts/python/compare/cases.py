"""What a case of the comparison is, and what it must reach."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checksum import checksum
from .selection import Selection
from .stores import Store
from .writes import Workload

BUDGET = 10.0
"""An engine whose rounds of a case have taken this many seconds together is not asked again, but where the case says
otherwise."""


@dataclass(frozen=True)
class Faster:
    """Our time must be at most the fastest of these rivals' divided by `times`."""

    rivals: tuple[str, ...]
    times: float


@dataclass(frozen=True)
class NoSlowerThan:
    """Our time must be at most `times` our own in another case of the row; of a figure: in another figure."""

    case: str
    times: float


@dataclass(frozen=True)
class AtMost:
    """Our time must be at most this many seconds, as a function of the transfers planned."""

    fixed_seconds: float
    seconds_a_transfer: float = 0.0

    def limit(self, transfers: int) -> float:
        return self.fixed_seconds + self.seconds_a_transfer * transfers


@dataclass(frozen=True)
class Beside:
    """Our time is shown beside our own in another case of the row, and not judged. Of a figure: beside
    another figure of the case."""

    case: str


Target = Faster | NoSlowerThan | AtMost | Beside


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of a row."""

    row: str
    name: str
    rivals: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    times: int = 1
    """How often one measurement does it; the time given is that of all together (P1: of one)."""
    budget: float = BUDGET
    """An engine whose rounds have taken this many seconds together is not asked again."""

    @property
    def slug(self) -> str:
        """A name for files."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.row} {self.name}".lower()).strip("-")


@dataclass(frozen=True, kw_only=True)
class StoreCase(Case):
    """Reading from a file that is made once for all engines."""

    store: Store


@dataclass(frozen=True, kw_only=True)
class ReadCase(StoreCase):
    """Reading a selection of a store's current version, from opening the file to closing it."""

    selection: Selection
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
class DiffCase(StoreCase):
    """What changed from the version before the current one, both sides of each changed chunk."""

    threads: int

    @cached_property
    def expected(self) -> tuple[list[list[int]], str]:
        """Where the changed chunks of the only axis begin, and the checksum of their old and then their new values."""
        (chunk,), new = self.store.chunks, self.store.values
        old = self.store.first()
        for change in self.store.changes[:-1]:
            change(old)
        starts = np.unique(np.flatnonzero(old != new) // chunk) * chunk
        sides = [side[start : start + chunk] for side in (old, new) for start in starts]
        return [[int(start)] for start in starts], checksum(np.concatenate(sides))


@dataclass(frozen=True, kw_only=True)
class PlanCase(Case):
    """Planning alone, without a file."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    selection: Selection


@dataclass(frozen=True)
class Figure:
    """One of the times that writing a series of versions gives."""

    name: str
    seconds: Callable[[list[float]], float]
    """Of the seconds of the steps; floors have one step."""
    rivals: tuple[str, ...]
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TargetCase(Case):
    """Writing a file, which every engine does anew in every round."""

    workload: Workload
    threads: int
    own_processes: bool = False
    """Whether each answer is given by a process of its own, so that no engine holds memory that another needs."""
    synced: bool = False
    """Whether ours has all on the disk before it returns, every commit too."""
    synced_beside: bool = True
    """Whether ours is measured so too, to be shown beside."""
    limit: float = 900.0
    """Seconds after which an answer is given up, where this is more than what the caller allows."""


@dataclass(frozen=True, kw_only=True)
class WriteCase(TargetCase):
    """Writing a series of versions to a new file. It gives a line of the table for each of its figures."""

    figures: tuple[Figure, ...]
    weighed: bool = False
    """Whether the file is weighed instead of timed: one round, and no figures."""

    def of_figure(self, figure: Figure) -> "WriteCase":
        """The case as the table shows a figure of it."""
        name = f"{self.name}, {figure.name}" if figure.name else self.name
        targets = tuple(
            replace(target, case=f"{self.name}, {target.case}") if isinstance(target, Beside | NoSlowerThan) else target
            for target in figure.targets
        )
        return replace(self, name=name, rivals=figure.rivals, targets=(*self.targets, *targets))


@dataclass(frozen=True, kw_only=True)
class RebuildCase(TargetCase):
    """Writing a file of versions anew. Our own engine makes that file, before any engine is asked."""

    @property
    def left(self) -> list[int]:
        """Numbers of the versions that are there afterwards."""
        return list(range(len(self.workload.versions)))


@dataclass(frozen=True, kw_only=True)
class DeleteCase(RebuildCase):
    """Deleting versions in place, in a copy that is not timed. Of so many in turn the last is left."""

    keep_every: int

    @property
    def left(self) -> list[int]:
        return [number for number in super().left if (number + 1) % self.keep_every == 0]

    @property
    def doomed(self) -> list[str]:
        """Names of the versions that are deleted."""
        left = set(self.left)
        return [name for number, name in enumerate(self.workload.versions) if number not in left]


@dataclass(frozen=True, kw_only=True)
class RepackCase(RebuildCase):
    """Writing everything in a file to a new one."""


@dataclass(frozen=True, kw_only=True)
class MemoryCase(DeleteCase):
    """What memory the commands need that keep a file sound, deleting among them, each in a process of its own."""

    file_bytes: int
    """Of all chunks."""
    most_bytes: int | None
    """That a command may need, if that is judged."""
