"""The table: our time, each rival's, their ratio, and whether the target was reached."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import AtMost, Beside, Faster, NoSlowerThan
from .measure import Outcome
from .rivals import OURS


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
        if engine != OURS:
            yield Line(case.row, case.name, engine, ours, one.median, *targets.get(engine, ("", None)), one.over)
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
    outcomes = list(outcomes)
    medians = {
        (outcome.case.row, outcome.case.name): outcome.measured[OURS].median
        for outcome in outcomes
        if OURS in outcome.measured
    }
    known = {key: seconds for key, seconds in medians.items() if seconds is not None}
    return [line for outcome in outcomes for line in lines_of(outcome, known)]


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


def markdown(table: list[Line], notes: list[str]) -> str:
    """The table as Markdown, columns padded so that it reads well in a terminal too."""
    heads = ["row", "case", "other", "its time", "ours", "ratio", "target", ""]
    verdicts = {None: "", True: "ok", False: "missed"}
    cells = [
        [
            line.row,
            line.case,
            line.other,
            duration(line.other_seconds) if line.over is None else f"> {duration(line.over)}",
            duration(line.ours_seconds),
            "-" if line.ratio is None else f"{figures(line.ratio)}x",
            line.target,
            verdicts[line.reached],
        ]
        for line in table
    ]
    widths = [max(len(row[column]) for row in [heads, *cells]) for column in range(len(heads))]
    rows = [heads, ["-" * max(width, 3) for width in widths], *cells]
    text = "\n".join(
        "| " + " | ".join(cell.ljust(max(width, 3)) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    )
    return "\n".join([text, "", *notes, ""])


def write(table: list[Line], notes: list[str], outcomes: list[Outcome], folder: Path) -> None:
    """Writes results.md and results.json."""
    (folder / "results.md").write_text(markdown(table, notes))
    record = {
        "notes": notes,
        "lines": [line.as_json() for line in table],
        "seconds": [
            {"row": outcome.case.row, "case": outcome.case.name, "engine": one.engine, "repeats": one.seconds}
            for outcome in outcomes
            for one in outcome.measured.values()
        ],
    }
    (folder / "results.json").write_text(json.dumps(record, indent=2) + "\n")
