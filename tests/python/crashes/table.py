"""The outcome of a sweep: one row for each commit, writer and mode."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from .judge import NEITHER, Verdict
from .points import CONTROL, OURS, Point

_TITLES = ("writer", "commit", "stopped by", "points", "old", "new", "neither", "refused")
_MODES = {"kill": "kill", "half": "kill, write half done", "power": "power loss", "error": "ENOSPC, EIO"}
_MODES[CONTROL] = "power loss, syncs ignored (control)"


def rows(outcomes: Iterable[tuple[Point, Verdict]]) -> list[dict[str, Any]]:
    """The rows, in the order in which their points come."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for point, verdict in outcomes:
        count = counts.setdefault((point.writer, point.commit, point.mode), Counter())
        count.update(("points", verdict.state, *(["refused"] if verdict.refused else [])))
    return [
        {"writer": writer, "commit": commit, "mode": mode, **{title: count[title] for title in _TITLES[3:]}}
        for (writer, commit, mode), count in counts.items()
    ]


def text(found: list[dict[str, Any]]) -> str:
    """The table for people, with sums by writer and mode."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    for row in found:
        sums.setdefault((row["writer"], row["mode"]), Counter()).update({title: row[title] for title in _TITLES[3:]})
    lines = [_cells(row) for row in found]
    lines += [
        _cells({"writer": writer, "commit": "all", "mode": mode, **count}) for (writer, mode), count in sums.items()
    ]
    widths = [max(map(len, column)) for column in zip(_TITLES, *lines, strict=True)]
    lines.insert(0, list(_TITLES))
    lines.insert(len(found) + 1, ["-" * width for width in widths])
    return "\n".join("  ".join(_aligned(line, widths)).rstrip() for line in lines)


def _cells(row: dict[str, Any]) -> list[str]:
    writer = "h5strata" if row["writer"] == OURS else "versioned-hdf5"
    return [writer, row["commit"], _MODES[row["mode"]], *(str(row.get(title, 0)) for title in _TITLES[3:])]


def _aligned(line: list[str], widths: list[int]) -> list[str]:
    """Names to the left, counts to the right."""
    return [
        cell.ljust(width) if number < 3 else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def is_failure(point: Point, verdict: Verdict) -> bool:
    """Whether a point of ours, no control, left neither content."""
    return verdict.state == NEITHER and point.writer == OURS and point.mode != CONTROL
