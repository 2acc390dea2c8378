"""The table: our time, each rival's, their ratio, and whether the target was reached."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import AtMost, Beside, Faster, MemoryCase, NoSlowerThan, WriteCase
from .outcomes import Outcome
from .rivals import OURS, OURS_SYNCED

VERDICTS = {None: "", True: "ok", False: "missed"}
"""What the table says of a target."""


@dataclass(frozen=True)
class Line:
    """One comparison of ours with one other time."""

    row: str
    case: str
    other: str
    ours_seconds: float | None
    other_seconds: float | None
    target: str = ""
    reached: bool | None = None
    over: float | None = None
    """The limit in seconds within which the other gave no answer."""
    synced_seconds: float | None = None
    """Our time with everything on the disk."""

    @property
    def ratio(self) -> float | None:
        """The other time divided by ours: above 1 we are faster."""
        if self.ours_seconds is None or self.other_seconds is None:
            return None
        return self.other_seconds / self.ours_seconds

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "ratio": self.ratio}


def lines_of(outcome: Outcome, medians: dict[tuple[str, str], float]) -> Iterator[Line]:
    """The lines of one case. `medians` holds our time by row and case."""
    case, measured = outcome.case, outcome.measured
    ours = measured[OURS].median if OURS in measured else None
    synced = measured[OURS_SYNCED].median if OURS_SYNCED in measured else None
    targets: dict[str, tuple[str, bool | None]] = {}
    for target in case.targets:
        # A target against the better of several is judged only when all of them were asked.
        if isinstance(target, Faster) and measured.keys() >= set(target.rivals):
            times = {rival: measured[rival].median for rival in target.rivals}
            known = {rival: seconds for rival, seconds in times.items() if seconds is not None}
            if known:
                fastest = min(known, key=known.__getitem__)
                reached = None if ours is None else known[fastest] / ours >= target.times
                targets[fastest] = (f">= {figures(target.times)}x", reached)
    for engine, one in measured.items():
        if engine not in (OURS, OURS_SYNCED):
            judged = targets.get(engine, ("", None))
            yield Line(case.row, case.name, engine, ours, one.median, *judged, one.over, synced)
    for target in case.targets:
        if isinstance(target, NoSlowerThan):
            other = medians.get((case.row, target.case))
            reached = None if ours is None or other is None else ours <= other * target.times
            yield Line(
                case.row, case.name, f"ours: {target.case}", ours, other, f">= {figures(1 / target.times)}x", reached
            )
        elif isinstance(target, Beside):
            other = medians.get((case.row, target.case))
            yield Line(case.row, case.name, f"ours: {target.case}", ours, other)
        elif isinstance(target, AtMost) and OURS in measured:
            transfers = measured[OURS].transfers
            if transfers is not None:
                limit = target.limit(transfers)
                reached = None if ours is None else ours <= limit
                name = f"limit for {transfers:,} transfers"
                yield Line(case.row, case.name, name, ours, limit, ">= 1x", reached)


def lines(outcomes: Iterable[Outcome]) -> list[Line]:
    """The whole table."""
    outcomes = [outcome for outcome in outcomes if is_timed(outcome)]
    medians = {
        (outcome.case.row, outcome.case.name): outcome.measured[OURS].median
        for outcome in outcomes
        if OURS in outcome.measured
    }
    known = {key: seconds for key, seconds in medians.items() if seconds is not None}
    return [line for outcome in outcomes for line in lines_of(outcome, known)]


def is_timed(outcome: Outcome) -> bool:
    """Whether the outcome is of seconds and not of bytes."""
    return not (is_weighed(outcome) or isinstance(outcome.case, MemoryCase))


def is_weighed(outcome: Outcome) -> bool:
    """Whether the outcome is of the bytes of a file."""
    return isinstance(outcome.case, WriteCase) and outcome.case.weighed


def space_markdown(outcomes: Iterable[Outcome]) -> str:
    """The table of what files weigh: bytes a version, by what they are; nothing if no file was weighed."""
    cells = []
    for outcome in filter(is_weighed, outcomes):
        assert isinstance(outcome.case, WriteCase)
        count = len(outcome.case.workload.versions)
        for engine, one in outcome.measured.items():
            parts = one.space or {}
            for part, size in (*parts.items(), ("all", sum(parts.values()))) if parts else ():
                cells.append([outcome.case.row, outcome.case.name, engine, part, f"{size / count:,.0f}"])
    return aligned(["row", "case", "engine", "part", "bytes a version"], cells) + "\n" if cells else ""


def memory_markdown(outcomes: Iterable[Outcome]) -> str:
    """The table of the memory of commands; nothing if none was measured."""
    cells = []
    for outcome in outcomes:
        case = outcome.case
        if isinstance(case, MemoryCase):
            for command, one in outcome.measured.items():
                found = "-" if one.peak_bytes is None else mebibytes(one.peak_bytes)
                target = "" if case.most_bytes is None else f"<= {mebibytes(case.most_bytes)}"
                reached = None
                if one.peak_bytes is not None and case.most_bytes is not None:
                    reached = one.peak_bytes <= case.most_bytes
                cells.append([case.row, case.name, command, found, target, VERDICTS[reached]])
    return aligned(["row", "case", "command", "peak memory", "target", ""], cells) + "\n" if cells else ""


def mebibytes(count: int) -> str:
    return f"{figures(count / (1 << 20))} MiB"


def duration(seconds: float | None) -> str:
    """Three figures and a unit."""
    if seconds is None:
        return "-"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "\u00b5s"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{figures(seconds * factor)} {unit}"
    return f"{figures(seconds)} s"


def figures(number: float) -> str:
    """Three figures at least, never an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def aligned(heads: list[str], cells: list[list[str]]) -> str:
    """A table as Markdown, columns padded so that it reads well in a terminal too."""
    widths = [max(3, *(len(row[column]) for row in [heads, *cells])) for column in range(len(heads))]
    rows = [heads, ["-" * width for width in widths], *cells]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    )


def markdown(table: list[Line], outcomes: Iterable[Outcome], notes: list[str]) -> str:
    """The tables and the notes."""
    heads = ["row", "case", "other", "its time", "ours", "ours, synced", "ratio", "target", ""]
    cells = [
        [
            line.row,
            line.case,
            line.other,
            duration(line.other_seconds) if line.over is None else f"> {duration(line.over)}",
            duration(line.ours_seconds),
            "" if line.synced_seconds is None else duration(line.synced_seconds),
            "-" if line.ratio is None else f"{figures(line.ratio)}x",
            line.target,
            VERDICTS[line.reached],
        ]
        for line in table
    ]
    times = aligned(heads, cells) + "\n" if cells else ""
    tables = (times, space_markdown(outcomes), memory_markdown(outcomes))
    return "\n".join([*filter(None, tables), *notes, ""])


def write(table: list[Line], notes: list[str], outcomes: list[Outcome], folder: Path) -> None:
    """Writes results.md and results.json."""
    (folder / "results.md").write_text(markdown(table, outcomes, notes))
    record = {
        "notes": notes,
        "lines": [line.as_json() for line in table],
        "seconds": [
            {"row": outcome.case.row, "case": outcome.case.name, "engine": one.engine, "repeats": one.seconds}
            for outcome in outcomes
            for one in outcome.measured.values()
        ],
        "bytes": [
            {"row": outcome.case.row, "case": outcome.case.name, "engine": one.engine, "parts": one.space}
            for outcome in outcomes
            for one in outcome.measured.values()
            if one.space
        ],
        "memory": [
            {"row": outcome.case.row, "case": outcome.case.name, "command": command, "peak_bytes": one.peak_bytes}
            for outcome in outcomes
            for command, one in outcome.measured.items()
            if one.peak_bytes is not None
        ],
    }
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
