"""Runs the sweep; exit code 1 if a point left neither content, 2 if the sweep cannot tell."""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from . import exercise, intercept, table
from .commits import COMMITS
from .judge import NEITHER, Verdict
from .points import CONTROL, ERROR, MODES, OURS, PACKAGE, POWER, Point, points, sample
from .prepare import PreparationError, Prepared, named
from .program import Program, RefusedError
from .reader import ReaderError
from .sweep import Sweep

#: A folder in memory: what syncs would cost is saved, and losses of power are made up.
MEMORY = Path("/dev/shm")
#: Bytes that are free in a folder with room for everything.
ROOM = 1 << 30
#: Reports of single points, beyond which only the table counts.
TOLD = 10


def _roomy(folder: Path) -> Path | None:
    """The folder, if there is room in it for all that is made; containers often have little memory to share."""
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return None
    return folder if shutil.disk_usage(folder).free >= ROOM else None


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="crashes-", dir=options.scratch) as scratch:
        try:
            return _sweep(options, Path(scratch))
        except (PreparationError, RefusedError, ReaderError) as error:
            print(f"crashes: {error}", file=sys.stderr)
            return 2


def _sweep(options: argparse.Namespace, scratch: Path) -> int:
    started = time.monotonic()
    program = Program(options.program, options.durability)
    harmless = program.can_be_harmless()
    if not harmless:
        _tell("without setpriv permissions do not bind root: no reader here lacks the right to write")
    library = intercept.compile_library(scratch)
    if not exercise.check(library, scratch):
        raise PreparationError("the library does not see every call of this Python that changes files")
    sweep = Sweep(program, library, scratch, options.seed, options.jobs, harmless=harmless)
    try:
        only = Point.named(options.point) if options.point else None
        chosen = _choose(options, sweep, only)
        _tell(f"{len(chosen)} points of {len({point.commit for point, _ in chosen})} commits")
        verdicts: dict[Point, Verdict] = {}
        failed: list[Point] = []
        for point, verdict in sweep.run(chosen, options.out):
            verdicts[point] = verdict
            if len(verdicts) % 100 == 0:
                _tell(f"{len(verdicts)} points done")
            if table.is_failure(point, verdict):
                failed.append(point)
            if (point in failed[:TOLD]) or (only is not None and verdict.state == NEITHER):
                _report(options, point, verdict)
    finally:
        sweep.close()
    outcomes = [(point, verdicts[point]) for point, _ in chosen]
    found = table.rows(outcomes)
    seconds = time.monotonic() - started
    if options.json:
        print(json.dumps({"seconds": round(seconds, 1), "rows": found, "failed": [str(point) for point in failed]}))
    else:
        print(table.text(found))
        print(
            f"\n{len(outcomes)} points in {seconds:.0f} s, seed {options.seed}; "
            f"of h5strata, controls aside, {len(failed)} left neither"
        )
    if failed:
        return 1
    controls = [verdict.state for point, verdict in outcomes if point.mode == CONTROL and point.writer == OURS]
    if controls and NEITHER not in controls and only is None:
        _tell("the sweep can't fail: nothing is broken where syncs are ignored")
        return 2
    return 0


def _choose(options: argparse.Namespace, sweep: Sweep, only: Point | None) -> list[tuple[Point, Prepared]]:
    """Prepares commits and chooses points."""
    commits = named(options.commit if only is None else [only.commit])
    writers = options.writer if only is None else [only.writer]
    wanted = [
        (f"{writer}-{commit.name}", commit, writer == PACKAGE)
        for writer in writers
        for commit in commits
        if writer == OURS or commit.package
    ]
    _tell(f"preparing {len(wanted)} commits")
    prepared = sweep.prepare(wanted)
    if only is not None:
        return [(only, next(iter(prepared.values())))]
    random = Random(options.seed)
    chosen: list[tuple[Point, Prepared]] = []
    for case in prepared.values():
        for mode in options.mode:
            if case.by_package and mode in (ERROR, CONTROL):
                continue
            if mode in (POWER, CONTROL) and options.durability == "process":
                continue
            count = options.package_points if case.by_package else options.points
            for point in sample(list(points(case, mode, options.losses)), None if options.long else count, random):
                chosen.append((point, case))
    return chosen


def _report(options: argparse.Namespace, point: Point, verdict: Verdict) -> None:
    """What a failing point needs to be looked at."""
    settings = f"--seed {options.seed} " if point.mode in (POWER, CONTROL) else ""
    settings += f"--durability {options.durability} " if options.durability else ""
    _tell(f"{point}: {verdict.reason}")
    _tell(f"  files: {options.out / str(point)}")
    _tell(f"  again: python -m crashes --program {options.program} {settings}--point {point}")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("crashes", description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="h5strata")
    parser.add_argument("--points", type=int, default=12, metavar="N", help="at most, of a commit in a mode")
    parser.add_argument(
        "--package-points", type=int, default=3, metavar="N", help="the same where versioned-hdf5 commits"
    )
    parser.add_argument("--long", action="store_true", help="all points")
    parser.add_argument("--losses", type=int, default=3, metavar="N", help="losses of power after each call")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of points and of what losses leave")
    parser.add_argument("--commit", action="append", choices=list(COMMITS), help="all by default")
    parser.add_argument("--mode", action="append", choices=MODES, help="all by default")
    parser.add_argument("--writer", action="append", choices=(OURS, PACKAGE), help="both by default")
    parser.add_argument("--durability", choices=("full", "process"), help="passed to commits; the program's by default")
    parser.add_argument("--point", metavar="WRITER:COMMIT:MODE:CALL[:DETAIL]", help="this point alone")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="points at a time")
    parser.add_argument("--json", action="store_true", help="rows as one JSON object")
    parser.add_argument("--scratch", type=Path, default=_roomy(MEMORY), help="where files are made")
    parser.add_argument(
        "--out", type=Path, default=Path(tempfile.gettempdir(), "failed-crashes"), help="where failing points are kept"
    )
    options = parser.parse_args(arguments)
    options.mode = options.mode or list(MODES)
    options.writer = options.writer or [OURS, PACKAGE]
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
