"""Reads a file by h5py and versioned-hdf5 while another process commits to it.

`hold FILE MODE SECONDS` opens it, says so, or why not, and keeps it open for a time. `watch FILE DONE SECONDS` opens it
again and again, and checks all it reads, until there is a file DONE, for which it waits so long at most. What versions
hold is told in `tests/concurrent/series.rs`.
"""

import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File

#: Seconds between two openings: h5py has a file to itself as long as it is open, and a writer must get its turn.
PAUSE = 0.03


def say(*words: object) -> None:
    print("child:", *words, flush=True)


def is_locked(error: OSError) -> bool:
    """Whether libhdf5 did not get its lock."""
    return "unable to lock file" in str(error)


def hold(path: Path, mode: str, seconds: float) -> None:
    try:
        file = h5py.File(path, mode)
    except OSError as error:
        say("refused:", error)
        return
    with file:
        say("open")
        time.sleep(seconds)


def check(version: Any, number: int) -> None:
    """Everything that a version holds."""
    more = [f"more/{more}" for more in range(1, number // 25 + 1)]
    found: list[str] = []
    version.visit(found.append)
    expected = ["grid", "series", "words", *more, *(["more"] if more else [])]
    assert sorted(found) == sorted(expected), (number, found)
    assert version["series"][()].tolist() == list(range(50 + 3 * number)), number
    row, column = np.indices((24, 24))
    changed = (row + column) % 7 == number % 7
    assert np.array_equal(version["grid"][()], row * 100 + column + changed * number * 100_000), number
    words = [word.decode() if isinstance(word, bytes) else word for word in version["words"][()]]
    assert words == [f"{number}:{at}" if at % 5 == number % 5 else f"{at}" for at in range(20)], number
    for path in more:
        assert version[path][()].tolist() == [int(path.removeprefix("more/"))] * 6, (number, path)


def check_file(file: h5py.File, rounds: int) -> int:
    """One state of the file; the number of its newest version."""
    versions = VersionedHDF5File(file)
    names = set(file["_version_data/versions"]) - {"__first_version__"}
    newest = len(names) - 1
    assert names == {f"r{number}" for number in range(newest + 1)}, names
    current = int(versions.current_version.removeprefix("r"))
    assert current == newest or (newest % 7 == 3 and current == newest // 2), (current, newest)
    for number in {newest, current, rounds * 7919 % (newest + 1)}:
        check(versions[f"r{number}"], number)
    return newest


def watch(path: Path, done: Path, seconds: float) -> None:
    newest = rounds = states = busy = 0
    say("ready")
    end = time.monotonic() + seconds
    while True:
        is_last = done.exists()
        assert time.monotonic() < end, "the writer never ends"
        try:
            file = h5py.File(path, "r")
        except OSError as error:
            if is_last or not is_locked(error):
                raise
            busy += 1
            continue
        with file:
            found = check_file(file, rounds)
        assert found >= newest, (found, newest)
        states += found > newest
        newest = found
        rounds += 1
        if is_last:
            break
        time.sleep(PAUSE)
    print(f"{busy} times the file was locked", file=sys.stderr)
    say(newest, rounds, states)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["hold", path, mode, seconds]:
            hold(Path(path), mode, float(seconds))
        case ["watch", path, done, seconds]:
            watch(Path(path), Path(done), float(seconds))
        case other:
            sys.exit(f"unknown: {other}")
