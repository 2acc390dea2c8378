"""Raw chunks whose bytes do not decode to one chunk."""

import zlib
from collections.abc import Callable

import numpy as np
from h5py import h5p, h5z

from .folder import SHAPE, VALUES, Broken, sound


def stored_chunks(broken: Broken) -> None:
    """Raw chunks whose bytes do not decode to one chunk: libhdf5 crashes on some and reads stray memory for others."""

    def damaged(name: str, wrong: str, pipeline: Callable[[h5p.PropDCID], object], stored: bytes, *says: str) -> None:
        with sound(broken.add(name, wrong, "read", "data", "chunk", *says)) as made:
            del made.file["_version_data/data"]
            made.create("data", "<i4", (4,), filters=pipeline)
            good = made.append("data", VALUES[:4])
            bad = made.append_bytes("data", stored)
            made.link("bad", "data", SHAPE, {(0,): good, (1,): bad})

    chunk = VALUES[4:8].tobytes()
    deflate = lambda plist: plist.set_deflate(4)  # noqa: E731
    damaged("deflate-garbage", "bytes that do not inflate", deflate, b"no deflate stream")
    damaged(
        "deflate-cut",
        "a deflate stream without its end",
        deflate,
        zlib.compress(np.arange(4, dtype="<i4").tobytes())[:-6],
    )
    damaged("deflate-short", "three elements in place of four", deflate, zlib.compress(chunk[:12]))
    damaged("deflate-bomb", "64 MiB in place of 16 bytes", deflate, zlib.compress(bytes(1 << 26)))
    damaged("lzf-garbage", "bytes that LZF does not know", lzf, b"\xff" * 9)
    damaged(
        "fletcher32-wrong",
        "a chunk whose checksum is wrong",
        lambda plist: plist.set_fletcher32(),
        chunk + b"\1\2\3\4",
        "checksum",
    )
    damaged("fletcher32-missing", "a chunk shorter than its checksum", lambda plist: plist.set_fletcher32(), b"\1\2")
    damaged(
        "unknown-filter",
        "a filter that nobody has",
        lambda plist: plist.set_filter(40321, h5z.FLAG_OPTIONAL, (1, 2)),
        b"no one can read this",
        "40321",
    )
    damaged("shuffle-odd-size", "a shuffled chunk of 15 bytes", lambda plist: plist.set_shuffle(), chunk[:15])
    damaged("unfiltered-short", "an unfiltered chunk of 12 bytes", lambda plist: None, chunk[:12])


def lzf(plist: h5p.PropDCID) -> None:
    plist.set_filter(32000, h5z.FLAG_OPTIONAL, (4, 261, 16))
