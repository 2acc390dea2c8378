"""Where commits of one changed chunk spend their time, as perf samples it.

The library has no timers of its own: each sample goes to the first step below that has a function in its stack. What
perf samples is the processor's time; a commit's own seconds are given beside it, and the two differ by what it waits.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from .build import ROOT, build
from .cases import WriteCase
from .protocol import Engine
from .rivals import OURS, engine_command
from .stores import FULL
from .write_rows import write_cases
from .writes import Step

FREQUENCY = 999
"""Samples a second."""
LIMIT = 600.0
"""Seconds for an answer."""

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("mapping lists", ("commit::mappings::", "chunk_list::encode", "ondisk::patch::")),
    ("journal, apply", ("transaction::make_real",)),
    ("VDS: mappings (H5Pset_virtual)", ("h5p::mappings::", "H5Pset_virtual")),
    ("VDS: dataset (H5Dcreate)", ("h5d::create::create",)),
    ("VDS: all else", ("commit::objects::",)),
    ("flush", ("h5f::flush", "H5Fflush")),
    ("hash table", ("hash_table::",)),
    ("digest", ("store::digest::", "sha2::")),
    ("encode", ("codec::",)),
    ("write chunks", ("RawWriter", "raw::write::", "h5d::write::", "H5Dset_extent")),
    ("map of the base", ("whole_map", "chunk_map::")),
    ("chunks of the base", ("store::read::", "raw::")),
    ("version group, attributes", ("store::layout::", "commit::attributes::")),
    ("staged array", ("h5strata::staged::", "StagedDataset")),
    ("open the stage", ("Stage::open", "history::", "version::")),
    ("open the file", ("OpenOptions", "h5f::open")),
    ("the rest of the commit", ("store::commit::",)),
    ("VDS: freed with the file", ("H5D__virtual_",)),
    ("close the file", ("drop_in_place", "Drop>::drop", "H5Fclose")),
)
"""Steps by functions that only they call: of a stack that has functions of several steps, the first step's."""

LIBRARIES = ("h5strata::", "h5strata_ffi::", "rayon")
"""Parts of the names of functions below the engine's own, which reads and frees values outside of what it times."""


def stacks(record: Path) -> Iterator[list[str]]:
    """The functions of each sample, the innermost first."""
    command = ["perf", "script", "--input", str(record), "--no-inline", "--fields", "ip,sym"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for sample in text.split("\n\n"):
        frames = [line.split(None, 1) for line in sample.splitlines()]
        if functions := [frame[1] for frame in frames if len(frame) == 2]:
            yield functions


def step_of(functions: list[str]) -> str:
    """The step that a sample belongs to."""
    for step, parts in STEPS:
        if any(part in function for function in functions for part in parts):
            return step
    return "other"


def sampled(engine: Engine, request: dict[str, object], record: Path) -> list[float]:
    """Has the engine write while perf watches it, and gives the seconds of each commit."""
    options = ["--quiet", "--freq", str(FREQUENCY), "--call-graph", "dwarf,16384", "--output", str(record)]
    with subprocess.Popen(["perf", "record", *options, "--pid", str(engine.pid)]) as perf:
        time.sleep(1)  # perf tells nobody when it has begun
        seconds: list[float] = engine.ask(request, LIMIT)["steps"]
        perf.send_signal(signal.SIGINT)
    return seconds


def report(record: Path, seconds: list[float]) -> str:
    """The table: each step's share of the samples, and the milliseconds of one commit that this is."""
    timed = [functions for functions in stacks(record) if any(part in f for f in functions for part in LIBRARIES)]
    counts = Counter(map(step_of, timed))
    commits = len(seconds)
    lines = [
        f"{commits} commits, {1e3 * sum(seconds) / commits:.1f} ms each by the clock, "
        f"{1e3 * len(timed) / FREQUENCY / commits:.1f} ms of processor time by {len(timed)} samples"
    ]
    for step in (*(step for step, _ in STEPS), "other"):
        share = counts[step] / max(1, len(timed))
        lines.append(f"  {step:<32} {100 * share:5.1f} %  {1e3 * counts[step] / FREQUENCY / commits:7.2f} ms")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/profile-commit", description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=FULL.w5_chunks, help="chunks of 80 KiB (default: those of W5)")
    parser.add_argument("--commits", type=int, default=20, help="commits that are watched (default 20)")
    parser.add_argument("--gzip", action="store_true", help="with shuffle and gzip 4")
    given = parser.parse_args()
    if not shutil.which("perf"):
        print("perf is missing (Debian: linux-perf)", file=sys.stderr)
        return 1

    folder = ROOT / "target" / "compare" / "profile"
    folder.mkdir(parents=True, exist_ok=True)
    kind = "gzip" if given.gzip else "plain"
    cases = write_cases(replace(FULL, w5_chunks=given.chunks), folder)
    workload = next(
        case.workload for case in cases if isinstance(case, WriteCase) and (case.row, case.name) == ("W5", kind)
    )
    workload.forget()
    file, record = folder / "commits.h5", folder / "perf.data"
    file.unlink(missing_ok=True)
    first, _, one_chunk = workload.only.steps
    changes = [replace(one_chunk, plus=number) for number in range(1, given.commits + 1)]

    def request(number: int, steps: list[Step]) -> dict[str, object]:
        series = workload.only.request() | {"steps": [asdict(step) for step in steps]}
        return workload.request(file) | {"threads": 0, "first_version": number, "series": [series]}

    try:
        with Engine(engine_command(OURS, build())) as engine:
            workload.prepare()
            engine.ask(request(0, [first]), LIMIT)
            seconds = sampled(engine, request(1, changes), record)
    finally:
        workload.forget()
        file.unlink(missing_ok=True)
    print(report(record, seconds))
    print(f"every sample: perf report --no-children --input {record.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
