"""Runs random histories; exit code 1 if one fails."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from . import external
from .generate import BOTH, history
from .generate import OURS as EVERYTHING
from .minimise import minimise
from .model import Step
from .run import ORDERS, OURS, HistoryError, run
from .saved import load, save
from .selections import InvalidHistoryError


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if options.tools and external.missing():
        print(f"not installed (Debian: hdf5-tools): {' '.join(external.missing())}", file=sys.stderr)
        return 2
    started, done, failures = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="histories-", dir=options.scratch) as scratch:
        go = partial(run, path=Path(scratch) / "history.h5", program_path=options.program, tools=options.tools)
        if options.replay:
            go(load(options.replay))
            return 0
        for seed in range(options.first, options.first + options.count):
            for order in options.order:
                mode = EVERYTHING if options.everything and order == "ours" else BOTH
                steps = history(seed, options.size, order, mode)
                done += 1
                try:
                    go(steps)
                except HistoryError as error:
                    failures += 1
                    _report(seed, order, steps, error, partial(_fails, go), options.out)
                    if failures == options.stop_after:
                        return 1
    seconds = time.monotonic() - started
    print(f"{done} histories, {failures} failed, {done / seconds:.1f} a second")
    return 1 if failures else 0


def _fails(go: partial[None], steps: list[Step]) -> bool:
    try:
        go(steps)
    except HistoryError:
        return True
    except InvalidHistoryError:
        pass
    return False


def _report(seed: int, order: str, steps: list[Step], error: HistoryError, fails: partial[bool], out: Path) -> None:
    """Prints and saves the smallest history that still fails."""
    print(f"seed {seed}, order {order}: {error}", flush=True)
    smallest = minimise(steps, fails)
    directory = out / f"{order}-{seed}"
    save(smallest, directory)
    for step in smallest:
        print("  ", {key: value for key, value in step.items() if key != "ops"})
        for op in step.get("ops", []):
            print("       ", op)
    print(f"  again: python -m histories --replay {directory}", flush=True)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("histories", description=__doc__)
    parser.add_argument("--program", type=Path, help="h5strata; without it only the order 'package' is possible")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="number of seeds")
    parser.add_argument("--size", type=int, default=6, help="versions in a history")
    parser.add_argument("--order", action="append", choices=ORDERS, help="who writes; all orders by default")
    parser.add_argument("--everything", action="store_true", help="operations that versioned-hdf5 lacks, too")
    parser.add_argument("--tools", action="store_true", help="h5dump and h5repack on each file")
    parser.add_argument("--scratch", type=Path, help="where files are made")
    parser.add_argument(
        "--out", type=Path, default=Path(tempfile.gettempdir(), "failed-histories"), help="where failures are saved"
    )
    parser.add_argument("--stop-after", type=int, default=1, metavar="N", help="failures; 0 never stops")
    parser.add_argument("--replay", type=Path, metavar="DIRECTORY", help="run a saved history instead")
    options = parser.parse_args(arguments)
    if options.order is None:
        options.order = list(ORDERS) if options.program else ["package"]
    if options.program is None and any(OURS in order.split("-") or order == "alternate" for order in options.order):
        parser.error("this order needs --program")
    return options


if __name__ == "__main__":
    np.set_printoptions(threshold=50, linewidth=120)
    sys.exit(main(sys.argv[1:]))
