"""Versioned files whose space is managed in the ways that HDF5 has, and what h5py and versioned-hdf5 find in them.

file_spaces.py make FOLDER             files KIND.h5 with versions r0 and r1
file_spaces.py continue FOLDER COUNT   versioned-hdf5 adds the version after the first COUNT to each
file_spaces.py check FOLDER COUNT      fails unless each file is of its kind and holds the first COUNT versions

What a version holds is computed from its number, here and in the test of commits that this belongs to.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File

from alter import agrees

#: What h5py makes a file of each kind with, and HDF5's number of its strategy.
KINDS: dict[str, tuple[dict[str, Any], int]] = {
    "plain": ({}, h5py.h5f.FSPACE_STRATEGY_FSM_AGGR),
    "newest": ({"libver": "latest"}, h5py.h5f.FSPACE_STRATEGY_FSM_AGGR),
    "user-block": ({"userblock_size": 1024}, h5py.h5f.FSPACE_STRATEGY_FSM_AGGR),
    "aggregate": ({"fs_strategy": "aggregate"}, h5py.h5f.FSPACE_STRATEGY_AGGR),
    "none": ({"fs_strategy": "none"}, h5py.h5f.FSPACE_STRATEGY_NONE),
    "kept": ({"fs_strategy": "fsm", "fs_persist": True}, h5py.h5f.FSPACE_STRATEGY_FSM_AGGR),
    "kept-newest": (
        {"fs_strategy": "fsm", "fs_persist": True, "libver": ("v110", "v110")},
        h5py.h5f.FSPACE_STRATEGY_FSM_AGGR,
    ),
    "pages": ({"fs_strategy": "page", "fs_page_size": 4096}, h5py.h5f.FSPACE_STRATEGY_PAGE),
    "pages-kept": (
        {"fs_strategy": "page", "fs_page_size": 4096, "fs_persist": True, "fs_threshold": 64},
        h5py.h5f.FSPACE_STRATEGY_PAGE,
    ),
    "pages-user-block": (
        {"fs_strategy": "page", "fs_persist": True, "userblock_size": 4096},
        h5py.h5f.FSPACE_STRATEGY_PAGE,
    ),
}

ROWS, COLUMNS = 40, 50
NAMES = 10


def numbers(rows: int) -> np.ndarray[Any, Any]:
    return np.arange(rows, dtype="<i8")[:, None] * 1000 + np.arange(COLUMNS)


def changed(version: int) -> np.ndarray[Any, Any]:
    """A dataset that has another row, and one row more, with each version."""
    values = numbers(ROWS + version)
    for number in range(1, version + 1):
        values[number] = -number
    return values


def names(version: int) -> list[str]:
    """Strings of which each version has another one."""
    found = [f"name {number}" for number in range(NAMES)]
    for number in range(1, version + 1):
        found[number % NAMES] = f"name of version {number}"
    return found


def add(file: h5py.File, version: int) -> None:
    with VersionedHDF5File(file).stage_version(f"r{version}") as staged:
        if version == 0:
            staged.create_dataset("changed", data=numbers(ROWS), chunks=(4, 7))
            staged.create_dataset("kept", data=numbers(ROWS), chunks=(7, 4), compression="gzip")
            staged.create_dataset("names", data=np.array(names(0), object), dtype=h5py.string_dtype(), chunks=(3,))
        else:
            staged["changed"].resize((ROWS + version, COLUMNS))
            staged["changed"][version] = -version
            staged["changed"][-1] = numbers(ROWS + version)[-1]
            staged["names"][version % NAMES] = names(version)[version % NAMES]
        staged["changed"].attrs["version"] = np.int64(version)


def make(folder: Path) -> None:
    for kind, (settings, _) in KINDS.items():
        with h5py.File(folder / f"{kind}.h5", "w", **settings) as file:
            for version in range(2):
                add(file, version)


def continue_(folder: Path, count: str) -> None:
    for kind in KINDS:
        with h5py.File(folder / f"{kind}.h5", "r+") as file:
            add(file, int(count))


def check(folder: Path, count: str) -> None:
    for kind, (settings, strategy) in KINDS.items():
        try:
            check_file(folder / f"{kind}.h5", settings, strategy, int(count))
        except AssertionError as error:
            error.add_note(kind)
            raise


def check_file(path: Path, settings: dict[str, Any], strategy: int, count: int) -> None:
    with h5py.File(path, "r") as file:
        agrees(file)
        creation = file.id.get_create_plist()
        assert file.userblock_size == settings.get("userblock_size", 0)
        found = creation.get_file_space_strategy()[:2]
        assert found == (strategy, settings.get("fs_persist", False)), found
        versioned = VersionedHDF5File(file)
        assert sorted(versioned.versions) == [f"r{version}" for version in range(count)]
        for version in range(count):
            name = f"r{version}"
            for group in (file["_version_data/versions"][name], versioned[name]):
                np.testing.assert_array_equal(group["changed"][()], changed(version))
                np.testing.assert_array_equal(group["kept"][()], numbers(ROWS))
                assert [text.decode() for text in group["names"][()]] == names(version), name
                assert group["changed"].attrs["version"] == version


COMMANDS: dict[str, Callable[..., None]] = {"make": make, "continue": continue_, "check": check}

if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    COMMANDS[command](Path(path), *rest)
