"""Changes files the way others leave them, or damages them, and lists what is in them.

alter.py version FILE NUMBER            the file says another data_version
alter.py reverse FILE DATASET           the rows of its hash table in the reverse order
alter.py junk FILE DATASET CHUNKS ROWS VALUE
                                        what a stopped writer leaves: stored chunks of 77, rows beyond
                                        largest_index that say these chunks hold nothing but VALUE
alter.py uncommitted FILE VERSION       and a version whose writer stopped before its end
alter.py parent FILE VERSION PARENT     the version says another parent
alter.py current FILE VERSION           another current version
alter.py time FILE VERSION TEXT         the version says another time
alter.py rows FILE DATASET COUNT        largest_index of its hash table
alter.py row FILE DATASET ROW START STOP
                                        a row says that its chunk is elsewhere
alter.py hash FILE DATASET ROW          one bit of the digest in a row is another
alter.py swap FILE DATASET ROW ROW      two rows have each other's digests
alter.py drop FILE DATASET              it has no hash table
alter.py strange FILE DATASET           its hash table is one of other rows
alter.py forget FILE                    the file says no current version
alter.py number FILE                    and a number as the current version
alter.py lose FILE DATASET              the last of the stored chunks is not stored any more
alter.py pad FILE DATASET CHUNK         the last element of a stored chunk is 77
alter.py double FILE DATASET CHUNK      a stored chunk, and its row, once more behind all others
alter.py listing FILE                   JSON: every object with its attributes, values, mappings and stored
                                        chunks, but for where in the file they are
alter.py agrees FILE                    fails unless each row of each hash table is that of its chunk, each chunk
                                        has one, and what lies beyond the edge of a chunk is fill
"""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import h5py
import hdf5plugin  # noqa: F401 (registers filters)
import numpy as np

ROOT = "_version_data"


def pairs(file: h5py.File) -> list[tuple[h5py.Dataset, h5py.Dataset]]:
    """Each raw_data with its hash_table."""
    tables: list[h5py.Dataset] = []

    def collect(path: str, thing: h5py.Dataset | h5py.Group) -> None:
        if path.endswith("/hash_table") and not path.startswith("versions/"):
            tables.append(thing)

    file[ROOT].visititems(collect)
    return [(table.parent["raw_data"], table) for table in tables]


def digest(values: np.ndarray[Any, Any]) -> bytes:
    """The digest of a chunk by format 4."""
    sha = hashlib.sha256()
    if values.dtype.kind == "O":
        for string in values.flat:
            sha.update(len(string).to_bytes(8, "little") + string)
    else:
        sha.update(np.ascontiguousarray(values).tobytes())
    sha.update(str(tuple(int(axis) for axis in values.shape)).encode())
    return sha.digest()


def set_version(file: h5py.File, number: str) -> None:
    file[ROOT]["versions"].attrs["data_version"] = np.int64(number)


def set_parent(file: h5py.File, version: str, parent: str) -> None:
    file[ROOT]["versions"][version].attrs["prev_version"] = parent


def reverse(file: h5py.File, path: str) -> None:
    table = file[ROOT][path]["hash_table"]
    rows = int(table.attrs["largest_index"])
    table[:rows] = table[:rows][::-1]


def junk(file: h5py.File, path: str, chunks: str, rows: str, value: str) -> None:
    raw, table = file[ROOT][path]["raw_data"], file[ROOT][path]["hash_table"]
    edge, first = raw.chunks[0], raw.shape[0] // raw.chunks[0]
    raw.resize(raw.shape[0] + int(chunks) * edge, axis=0)
    bytes_of_junk = np.full(raw.chunks, 77, raw.dtype).tobytes()
    # No filter is applied, and the mask says so, whatever the dataset's filters are.
    filters = raw.id.get_create_plist().get_nfilters()
    for chunk in range(first, first + int(chunks)):
        start = (chunk * edge,) + (0,) * (raw.ndim - 1)
        raw.id.write_direct_chunk(start, bytes_of_junk, (1 << filters) - 1)
    largest = int(table.attrs["largest_index"])
    table.resize(largest + int(rows), axis=0)
    promised = np.frombuffer(digest(np.full(raw.chunks, int(value), raw.dtype)), np.uint8)
    for row in range(int(rows)):
        start = (first + row) * edge
        table[largest + row] = (promised, (start, start + edge))


def uncommitted(file: h5py.File, version: str) -> None:
    versions = file[ROOT]["versions"]
    group = versions.create_group(version)
    group.attrs["committed"] = False
    group.attrs["prev_version"] = versions.attrs["current_version"]
    group.attrs["timestamp"] = "1970-01-01 00:00:00.000000+0000"


def set_current(file: h5py.File, version: str) -> None:
    file[ROOT]["versions"].attrs["current_version"] = version


def set_time(file: h5py.File, version: str, text: str) -> None:
    file[ROOT]["versions"][version].attrs["timestamp"] = text


def set_rows(file: h5py.File, path: str, count: str) -> None:
    file[ROOT][path]["hash_table"].attrs["largest_index"] = np.int64(count)


def set_row(file: h5py.File, path: str, number: str, start: str, stop: str) -> None:
    table = file[ROOT][path]["hash_table"]
    row = table[int(number)]
    row["shape"] = int(start), int(stop)
    table[int(number)] = row


def flip_hash(file: h5py.File, path: str, number: str) -> None:
    table = file[ROOT][path]["hash_table"]
    row = table[int(number)]
    row["hash"][17] ^= 4
    table[int(number)] = row


def swap(file: h5py.File, path: str, one: str, other: str) -> None:
    table = file[ROOT][path]["hash_table"]
    rows = table[:]
    rows["hash"][[int(one), int(other)]] = rows["hash"][[int(other), int(one)]]
    table[:] = rows


def drop(file: h5py.File, path: str) -> None:
    del file[ROOT][path]["hash_table"]


def strange(file: h5py.File, path: str) -> None:
    drop(file, path)
    file[ROOT][path]["hash_table"] = np.arange(5)


def forget(file: h5py.File) -> None:
    del file[ROOT]["versions"].attrs["current_version"]


def number(file: h5py.File) -> None:
    file[ROOT]["versions"].attrs["current_version"] = 7


def lose(file: h5py.File, path: str) -> None:
    raw = file[ROOT][path]["raw_data"]
    rows = raw.shape[0]
    raw.resize(rows - raw.chunks[0], axis=0)
    raw.resize(rows, axis=0)


def pad(file: h5py.File, path: str, chunk: str) -> None:
    raw = file[ROOT][path]["raw_data"]
    raw[((int(chunk) + 1) * raw.chunks[0] - 1, *(-1 for _ in raw.shape[1:]))] = 77


def double(file: h5py.File, path: str, chunk: str) -> None:
    raw, table = file[ROOT][path]["raw_data"], file[ROOT][path]["hash_table"]
    edge, first, rows = raw.chunks[0], int(chunk) * raw.chunks[0], int(table.attrs["largest_index"])
    row = next(row for row in table[:rows] if row["shape"][0] == first)
    raw.resize(raw.shape[0] + edge, axis=0)
    raw[-edge:] = raw[first : first + edge]
    table.resize(rows + 1, axis=0)
    row["shape"] += raw.shape[0] - edge - first
    table[rows] = row
    table.attrs["largest_index"] = np.int64(rows + 1)


def listing(file: h5py.File) -> None:
    found: dict[str, Any] = {}

    def text(value: Any) -> str:
        return hashlib.sha256(repr(np.asarray(value).tolist()).encode()).hexdigest()

    def one(path: str, thing: h5py.Dataset | h5py.Group) -> None:
        entry: dict[str, Any] = {"attributes": {name: text(v) for name, v in thing.attrs.items()}}
        if isinstance(thing, h5py.Dataset):
            entry |= {"type": str(thing.dtype), "shape": thing.shape, "values": text(thing[...])}
            if thing.is_virtual:
                entry["mappings"] = [
                    (s.vspace.get_regular_hyperslab(), s.src_space.get_regular_hyperslab(), s.dset_name)
                    for s in thing.virtual_sources()
                ]
            elif thing.chunks:
                stored: list[Any] = []
                thing.id.chunk_iter(lambda c: stored.append((c.chunk_offset, c.filter_mask, c.size)))
                entry["chunks"] = sorted(stored)
        found[path] = entry

    # Objects that have several names are listed under each.
    def walk(group: h5py.Group, path: str) -> None:
        one(path, group)
        for name, thing in group.items():
            if isinstance(thing, h5py.Group):
                walk(thing, f"{path}/{name}")
            else:
                one(f"{path}/{name}", thing)

    walk(file["/"], "")
    print(json.dumps(found, default=str, sort_keys=True, indent=1))


def mapped_extents(file: h5py.File, raw: h5py.Dataset) -> dict[int, tuple[int, ...]]:
    """The shape inside the bounds of each chunk that some version maps."""
    extents: dict[int, tuple[int, ...]] = {}

    def collect(_: str, thing: h5py.Dataset | h5py.Group) -> None:
        if isinstance(thing, h5py.Dataset) and thing.is_virtual:
            for source in thing.virtual_sources():
                if source.dset_name == raw.name:
                    start, _, count, block = source.src_space.get_regular_hyperslab()
                    extent = tuple(c * b for c, b in zip(count, block, strict=True))
                    extents[start[0] // raw.chunks[0]] = extent

    file[ROOT]["versions"].visititems(collect)
    return extents


def check_row(raw: h5py.Dataset, chunk: int, stop: int, hashed: bytes, extent: tuple[int, ...]) -> None:
    what, edge = f"{raw.name}, chunk {chunk}", raw.chunks[0]
    whole = raw[chunk * edge : (chunk + 1) * edge]
    inside = tuple(slice(0, size) for size in extent)
    assert stop == chunk * edge + extent[0], f"{what} ends at {stop}"
    assert hashed == digest(whole[inside]), f"{what} has another digest"
    if whole.dtype.kind != "O":
        beyond = np.ones(whole.shape, bool)
        beyond[inside] = False
        filler = np.full(whole.shape, raw.fillvalue, whole.dtype)
        assert whole[beyond].tobytes() == filler[beyond].tobytes(), f"{what} is not filled up"


def agrees(file: h5py.File) -> None:
    for raw, table in pairs(file):
        extents = mapped_extents(file, raw)
        rows = table[: int(table.attrs["largest_index"])]
        chunks = raw.shape[0] // raw.chunks[0]
        listed = sorted(int(start) // raw.chunks[0] for _, (start, _) in rows)
        assert listed == list(range(chunks)), f"{raw.name}: rows {listed} of {chunks} chunks"
        for hashed, (start, stop) in rows:
            chunk = int(start) // raw.chunks[0]
            if chunk in extents:
                check_row(raw, chunk, int(stop), bytes(hashed), extents[chunk])


COMMANDS: dict[str, Callable[..., None]] = {
    "version": set_version,
    "parent": set_parent,
    "reverse": reverse,
    "current": set_current,
    "time": set_time,
    "rows": set_rows,
    "row": set_row,
    "hash": flip_hash,
    "swap": swap,
    "drop": drop,
    "strange": strange,
    "forget": forget,
    "number": number,
    "lose": lose,
    "pad": pad,
    "double": double,
    "junk": junk,
    "uncommitted": uncommitted,
}
QUESTIONS: dict[str, Callable[..., None]] = {"listing": listing, "agrees": agrees}

if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    with h5py.File(path, "r+" if command in COMMANDS else "r") as opened:
        (COMMANDS | QUESTIONS)[command](opened, *rest)
