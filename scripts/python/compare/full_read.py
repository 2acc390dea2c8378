"""Reads every dataset of every version with h5strata and with the Python package, and gives both times.

Run as `python -m compare.full_read FILE`.
"""

import argparse
import statistics
import sys
from pathlib import Path

import h5py

from digest import FIRST_VERSION, VERSIONS, datasets_below

from .build import build
from .protocol import Engine
from .rivals import OURS, VERSIONED_R, engine_command
from .table import duration

ROUNDS = 5
LIMIT = 60.0
"""Seconds after which an answer is given up."""


def datasets(path: Path) -> list[tuple[str, str, int]]:
    """Version, dataset and size in bytes of everything in a versioned file."""
    with h5py.File(path, "r") as file:
        return [
            (version, dataset.name.removeprefix(f"{group.name}/"), dataset.nbytes)
            for version, group in file[VERSIONS].items()
            if version != FIRST_VERSION
            for dataset in datasets_below(group)
        ]


def read_all(engine: Engine, path: Path, wanted: list[tuple[str, str, int]]) -> tuple[float, list[str]]:
    """The time to read everything, the file opened for each dataset, and the checksums."""
    seconds, checksums = 0.0, []
    for version, dataset, _ in wanted:
        request = {"op": "read", "file": str(path), "version": version, "dataset": dataset, "selection": "..."}
        answer = engine.ask(request | {"threads": 1, "path": "auto"}, LIMIT)
        seconds += answer["seconds"]
        checksums.append(answer["checksum"])
    return seconds, checksums


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file

    programs = build()
    wanted = datasets(path)
    times: dict[str, list[float]] = {OURS: [], VERSIONED_R: []}
    answers: dict[str, list[str]] = {}
    with Engine(engine_command(OURS, programs)) as ours, Engine(engine_command(VERSIONED_R, programs)) as python:
        for _ in range(ROUNDS):
            for name, engine in ((OURS, ours), (VERSIONED_R, python)):
                seconds, answers[name] = read_all(engine, path, wanted)
                times[name].append(seconds)
    if answers[OURS] != answers[VERSIONED_R]:
        print("the two do not read the same values", file=sys.stderr)
        return 1
    ours_seconds, python_seconds = (statistics.median(times[name]) for name in (OURS, VERSIONED_R))
    megabytes = sum(size for _, _, size in wanted) / 1e6
    print(f"{len(wanted)} datasets, {megabytes:.1f} MB, the file opened for each, one thread, medians of {ROUNDS}:")
    print(f"  versioned-hdf5 {duration(python_seconds)}, h5strata {duration(ours_seconds)}")
    print(f"  h5strata is {python_seconds / ours_seconds:.1f} times faster, and every value is the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
