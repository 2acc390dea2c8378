"""Files written by versioned-hdf5, with fixed timestamps so that two runs give the same versions."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
from versioned_hdf5 import VersionedHDF5File

TIMESTAMP_FORMAT = "%Y-%m-%d %H:%M:%S.%f%z"
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def moment(number: int) -> datetime.datetime:
    """The timestamp of the file's version `number`, counted from 1: one a day."""
    return START + datetime.timedelta(days=number, microseconds=number)


class Writer:
    """A file that versioned-hdf5 writes; use it as a context manager."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.file = h5py.File(path, "w", **options)
        self.versioned = VersionedHDF5File(self.file)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.versioned.close()
        self.file.close()

    @contextmanager
    def stage(
        self,
        name: str,
        parent: str | None = None,
        make_current: bool = True,
        timestamp: datetime.datetime | None = None,
    ) -> Iterator[h5py.Group]:
        """Stage a version, committed at the end of the block."""
        timestamp = timestamp or moment(len(self.file["_version_data/versions"]))
        with self.versioned.stage_version(name, parent, make_current, timestamp) as group:
            yield group
