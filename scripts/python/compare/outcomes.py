"""What was measured."""

import statistics
from dataclasses import dataclass, field

from .cases import Case


@dataclass
class Measured:
    """What one engine did in one case."""

    engine: str
    seconds: list[float] = field(default_factory=list)
    steps: list[list[float]] = field(default_factory=list)
    """Of what is written in steps, the seconds of each, round by round."""
    transfers: int | None = None
    """Of a plan."""
    fault: str | None = None
    """Why the answer is wrong or missing."""
    over: float | None = None
    """The limit in seconds, if no answer came within it."""
    space: dict[str, int] | None = None
    """Of a file that is weighed, the bytes of each of its parts."""
    peak_bytes: int | None = None
    """Of a process whose memory is measured, the most that was resident."""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


@dataclass
class Outcome:
    """What all engines did in one case."""

    case: Case
    measured: dict[str, Measured]

    @property
    def faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        return [
            f"{self.case.row} {self.case.name}: {one.engine}: {one.fault}"
            for one in self.measured.values()
            if one.fault
        ]
