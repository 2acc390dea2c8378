"""What the bytes of a file of versions are."""

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import h5py

from digest import VERSIONS

CHUNKS = "chunks"
HASH_TABLES = "hash tables"
MAPPING_LISTS = "mapping lists"
HEAPS = "strings and free room in heaps"
REST = "groups, attributes, chunk indices, room given up"
"""Room is given up by chunks of the hash table that have grown: libhdf5 forgets it when the file is closed."""

COLLECTION = struct.Struct("<4sB3xQ")
"""Head of a global heap collection: signature, version, size of it all (File Format Specification, III.E)."""
OBJECT = struct.Struct("<HHIQ")
"""Head of an object in one: index, reference count, reserved, size without padding. Index 0 is the free room."""


def parts_of(path: Path) -> dict[str, int]:
    """Bytes of a file by what they are; the parts add up to its size."""
    parts = dict.fromkeys((CHUNKS, HASH_TABLES, MAPPING_LISTS, HEAPS, REST), 0)

    def count(name: str, item: h5py.HLObject) -> None:
        part = {"raw_data": CHUNKS, "hash_table": HASH_TABLES}.get(name.rpartition("/")[2])
        if part and isinstance(item, h5py.Dataset) and not f"/{name}".startswith(VERSIONS):
            parts[part] += item.id.get_storage_size()

    with h5py.File(path, "r") as file:
        data = file[VERSIONS].parent
        for name in data:
            if name != VERSIONS.rpartition("/")[2]:
                count(name, data[name])
                if isinstance(data[name], h5py.Group):
                    data[name].visititems(count)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for start, end in collections(content):
            lists = sum(lists_in(content, start, end))
            parts[MAPPING_LISTS] += lists
            parts[HEAPS] += end - start - lists
        parts[REST] = len(content) - sum(parts.values())
    return parts


def collections(content: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Where global heap collections are: those whose objects fill them to the end."""
    for found in re.finditer(rb"GCOL\x01\0\0\0", content):
        start = found.start()
        end = start + COLLECTION.unpack_from(content, start)[2]
        *_, last = (start, *(stop for _, _, stop in objects(content, start, end)))
        if end <= len(content) and end - OBJECT.size < last <= end:
            yield start, end


def objects(content: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Index, start of the head, and end of each object of a collection."""
    at = start + COLLECTION.size
    while at + OBJECT.size <= min(end, len(content)):
        index, _, _, size = OBJECT.unpack_from(content, at)
        # The size of the free room has its head in it.
        stop = at + size if index == 0 else at + OBJECT.size + (size + 7) // 8 * 8
        if not at < stop <= end:
            return
        yield index, at, stop
        at = stop


def lists_in(content: mmap.mmap, start: int, end: int) -> Iterator[int]:
    """Bytes of each list of mappings in a collection: no string begins with the number of a list's format version."""
    for index, at, stop in objects(content, start, end):
        if index != 0 and stop - at > OBJECT.size and content[at + OBJECT.size] <= 1:
            yield stop - at
