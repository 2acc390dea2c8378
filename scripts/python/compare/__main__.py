"""The command line of `scripts/compare`."""

import argparse
import os
import platform
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import h5py
from versioned_hdf5 import __version__ as versioned_version

from .build import ROOT, build
from .cases import BUDGET, Case, MemoryCase, StoreCase, WriteCase
from .measure import Runner, run_all
from .outcomes import Outcome
from .rebuild_rows import REBUILD_ROWS, rebuild_cases
from .rows import ROWS as READ_ROWS
from .rows import cases
from .stores import FULL, QUICK, Store, stores
from .table import lines, markdown, write
from .write_rows import W5_BUDGET, WRITE_ROWS, write_cases

ROWS = (*READ_ROWS, *WRITE_ROWS, *REBUILD_ROWS)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/compare",
        description="Measures h5strata beside its rivals, every answer checked, and writes one table.",
    )
    parser.add_argument("--quick", action="store_true", help="small files: seconds instead of minutes")
    parser.add_argument("--rows", help=f"only these, separated by commas (of {','.join(ROWS)})")
    parser.add_argument("--engines", help="only these, separated by commas, named as in the table (ours: h5strata)")
    parser.add_argument("--repeats", type=int, default=5, help="timed rounds; the table gives medians (default 5)")
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds after which an answer is given up (default 60)"
    )
    parser.add_argument("--check-answers-only", action="store_true", help="one untimed round: are all answers right?")
    given = parser.parse_args()
    wanted = set(given.rows.split(",")) if given.rows else set(ROWS)
    if wanted - set(ROWS):
        parser.error(f"no row {', '.join(sorted(wanted - set(ROWS)))}; there are {', '.join(ROWS)}")
    given.rows = wanted
    given.engines = {name.strip() for name in given.engines.split(",")} if given.engines else None
    given.repeats = 0 if given.check_answers_only else max(1, given.repeats)
    return given


def make_files(chosen: list[Case]) -> None:
    """Makes the files that the chosen cases read."""
    needed: dict[str, Store] = {case.store.name: case.store for case in chosen if isinstance(case, StoreCase)}
    for store in needed.values():
        store.make()
        store.forget()


def check_room(chosen: list[Case], folder: Path) -> None:
    """Ends the program if the disk or the memory is too small for what is to be written.

    A file holds two versions beside the values. versioned-hdf5 needs more than four times the memory that a version
    has, the others less. Where a file is written anew there are up to three of it.
    """
    largest = max((case.workload.first_bytes for case in chosen if isinstance(case, WriteCase)), default=0)
    rebuilt = max((case.file_bytes for case in chosen if isinstance(case, MemoryCase)), default=0)
    on_disk, in_memory = shutil.disk_usage(folder).free, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for what, needed, found in (("disk", max(4 * largest, 3 * rebuilt), on_disk), ("memory", 5 * largest, in_memory)):
        if found < needed:
            have = f"{needed / 1e9:.1f} GB are needed, there are {found / 1e9:.1f}"
            sys.exit(f"{what}: {have}; leave W5 and S2 out, or --quick")


def progress(outcome: Outcome) -> None:
    """One line a case, so that a long run shows where it is."""
    state = "WRONG" if outcome.faults else "answers right"
    print(f"{outcome.case.row} {outcome.case.name}: {len(outcome.measured)} engines, {state}", flush=True)
    for fault in outcome.faults:
        print(f"  {fault}", file=sys.stderr, flush=True)


def notes(size: str, repeats: int) -> list[str]:
    """What one must know to read the table."""
    return [
        f"Files of size {size} (the targets are for {FULL.name}); medians of {repeats} rounds (fewer where an engine "
        f"needs more than {BUDGET:g} s for them, in W5 {W5_BUDGET:g} s), engines in turn; page cache warm; "
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()}.",
        f"versioned-hdf5 {versioned_version}, h5py {h5py.__version__} on HDF5 {h5py.version.hdf5_version}. "
        "Ratio: the other time divided by ours. "
        "Each time covers opening the file, reading into fresh memory, and closing; in P1 one plan, without a file.",
        "W rows: opening, writing, committing and closing, nothing synced to the disk on any side: commits survive "
        "the end of the process, not that of the system. 'ours, synced': every commit is on the disk before it "
        "returns. h5py writes a plain dataset of the same chunks and filters, in place. Every version of the first "
        "round and the last one of the others is read back and compared (of more than 30 versions some 30, of those of "
        "very many chunks fewer). W4: chunks of 100; versioned-hdf5 is not asked where its mapping list would take "
        "libhdf5 more than 10 GB. W5: 80 KiB a chunk of a wave with noise, rounded to single precision.",
        "A1: what commits cost that are atomic, synced on both sides. The C program makes the same version through "
        "libhdf5's own driver: H5Dwrite_chunk, the rows of a hash table without filter, group, attributes, mappings by "
        "H5Pset_virtual, H5Fclose and one fsync; it makes no digests, which are part of our time.",
        "Before each run that writes a file the disk is synced, and as much memory touched as the run may need: a "
        "virtual machine whose host has taken memory back gets it again more slowly than memory is.",
        "S1: size of the file divided by its versions.",
        "M1: in place, in a copy that is made before the clock starts; only 'ours, synced' is synced. M2: all sides "
        "sync the new file; the C program copies by H5Ocopy what the root group links to. h5repack is the system's. "
        "S2: what each command has resident at most (ru_maxrss), in a process of its own that is run once; files are "
        "read back after it.",
    ]


def main() -> int:
    given = arguments()
    scale = QUICK if given.quick else FULL
    folder = ROOT / "target" / "compare" / scale.name
    scratch = folder / "requests"
    scratch.mkdir(parents=True, exist_ok=True)

    every = [*cases(scale, stores(scale, folder)), *write_cases(scale, scratch), *rebuild_cases(scale, scratch)]
    chosen = [case for case in every if case.row in given.rows]
    check_room(chosen, scratch)
    programs = build(with_cli=any(isinstance(case, MemoryCase) for case in chosen))
    make_files(chosen)
    outcomes = []
    with ExitStack() as stack:
        for outcome in run_all(Runner(programs, scratch, given.repeats, given.limit, stack), chosen, given.engines):
            progress(outcome)
            outcomes.append(outcome)

    faults = [fault for outcome in outcomes for fault in outcome.faults]
    if given.check_answers_only:
        print(f"{len(outcomes)} cases, {len(faults)} with a wrong or missing answer")
    else:
        table = lines(outcomes)
        results = Path(ROOT / "target" / "compare")
        write(table, notes(scale.name, given.repeats), outcomes, results)
        print("\n" + markdown(table, outcomes, notes(scale.name, given.repeats)))
        print(f"written to {results.relative_to(ROOT)}/results.md and results.json")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
