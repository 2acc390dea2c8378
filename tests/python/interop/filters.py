"""Every filter that h5py and hdf5plugin can write, on data that compresses and data that does not."""

from pathlib import Path
from typing import Any, Literal

import hdf5plugin
import numpy as np
from h5py import h5p, h5t, h5z

from .handmade import Handmade, grid
from .package import Writer
from .registry import file

SHAPE, CHUNKS = (120, 70), (32, 32)
SHUFFLES = {
    "plain": hdf5plugin.Blosc.NOSHUFFLE,
    "shuffle": hdf5plugin.Blosc.SHUFFLE,
    "bitshuffle": hdf5plugin.Blosc.BITSHUFFLE,
}
#: Keywords for `create_dataset`.
Pipeline = dict[str, Any]
Codec = Literal["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
BLOSC_CODECS: tuple[Codec, ...] = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")


def sample(dtype: str, seed: int, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    """Half a ramp, which compresses, and half noise, which does not: whole chunks of each."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    noise = np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype=dtype).reshape(shape)
    ramp = (np.arange(count) % 251).astype(dtype).reshape(shape)
    return np.where(np.arange(shape[0])[(slice(None),) + (None,) * (len(shape) - 1)] < shape[0] // 2, ramp, noise)


def two_versions(path: Path, pipelines: dict[str, Pipeline], dtypes: tuple[str, ...] = ("<i4", "<f8", "|u1")) -> None:
    """A dataset for each pipeline and type: written, then changed in one chunk and grown past an edge."""
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            for seed, (name, options) in enumerate(pipelines.items()):
                for dtype in dtypes:
                    data = sample(dtype, seed)
                    group.create_dataset(f"{name}/{dtype[1:]}", data=data, chunks=CHUNKS, **options)
        with writer.stage("r1") as group:
            for name in pipelines:
                for dtype in dtypes:
                    group[f"{name}/{dtype[1:]}"].resize((130, 70))
                    group[f"{name}/{dtype[1:]}"][121, 3:9] = 7


@file("filter-builtin")
def builtin(path: Path) -> None:
    two_versions(
        path,
        {
            "gzip-1": {"compression": "gzip", "compression_opts": 1},
            "gzip-9": {"compression": "gzip", "compression_opts": 9},
            "gzip-shuffle": {"compression": "gzip", "shuffle": True},
            "lzf": {"compression": "lzf"},
            "lzf-shuffle": {"compression": "lzf", "shuffle": True},
            "shuffle": {"shuffle": True},
            "fletcher32": {"fletcher32": True},
            "shuffle-gzip-fletcher32": {"shuffle": True, "compression": "gzip", "fletcher32": True},
            "shuffle-lzf-fletcher32": {"shuffle": True, "compression": "lzf", "fletcher32": True},
        },
        ("<i4", ">f8", "|u1", "<i2"),
    )


@file("filter-szip")
def szip(path: Path) -> None:
    two_versions(
        path,
        {
            "nearest-neighbour": {"compression": "szip", "compression_opts": ("nn", 8)},
            "entropy": {"compression": "szip", "compression_opts": ("ec", 16)},
            "entropy-shuffle": {"compression": "szip", "compression_opts": ("ec", 32), "shuffle": True},
        },
        ("<i4", ">i4", "<f8", "|u1", "<i2"),
    )


@file("filter-scaleoffset")
def scaleoffset(path: Path) -> None:
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            for dtype in ("<i4", ">u2", "<i8"):
                data = (sample("<i4", 1) % 1000).astype(dtype)
                group.create_dataset(f"least-bits/{dtype[1:]}", data=data, chunks=CHUNKS, scaleoffset=0)
            steps = np.linspace(-5, 5, 8400).reshape(SHAPE)
            group.create_dataset("decimals/f8", data=steps, chunks=CHUNKS, scaleoffset=3)
            group.create_dataset("decimals/f4", data=steps.astype("f4"), chunks=CHUNKS, scaleoffset=2)
        with writer.stage("r1") as group:
            group["least-bits/i4"][0, 0] = 5


@file("filter-nbit-handmade")
def nbit(path: Path) -> None:
    """Twenty significant bits of a 32-bit integer, packed."""
    with Handmade(path) as made:
        narrow = h5t.STD_I32LE.copy()
        narrow.set_precision(20)
        narrow.set_offset(4)
        made.create("packed", narrow, (16,), filters=lambda pipeline: pipeline.set_filter(h5z.FILTER_NBIT))
        made.version("r0")
        values = np.arange(-500, 500, 21, dtype="i4")[:40]
        chunks = {i: made.append("packed", values[16 * i[0] :][:16]) for i in grid(values.shape, (16,))}
        made.link("r0", "packed", values.shape, chunks)


@file("filter-zstd-lz4-bzip2")
def plugins(path: Path) -> None:
    two_versions(
        path,
        {
            "zstd": dict(hdf5plugin.Zstd(clevel=3)),
            "zstd-19": dict(hdf5plugin.Zstd(clevel=19)),
            "zstd-shuffle-fletcher32": dict(hdf5plugin.Zstd()) | {"shuffle": True, "fletcher32": True},
            "lz4": dict(hdf5plugin.LZ4()),
            "lz4-small-blocks": dict(hdf5plugin.LZ4(nbytes=512)),
            "bzip2": dict(hdf5plugin.BZip2(blocksize=2)),
        },
    )


@file("filter-blosc")
def blosc(path: Path) -> None:
    pipelines = {
        f"{codec}-{name}": dict(hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=shuffle))
        for codec in BLOSC_CODECS
        for name, shuffle in SHUFFLES.items()
    }
    two_versions(path, pipelines | {"stored": dict(hdf5plugin.Blosc(clevel=0))}, ("<i4", "<f8"))


@file("filter-blosc2")
def blosc2(path: Path) -> None:
    kinds = {
        "plain": hdf5plugin.Blosc2.NOFILTER,
        "shuffle": hdf5plugin.Blosc2.SHUFFLE,
        "bitshuffle": hdf5plugin.Blosc2.BITSHUFFLE,
        "delta": hdf5plugin.Blosc2.DELTA,
    }
    pipelines = {
        f"{codec}-{name}": dict(hdf5plugin.Blosc2(cname=codec, clevel=5, filters=kind))
        for codec in BLOSC_CODECS
        for name, kind in kinds.items()
    }
    two_versions(path, pipelines, ("<i4",))


@file("filter-bitshuffle")
def bitshuffle(path: Path) -> None:
    pipelines = {codec: dict(hdf5plugin.Bitshuffle(cname=codec)) for codec in ("none", "lz4", "zstd")}
    two_versions(path, pipelines | {"lz4-small-blocks": dict(hdf5plugin.Bitshuffle(nelems=64, cname="lz4"))})


@file("filter-element-sizes")
def element_sizes(path: Path) -> None:
    """Element sizes that are no power of two, and a chunk whose length is no multiple of eight."""
    with Writer(path) as writer, writer.stage("r0") as group:
        pipelines = {
            "gzip": {"compression": "gzip", "shuffle": True},
            "blosc": dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.SHUFFLE)),
            "blosc-bits": dict(hdf5plugin.Blosc(cname="lz4", shuffle=hdf5plugin.Blosc.BITSHUFFLE)),
            "bitshuffle": dict(hdf5plugin.Bitshuffle()),
            "lzf": {"compression": "lzf", "shuffle": True},
        }
        for name, options in pipelines.items():
            for size in (1, 3, 7, 12, 257):
                letters = (np.arange(53 * size) // 5 % 26 + 97).astype("u1").view(f"S{size}")
                group.create_dataset(f"{name}/S{size}", data=letters, chunks=(13,), **options)


@file("filter-strings-and-compounds")
def other_types(path: Path) -> None:
    with Writer(path) as writer, writer.stage("r0") as group:
        record = np.dtype([("a", ">i2"), ("b", "S3"), ("c", "<f8")])
        data = np.zeros(50, record)
        data["a"], data["b"], data["c"] = np.arange(50), b"xy", np.linspace(0, 1, 50)
        texts = np.array([f"text {i}" * (i % 4) for i in range(50)], dtype=object)
        for name, options in {
            "gzip": {"compression": "gzip", "shuffle": True},
            "zstd": dict(hdf5plugin.Zstd()),
        }.items():
            group.create_dataset(f"compound-{name}", data=data, chunks=(16,), **options)
            group.create_dataset(f"bool-{name}", data=data["a"] % 3 == 0, chunks=(16,), **options)
            group.create_dataset(f"str-{name}", data=texts, chunks=(16,), **options)


@file("filter-mask-handmade")
def masks(path: Path) -> None:
    """Chunks that skip filters of their pipeline: none, either, both; as writers store what does not compress."""
    values = np.arange(64, dtype="<i4")
    with Handmade(path) as made:

        def pipeline(plist: h5p.PropDCID) -> None:
            plist.set_shuffle()
            plist.set_deflate(4)

        def checked(plist: h5p.PropDCID) -> None:
            plist.set_fletcher32()

        made.create("masked", "<i4", (16,), filters=pipeline)
        made.create("checked", "<i4", (16,), filters=checked)
        made.version("r0")
        stored = [filtered(values[16 * i : 16 * i + 16], mask) for i, mask in enumerate((0, 1, 2, 3))]
        numbers = [made.append_bytes("masked", content, mask) for mask, content in enumerate(stored)]
        made.link("r0", "masked", (60,), {(i,): number for i, number in enumerate(numbers)})
        unchecked = made.append_bytes("checked", values[:16].tobytes(), 1)
        made.link("r0", "checked", (30,), {(0,): unchecked, (1,): made.append("checked", values[:14])})


def filtered(values: np.ndarray, mask: int) -> bytes:
    """Shuffle unless bit 0 is set, then deflate unless bit 1 is set."""
    import zlib

    content = values.tobytes()
    if not mask & 1:
        content = np.frombuffer(content, "u1").reshape(-1, values.itemsize).T.tobytes()
    return content if mask & 2 else zlib.compress(content, 4)


@file("filter-optional-incompressible")
def incompressible(path: Path) -> None:
    """Third-party filters that give up on four random integers: the chunk is kept raw with its mask bit set."""
    with Writer(path) as writer, writer.stage("r0") as group:
        noise = np.frombuffer(np.random.default_rng(5).bytes(32), "<i4")
        filters = {
            "blosc": hdf5plugin.Blosc(),
            "blosc2": hdf5plugin.Blosc2(),
            "lz4": hdf5plugin.LZ4(),
            "bitshuffle": hdf5plugin.Bitshuffle(),
            "zstd": hdf5plugin.Zstd(),
        }
        for name, options in filters.items():
            group.create_dataset(name, data=noise, chunks=(4,), **options)
        group.create_dataset("lzf", data=noise, chunks=(4,), compression="lzf")
        group.create_dataset("gzip", data=noise, chunks=(4,), compression="gzip")


@file("filter-unknown-handmade")
def unknown(path: Path) -> None:
    """A filter that nobody has, but every chunk that is used skips it; `broken` holds its counterpart."""
    with Handmade(path) as made:
        made.create("skipped", "<i4", (4,), filters=lambda plist: plist.set_filter(40321, h5z.FLAG_OPTIONAL, (1, 2)))
        made.version("r0")
        number = made.append_bytes("skipped", np.arange(4, dtype="<i4").tobytes(), 1)
        made.append_bytes("skipped", b"no one can read this", 0)
        made.link("r0", "skipped", (8,), {(0,): number})
