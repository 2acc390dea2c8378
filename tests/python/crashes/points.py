"""The points of a sweep: where a commit is stopped, and how."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from .intercept import ERRORS
from .prepare import Prepared

#: How commits are stopped. `control` is a power loss on a disk that ignores syncs.
KILL, HALF, POWER, CONTROL, ERROR = MODES = ("kill", "half", "power", "control", "error")
#: Who commits.
OURS, PACKAGE = "ours", "package"
#: What a call fails with, alone or with all later ones.
FAILURES = [f"{name}{'-sticky' if sticky else ''}" for name in ERRORS for sticky in (False, True)]


@dataclass(frozen=True)
class Point:
    writer: str
    commit: str
    mode: str
    #: The number of the call, from 0; of calls that were made, for losses of power.
    call: int
    #: The seed of a loss or the kind of a failure.
    detail: str = ""

    def __str__(self) -> str:
        parts = (self.writer, self.commit, self.mode, str(self.call), self.detail)
        return ":".join(part for part in parts if part)

    @staticmethod
    def named(text: str) -> "Point":
        """The point that prints as `text`."""
        writer, commit, mode, call, *detail = text.split(":")
        return Point(writer, commit, mode, int(call), *detail)


def points(prepared: Prepared, mode: str, losses: int) -> Iterator[Point]:
    """All points of a commit in a mode; `losses` of power at each call."""
    writer = PACKAGE if prepared.by_package else OURS
    name = prepared.commit.name
    for number, call in enumerate(prepared.calls):
        match mode:
            case "kill":
                yield Point(writer, name, mode, number)
            case "half":
                if len(call.bytes) > 1:
                    yield Point(writer, name, mode, number)
            case "control" if number < len(prepared.calls) * 3 // 4:
                # Until late nothing was written over, so that nothing can be broken.
                pass
            case "power" | "control":
                for seed in range(losses):
                    yield Point(writer, name, mode, number + 1, str(seed))
            case "error":
                for failure in FAILURES:
                    yield Point(writer, name, mode, number, failure)


def sample(everything: Sequence[Point], count: int | None, random: Random) -> list[Point]:
    """At most `count` points, evenly spread, the last among them; all without."""
    if count is None or count >= len(everything):
        return list(everything)
    step = (len(everything) - 1) / count
    first = random.random() * step
    return [*(everything[int(first + step * number)] for number in range(count - 1)), everything[-1]]
