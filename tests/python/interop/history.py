"""Histories: branches, timestamps, attributes over versions, datasets that vanish and come back."""

import contextlib
import datetime
from pathlib import Path

import h5py
import numpy as np

from .handmade import Handmade
from .package import START, Writer
from .registry import file


@file("branches")
def branches(path: Path) -> None:
    """A tree of versions with two roots; the current one is no leaf."""
    parents = {
        "r0": "",
        "a1": "r0",
        "b1": "r0",
        "a2": "a1",
        "b2": "b1",
        "a3": "a2",
        "other root": "",
        "o1": "other root",
    }
    with Writer(path) as writer:
        for number, (name, parent) in enumerate(parents.items()):
            with writer.stage(name, parent, make_current=name in ("r0", "a2")) as group:
                if parent == "":
                    group.create_dataset("data", data=np.arange(20) + number, chunks=(6,))
                else:
                    group["data"][number] = -number


@file("many-versions")
def many_versions(path: Path) -> None:
    with Writer(path) as writer:
        for number in range(60):
            with writer.stage(f"r{number}") as group:
                if number == 0:
                    group.create_dataset("line", data=np.zeros(10, "i4"), chunks=(8,), fillvalue=-1)
                group["line"].resize((10 + number,))
                group["line"][number] = number


@file("prices")
def prices(path: Path) -> None:
    """What README's examples read: closing prices, with more days and a corrected one in each month's version."""
    rng = np.random.default_rng(2026)
    days, shares = 256, 12
    values = 100 + rng.standard_normal((days, shares)).cumsum(axis=0)
    with Writer(path) as writer:
        for month, day in [(8, 31), (9, 30), (10, 31), (11, 30)]:
            committed = datetime.datetime(2026, month, day, 18, tzinfo=datetime.UTC)
            with writer.stage(f"{committed:%Y-%m-%d}", timestamp=committed) as group:
                if month == 8:
                    group.create_dataset("equity/close", data=values, chunks=(64, 4), compression="gzip")
                    continue
                close = group["equity/close"]
                close.resize((close.shape[0] + 21, shares))
                close[-21:] = close[-22] + rng.standard_normal((21, shares)).cumsum(axis=0)
                close[month, 3] += 0.5


@file("no-versions")
def no_versions(path: Path) -> None:
    with Writer(path):
        pass


@file("deleted-and-renamed")
def deleted_and_renamed(path: Path) -> None:
    """Datasets that vanish, come back with other values, and move to another name."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("grp/gone", data=np.arange(10), chunks=(4,))
            group.create_dataset("old name", data=np.arange(10.0), chunks=(4,))
        with writer.stage("r1") as group:
            del group["grp/gone"]
            renamed = group["old name"][()]
            del group["old name"]
            group.create_dataset("new name", data=renamed, chunks=(4,))
        with writer.stage("r2") as group:
            group.create_dataset("grp/gone", data=np.arange(10)[::-1], chunks=(4,))


@file("dataset-turned-group")
def dataset_turned_group(path: Path) -> None:
    """A name that is a dataset in one version and a group in the next: both are stored under it."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("a", data=np.arange(10), chunks=(4,))
        with writer.stage("r1") as group:
            del group["a"]
            group.create_dataset("a/b", data=np.arange(10) * 2, chunks=(4,))


@file("failed-stage")
def failed_stage(path: Path) -> None:
    """What a commit leaves behind that raised half way: chunks no version uses, a dataset without storage."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("data", data=np.arange(10), chunks=(4,))
        with contextlib.suppress(TypeError), writer.stage("r1") as group:
            group["data"][0] = 99
            # HDF5 has no such type.
            group.create_dataset("times", data=np.zeros(3, "M8[s]"), chunks=(2,))
        with writer.stage("r2") as group:
            group["data"][1] = 98


@file("deleted-versions")
def deleted_versions(path: Path) -> None:
    """Versions removed by the package: raw chunks are renumbered and parents are moved."""
    from versioned_hdf5 import delete_versions

    with Writer(path) as writer:
        for number in range(8):
            with writer.stage(f"r{number}") as group:
                if number == 0:
                    group.create_dataset("grp/data", data=np.arange(30), chunks=(7,), fillvalue=-1)
                    group.create_dataset(
                        "texts", data=np.array(["a"] * 9, object), dtype=h5py.string_dtype(), chunks=(4,)
                    )
                group["grp/data"].resize((30 + number,))
                group["grp/data"][3 * number] = 1000 + number
                group["texts"][number] = f"text {number}"
        delete_versions(writer.file, ["r0", "r3", "r7"])


@file("timestamps")
def timestamps(path: Path) -> None:
    """Three versions at one second, two seconds and two seconds; their names are not in the order of their commits."""
    with Writer(path) as writer:
        for number, (name, seconds) in enumerate([("first", 1), ("second", 2), ("a third", 2)]):
            with writer.stage(name, timestamp=START + datetime.timedelta(seconds=seconds)) as group:
                if number == 0:
                    group.create_dataset("data", data=np.zeros(3, "i4"), chunks=(2,))
                group["data"][number] = number + 1


@file("thousand-versions-handmade")
def thousand_versions(path: Path) -> None:
    """deshaw/versioned-hdf5 #89, #512: a coarse clock gives runs of up to 20 versions one time.

    Names are in no order, so that only the chain of parents tells which of one time came last.
    """
    rng = np.random.default_rng(28)
    moment = START
    with Handmade(path) as made:
        made.create("small", "<i4", (4,))
        stored = [made.append("small", np.arange(4, dtype="<i4") + number) for number in range(10)]
        for number in rng.permutation(1000):
            if rng.random() < 0.3:
                moment += datetime.timedelta(seconds=int(rng.integers(1, 5)))
            name = f"v{number:03}"
            made.version(name, timestamp=moment)
            if number % 10 == 0:
                made.link(name, "small", (4,), {(0,): stored[number // 100]})


@file("old-data-version")
def old_data_version(path: Path) -> None:
    """data_version 1: written before the attribute existed."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("data", data=np.arange(10), chunks=(4,))
        with writer.stage("r1") as group:
            group["data"][2] = 7
        del writer.file["_version_data/versions"].attrs["data_version"]
