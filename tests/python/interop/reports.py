"""Small forms of faults that users of versioned-hdf5 and of HDF5 readers reported; each names its report."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from .package import Writer, moment
from .registry import file
from .selections import Axis

WHOLE = {"slice": [None, None, None]}


def span(start: int | None, stop: int | None, step: int | None = None) -> Axis:
    return {"slice": [start, stop, step]}


@file(
    "report-index-forms",
    reads=(
        ("r1", "cube", [{"index": [2, 5, 6, 7]}, span(1, 8), span(5, 9)]),
        ("r1", "cube", [{"index": [7, 2, 2, -1]}, {"index": [0, 8]}, {"index": [9, 0, 9]}]),
        ("r1", "cube", [{"mask": [True, False] * 4}, {"index": [3]}, {"mask": [False] * 10}]),
        ("r1", "cube", [{"ellipsis": True}, {"int": -1}]),
        ("r1", "cube", [{"int": 0}, {"int": -1}, {"int": 9}]),
        ("r1", "cube", [span(3, 3), WHOLE, span(None, None, -1)]),
        ("r0", "line", [{"mask": [True, False, False, True, True, False, False, False, True, True]}]),
        ("r0", "line", [{"index": []}]),
        ("r0", "square", [WHOLE, span(1, 1)]),
        ("r0", "square", [{"mask": [False, True]}, {"mask": [True, True]}]),
    ),
)
def index_forms(path: Path) -> None:
    """deshaw/versioned-hdf5 #133, #201, #370."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("cube", data=np.arange(125).reshape(5, 5, 5), chunks=(2, 3, 4))
            group.create_dataset("line", data=np.arange(10), chunks=(3,))
            group.create_dataset("square", data=np.arange(4).reshape(2, 2), chunks=(1, 1))
        with writer.stage("r1") as group:
            group["cube"].resize((8, 9, 10))
            group["cube"][5:, 5:, 5:] = 7


@file("report-renamed-file")
def renamed_file(path: Path) -> None:
    """deshaw/versioned-hdf5 #28: a file that got another name after it was written."""
    written = path.with_name("the name it was written under.h5")
    with Writer(written) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("data", data=np.arange(1, 5), chunks=(2,))
        with writer.stage("r1") as group:
            group["data"][0] = 9
    written.rename(path)


def junk(path: Path, rows_too: bool, commit: int) -> None:
    """Ten chunks; then five raw chunks of junk beyond the high-water mark, as a commit that died leaves them."""
    with Writer(path) as writer, writer.stage("r0") as group:
        group.create_dataset("data", data=np.arange(100), chunks=(10,))
    with h5py.File(path, "r+") as plain:
        group = plain["_version_data/data"]
        group["raw_data"].resize((150,))
        group["raw_data"][100:] = -1
        if rows_too:
            group["hash_table"].resize((15,))
            for row in range(10, 15):
                group["hash_table"][row] = (np.full(32, row, "u1"), (10 * row, 10 * row + 10))
    if commit == 0:
        return
    with h5py.File(path, "r+") as plain:
        from versioned_hdf5 import VersionedHDF5File

        with VersionedHDF5File(plain).stage_version("r1", timestamp=moment(2)) as group:
            group["data"].resize((100 + 10 * commit,))
            group["data"][100:] = np.arange(10 * commit) + 1000


@file("report-junk-raw-chunks")
def junk_raw_chunks(path: Path) -> None:
    """deshaw/versioned-hdf5 #521."""
    junk(path, rows_too=False, commit=0)


@file("report-junk-raw-chunks-and-rows")
def junk_rows(path: Path) -> None:
    junk(path, rows_too=True, commit=0)


@file("report-junk-partly-overwritten")
def junk_overwritten(path: Path) -> None:
    junk(path, rows_too=True, commit=4)


@file("report-junk-wholly-overwritten")
def junk_wholly_overwritten(path: Path) -> None:
    junk(path, rows_too=True, commit=6)


@file("report-strided", reads=(("r0", "data", [span(None, None, 10)]), ("r0", "data", [span(None, None, -999)])))
def strided(path: Path) -> None:
    """deshaw/versioned-hdf5 #357: each chunk is to be read once, whatever the stride."""
    with Writer(path) as writer, writer.stage("r0") as group:
        group.create_dataset("data", data=np.arange(100_000), chunks=(1000,), compression="gzip")


@file("report-many-strings")
def many_strings(path: Path) -> None:
    """CramBL/hdf5-pure #14: more strings than 16 bits count, in many heap collections."""
    texts = np.array([f"{i:x}" * (i % 5) for i in range(70_000)], dtype=object)
    with Writer(path) as writer, writer.stage("r0") as group:
        group.create_dataset("texts", data=texts, dtype=h5py.string_dtype(), chunks=(8192,))


def many_chunks(path: Path, **options: Any) -> None:
    """CramBL/hdf5-pure #187: more chunks than one page of the chunk index holds."""
    with Writer(path, **options) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("line", data=np.arange(5000, dtype="<i4"), chunks=(2,))
            group.create_dataset(
                "plane", data=np.arange(1500, dtype="<i2").reshape(50, 30), chunks=(1, 1), shuffle=True
            )
        with writer.stage("r1") as group:
            group["line"][1::500] = -1


@file("report-many-chunks")
def many_chunks_earliest(path: Path) -> None:
    many_chunks(path)


@file("report-many-chunks-latest")
def many_chunks_latest(path: Path) -> None:
    many_chunks(path, libver="latest")


@file("report-string-hashes")
def string_hashes(path: Path) -> None:
    """deshaw/versioned-hdf5 #256 and #288: strings that differ in length or only in how they are split."""
    with Writer(path) as writer:
        for number in range(20):
            with writer.stage(f"r{number}") as group:
                split = ["ab", "c"] if number % 2 else ["a", "bc"]
                if number == 0:
                    group.create_dataset(
                        "letters", data=np.array(["a"], object), dtype=h5py.string_dtype(), chunks=(10,)
                    )
                    data = np.array(split, object)
                    group.create_dataset(
                        "split", data=data, dtype=h5py.string_dtype(), chunks=(10_000,), compression="gzip"
                    )
                group["letters"][0] = "a" * (number + 1)
                group["split"][:] = np.array(split, object)


@file("report-edge-chunks")
def edge_chunks(path: Path) -> None:
    """deshaw/versioned-hdf5 #411 and #534: edge chunks grown and cut, then the versions they came from deleted."""
    from versioned_hdf5 import delete_versions

    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("line", data=np.arange(16), chunks=(10,))
            group.create_dataset("plane", data=np.arange(1, 5).reshape(2, 2), chunks=(2, 2))
        with writer.stage("r1") as group:
            group["line"].resize((26,))
            group["line"][:] = np.arange(26)
            group["plane"].resize((3, 3))
            group["plane"][2, 2] = 5
        with writer.stage("r2") as group:
            group["line"].resize((17,))
            group["plane"][:2, :2] = np.arange(6, 10).reshape(2, 2)
        delete_versions(writer.file, ["r0"])


@file("report-size-zero-after-delete")
def size_zero(path: Path) -> None:
    """deshaw/versioned-hdf5 #244 and #314."""
    from versioned_hdf5 import delete_versions

    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("never", shape=(0,), dtype="<f8", chunks=(10_000,), compression="lzf")
            group.create_dataset("once", data=np.arange(1, 4), chunks=(2,))
        for name in ("r1", "r2"):
            with writer.stage(name) as group:
                group["never"].resize((0,))
                group["once"].resize((0,))
        delete_versions(writer.file, ["r0"])


@file("report-fewer-rows-than-chunks")
def fewer_rows(path: Path) -> None:
    """A rebuilt hash table lists equal chunks once, so versions use raw chunks beyond its number of rows."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("data", data=np.arange(20), chunks=(4,))
        table = writer.file["_version_data/data/hash_table"]
        table.resize((2,))
        table.attrs["largest_index"] = 2


@file("report-hash-table-order")
def hash_table_order(path: Path) -> None:
    """Rows of the hash table in reverse order, and a commit on top: chunks are found by start, not by row."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("data", data=np.array([1, 2, 3, 4]), chunks=(2,))
        table = writer.file["_version_data/data/hash_table"]
        table[:] = table[:][::-1]
        with writer.stage("r1") as group:
            group["data"][:] = np.array([3, 4, 5, 6])
