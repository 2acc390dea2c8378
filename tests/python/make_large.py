"""Writes a file with one dataset of 200 MiB in chunks of 1 MiB that gzip makes small: for tests of memory.

usage: make_large.py FILE

The values are those of a line that starts again with every fourth chunk.
"""

import sys
import zlib
from pathlib import Path

import numpy as np

from interop.handmade import Handmade

CHUNK, DIFFERENT, CHUNKS = 1 << 17, 4, 200


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    values = np.arange(CHUNK * DIFFERENT, dtype="<i8").reshape(DIFFERENT, CHUNK)
    stored = [zlib.compress(chunk.tobytes(), 1) for chunk in values]
    with Handmade(Path(arguments[0])) as made:
        made.create("data", "<i8", (CHUNK,), filters=lambda pipeline: pipeline.set_deflate(1))
        made.version("r0")
        chunk_map: dict[tuple[int, ...], int] = {
            (number,): made.append_bytes("data", stored[number % DIFFERENT]) for number in range(CHUNKS)
        }
        made.link("r0", "data", (CHUNK * CHUNKS,), chunk_map)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
