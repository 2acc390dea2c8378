"""Files written by versioned-hdf5, with fixed timestamps so that two runs give the same versions."""

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
from h5py import h5f, h5p
from versioned_hdf5 import VersionedHDF5File

TIMESTAMP_FORMAT = "%Y-%m-%d %H:%M:%S.%f%z"
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def moment(number: int) -> datetime.datetime:
    """The timestamp of the file's version `number`, counted from 1: one a day."""
    return START + datetime.timedelta(days=number, microseconds=number)


def create_file(path: Path, creation: Callable[[h5p.PropFCID], object] | None = None, **options: Any) -> h5py.File:
    """A new file; `creation` sets what only the file's creation property list can say, without other options."""
    if creation is None:
        return h5py.File(path, "w", **options)
    if options:
        raise ValueError(f"{options} beside a creation property list")
    properties = h5p.create(h5p.FILE_CREATE)
    creation(properties)
    return h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, properties))


class Writer:
    """A file that versioned-hdf5 writes, made as `create_file` says; use it as a context manager."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.file = create_file(path, **options)
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
