"""The checksum by which answers are compared, the same in every engine and language."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 8


def result_bytes(values: NDArray[Any]) -> bytes | NDArray[np.uint8]:
    """The bytes of a result: C order; of strings each one's byte length as u64 little-endian, then its UTF-8."""
    if values.dtype != object:
        return np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    parts = []
    for value in values.reshape(-1):
        text = value.encode() if isinstance(value, str) else value
        parts += [struct.pack("<Q", len(text)), text]
    return b"".join(parts)


def checksum(values: NDArray[Any]) -> str:
    """Sum of word i times (2 i + 1), modulo 2^64, over the result's little-endian 8-byte words, in hexadecimal.

    The last word is padded with zeros. An odd factor of its own for each word makes any changed word, and almost
    any two swapped ones, show.
    """
    data = result_bytes(values)
    whole = len(data) // WORD * WORD
    words = np.frombuffer(data, "<u8", whole // WORD)
    factors = np.arange(1, 2 * len(words) + 1, 2, dtype=np.uint64)
    total = int(np.dot(words, factors))
    tail = int.from_bytes(bytes(data[whole:]), "little")
    return f"{(total + tail * (2 * len(words) + 1)) % 2**64:016x}"


def checksum_of_ones(size: int) -> str:
    """The checksum of `size` bytes made of words that are 1: the sum of the first odd numbers."""
    return f"{(size // WORD) ** 2 % 2**64:016x}"
