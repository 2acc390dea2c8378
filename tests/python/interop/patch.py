"""Changes bytes of a virtual dataset's mapping list and mends its checksum, for lists that HDF5 would not write."""

from pathlib import Path

#: HDF5 File Format Specification, III.E "Disk Format: Level 1E - Global Heap": 16 bytes of header, then the objects.
HEAP_SIGNATURE = b"GCOL"
HEAP_HEADER = OBJECT_HEADER = 16
WORD = 0xFFFF_FFFF


def patch_mappings(path: Path, old: bytes, new: bytes, mend: bool = True) -> None:
    """Replace `old`, which stands once in a mapping list, by `new` of the same length."""
    content = bytearray(path.read_bytes())
    if content.count(old) != 1 or len(old) != len(new):
        raise ValueError(f"{path.name}: {content.count(old)} times {old!r}")
    at = content.index(old)
    start, end = heap_object(content, at)
    content[at : at + len(new)] = new
    if mend:
        content[end - 4 : end] = lookup3(bytes(content[start : end - 4])).to_bytes(4, "little")
    path.write_bytes(content)


def heap_object(content: bytearray, at: int) -> tuple[int, int]:
    """Bounds of the global heap object around the byte at `at`."""
    start = content.rindex(HEAP_SIGNATURE, 0, at) + HEAP_HEADER
    while start <= at:
        size = int.from_bytes(content[start + 8 : start + 16], "little")
        data = start + OBJECT_HEADER
        if data <= at < data + size:
            return data, data + size
        start = data + (size + 7) // 8 * 8
    raise ValueError("not in a heap object")


def lookup3(data: bytes) -> int:
    """Bob Jenkins' lookup3 hash (hashlittle, initial value 0), which HDF5 uses for checksums of metadata."""

    def rotate(word: int, by: int) -> int:
        return ((word << by) | (word >> (32 - by))) & WORD

    a = b = c = (0xDEADBEEF + len(data)) & WORD
    if not data:
        return c
    last = (len(data) - 1) // 12 * 12
    for at in range(0, last, 12):
        a = (a + int.from_bytes(data[at : at + 4], "little")) & WORD
        b = (b + int.from_bytes(data[at + 4 : at + 8], "little")) & WORD
        c = (c + int.from_bytes(data[at + 8 : at + 12], "little")) & WORD
        a = ((a - c) & WORD) ^ rotate(c, 4)
        c = (c + b) & WORD
        b = ((b - a) & WORD) ^ rotate(a, 6)
        a = (a + c) & WORD
        c = ((c - b) & WORD) ^ rotate(b, 8)
        b = (b + a) & WORD
        a = ((a - c) & WORD) ^ rotate(c, 16)
        c = (c + b) & WORD
        b = ((b - a) & WORD) ^ rotate(a, 19)
        a = (a + c) & WORD
        c = ((c - b) & WORD) ^ rotate(b, 4)
        b = (b + a) & WORD
    tail = data[last:].ljust(12, b"\0")
    a = (a + int.from_bytes(tail[:4], "little")) & WORD
    b = (b + int.from_bytes(tail[4:8], "little")) & WORD
    c = (c + int.from_bytes(tail[8:], "little")) & WORD
    for left, right, by in (
        ("c", "b", 14),
        ("a", "c", 11),
        ("b", "a", 25),
        ("c", "b", 16),
        ("a", "c", 4),
        ("b", "a", 14),
        ("c", "b", 24),
    ):
        words = {"a": a, "b": b, "c": c}
        words[left] = ((words[left] ^ words[right]) - rotate(words[right], by)) & WORD
        a, b, c = words["a"], words["b"], words["c"]
    return c
