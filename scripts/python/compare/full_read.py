"""Reads every dataset of every version with h5strata and with the Python package, and gives their times.

Run as `python -m compare.full_read FILE`. The file is opened once for all that is read of it.
"""

import argparse
import os
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

import h5py

from digest import FIRST_VERSION, VERSIONS, datasets_below

from .build import build
from .protocol import Engine
from .rivals import OURS, VERSIONED, VERSIONED_R, engine_command
from .table import duration

ROUNDS = 5
LIMIT = 60.0
"""Seconds after which an answer is given up."""
ALL_CORES = os.cpu_count() or 1


@dataclass
class Reader:
    """An engine with a number of threads, and what it has answered."""

    name: str
    engine: Engine
    threads: int
    seconds: list[float] = field(default_factory=list)
    checksums: list[dict[str, dict[str, str]]] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """One round."""
        answer = self.engine.ask({"op": "read_all", "file": str(path), "threads": self.threads}, LIMIT)
        self.seconds.append(answer["seconds"])
        self.checksums.append(answer["checksums"])

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def sizes(path: Path) -> dict[tuple[str, str], int]:
    """Bytes of everything in a versioned file, by version and dataset."""
    with h5py.File(path, "r") as file:
        return {
            (version, dataset.name.removeprefix(f"{group.name}/")): dataset.nbytes
            for version, group in file[VERSIONS].items()
            if version != FIRST_VERSION
            for dataset in datasets_below(group)
        }


def are_right(readers: list[Reader], wanted: set[tuple[str, str]]) -> bool:
    """Whether all have read the same in all rounds, and everything that is wanted."""
    first, *others = (checksums for reader in readers for checksums in reader.checksums)
    found = {(version, dataset) for version, datasets in first.items() for dataset in datasets}
    return found == wanted and all(other == first for other in others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file

    programs = build()
    wanted = sizes(path)
    with Engine(engine_command(OURS, programs)) as ours, Engine(engine_command(VERSIONED_R, programs)) as python:
        package = Reader(VERSIONED, python, 1)
        rivals = [Reader(f"{OURS}, one thread", ours, 1), Reader(f"{OURS}, all cores ({ALL_CORES})", ours, ALL_CORES)]
        readers = [package, *rivals]
        for _ in range(ROUNDS):
            for reader in readers:
                reader.read(path)
    if not are_right(readers, set(wanted)):
        print("they do not all read the same values of everything", file=sys.stderr)
        return 1
    print(f"{len(wanted)} datasets, {sum(wanted.values()) / 1e6:.1f} MB, the file opened once, medians of {ROUNDS}:")
    print(f"  {package.name}: {duration(package.median)}")
    for reader in rivals:
        ratio = package.median / reader.median
        print(f"  {reader.name}: {duration(reader.median)}, {ratio:.1f} times faster")
    print("  every value is the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
