"""Plain HDF5 files for the tests of snapshots, and what h5py and versioned-hdf5 make of the outcome.

snapshots.py make FOLDER                      plain files, of every kind that is carried and that is not
snapshots.py same PLAIN FILE VERSION          the version reads as the plain file, by h5py and by versioned-hdf5
snapshots.py stored PLAIN OTHER               both plain files are stored alike: chunks, filters, fill values
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from versioned_hdf5 import VersionedHDF5File

DTYPES: list[Any] = [
    "|b1", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u8", "<f2", "<f4", ">f8", "<c8", "<c16", "S5",
    [("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")],
]  # fmt: skip

FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "gzip": {"compression": "gzip", "compression_opts": 4},
    "shuffle_gzip_sum": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "lzf": {"compression": "lzf"},
    "zstd": dict(hdf5plugin.Zstd()),
    "lz4": dict(hdf5plugin.LZ4()),
    "blosc": dict(hdf5plugin.Blosc()),
    "bitshuffle": dict(hdf5plugin.Bitshuffle()),
}

FORMAT_ATTRIBUTES = {"raw_data", "chunks", "prev_version", "committed", "timestamp", "user_block"}


def values(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Values of any type, none of them all of one kind."""
    count = int(np.prod(shape))
    raw = np.random.default_rng(count).integers(1, 100, count)
    if dtype.kind == "b":
        return np.equal(raw % 2, 0).reshape(shape)
    if dtype.kind == "S":
        return np.array([b"x" * (n % 5) for n in raw], dtype).reshape(shape)
    if dtype.names:
        array = np.zeros(count, dtype)
        array["a"], array["b"], array["c"] = raw, raw[:, None] / 2, b"ab"
        return array.reshape(shape)
    return raw.astype(dtype).reshape(shape)


def text(count: int) -> list[str]:
    return [("", "a", "größer", "long " * (n % 9))[n % 4] for n in range(count)]


def make_every(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for number, name in enumerate(DTYPES):
            dtype = np.dtype(name)
            group = file.create_group(f"types/{number:02}")
            group.attrs["number"] = number
            group.create_dataset("contiguous", data=values(dtype, (7, 11)))
            group.create_dataset("chunked", data=values(dtype, (7, 11)), chunks=(3, 4), compression="gzip")
            group.create_dataset("line", data=values(dtype, (23,)), chunks=(5,))
        for name, options in FILTERS.items():
            file.create_dataset(f"filters/{name}", data=values(np.dtype("<i8"), (60, 50)), chunks=(16, 30), **options)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((6,))
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT32, space, creation)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype="i4"))
        kind = h5py.string_dtype()
        strings = np.array(text(60), object)
        file.create_dataset("strings/contiguous", data=strings, dtype=kind)
        file.create_dataset(
            "strings/chunked", data=strings.reshape(12, 5), dtype=kind, chunks=(5, 2), compression="gzip"
        )
        sparse = file.create_dataset("strings/sparse", (100,), kind, chunks=(10,), fillvalue=b"unset")
        sparse[35:41] = "set"
        sparse = file.create_dataset("sparse", (1000, 1000), "<f8", chunks=(10, 10), fillvalue=-1.5)
        sparse[500:507, 20:60] = 2.0
        file.create_dataset("empty", (0, 5), "<i4", maxshape=(None, 5), chunks=(4, 5))
        bits = h5py.h5t.STD_I32LE.copy()
        bits.set_precision(12)
        bits.set_offset(4)
        narrow = h5py.h5d.create(file.id, b"narrow", bits, h5py.h5s.create_simple((9,)))
        narrow.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(-4, 5, dtype="i4"))
        file["hard"] = file["filters/gzip"]
        file["soft"] = h5py.SoftLink("/filters/lzf")
        file.create_group("nothing/below")
        attrs = file["filters"].attrs
        attrs["text"], attrs["bytes"], attrs["list"] = "größe", np.bytes_(b"abc"), ["x", "", "yz"]
        attrs["array"], attrs["truth"], attrs["null"] = np.arange(6.0).reshape(2, 3), np.True_, h5py.Empty("f4")
        file.attrs["title"] = "every kind"
        file["sparse"].attrs["_FillValue"] = -1.5


def make_days(folder: Path) -> None:
    closes = np.random.default_rng(5).normal(size=(40, 30))
    names = np.array([f"name {n}" for n in range(30)], object)
    for day in range(3):
        with h5py.File(folder / f"day{day}.h5", "w") as file:
            layouts: list[dict[str, Any]] = [
                {"chunks": (10, 10), "compression": "gzip"},
                {},
                {"chunks": (16, 7), "compression": "lzf"},
            ]
            options = layouts[day]
            file.create_dataset("px/close", data=closes, **options)
            file.create_dataset("px/fixed", data=np.arange(100), chunks=(10,), fillvalue=day)
            file.create_dataset("names", data=names, dtype=h5py.string_dtype(), chunks=(7,))
            file.create_dataset(f"only/{day}", data=np.arange(5))
            file.attrs["day"] = day
            file["px/close"].attrs["unit"] = "USD"
        closes = closes.copy()
        closes[3, 25] += 1
        if day == 1:
            names = names.copy()
            names[29] = "another"


def make_left(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["kept"] = np.arange(10)
        file["scalar"] = 5
        file["null"] = h5py.Empty("f8")
        file.create_dataset("sequences", (3,), h5py.vlen_dtype("<i4"))
        file.create_dataset("references", (3,), h5py.ref_dtype)
        file["type"] = np.dtype("<i4")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["elsewhere"] = h5py.ExternalLink("no-such-file.h5", "/x")
        file["group/inner"] = np.arange(3)
        file["group/cycle"] = file["group"]
        file["group/raw_data"] = np.arange(3)
        file["versions/x"] = np.arange(3)
        file.create_dataset("scaled", data=np.arange(100), chunks=(10,), scaleoffset=0)
        scale = file["kept"]
        scale.make_scale("kept")
        file["along"] = np.arange(10.0)
        file["along"].dims[0].attach_scale(scale)
        file["kept"].attrs["raw_data"] = "mine"
        file.attrs["timestamp"] = "mine"
        with h5py.File(path.with_name("libver.h5"), "w", libver="latest") as wide:
            wide["x"] = np.arange(4)
            wide["x"].attrs["wide"] = np.arange(20_000)


def make(folder: Path) -> None:
    make_every(folder / "every.h5")
    make_days(folder)
    make_left(folder / "left.h5")


def listing(group: h5py.Group, path: str = "") -> dict[str, h5py.Group | h5py.Dataset]:
    found = {path: group}
    for name in group:
        item = group[name]
        below = f"{path}/{name}"
        found.update(listing(item, below) if isinstance(item, h5py.Group) else {below: item})
    return found


def assert_same_attributes(one: h5py.AttributeManager, other: h5py.AttributeManager, path: str) -> None:
    names, others = set(one) - FORMAT_ATTRIBUTES, set(other) - FORMAT_ATTRIBUTES
    assert names == others, (path, names ^ others)
    for name in names:
        a, b = one[name], other[name]
        if isinstance(a, h5py.Empty):
            assert a == b, (path, name)
            continue
        assert type(a) is type(b), (path, name, type(a), type(b))
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.array_equal(a, b), (path, name)
        assert one.get_id(name).shape == other.get_id(name).shape, (path, name)


def assert_same_values(one: np.ndarray, other: np.ndarray, path: str) -> None:
    assert one.shape == other.shape, path
    assert one.dtype == other.dtype, (path, one.dtype, other.dtype)
    if one.dtype == object:
        assert one.tolist() == other.tolist(), path
    else:
        assert one.tobytes() == other.tobytes(), path


def opened(plain: Path) -> h5py.File:
    """For writing: a fill value that is a string cannot be read by libhdf5 otherwise, it wants to store it first."""
    return h5py.File(plain, "r+")


def same(plain: Path, versioned: Path, version: str) -> None:
    with opened(plain) as expected, h5py.File(versioned) as file:
        found = listing(file["_version_data/versions"][version])
        wanted = listing(expected)
        assert wanted.keys() == found.keys(), wanted.keys() ^ found.keys()
        package = VersionedHDF5File(file)[version]
        for path, item in wanted.items():
            assert_same_attributes(item.attrs, found[path].attrs, path)
            if isinstance(item, h5py.Dataset):
                assert_same_values(item[()], found[path][()], path)
                assert_same_values(item[()], package[path.strip("/")][()], path)


def stored(plain: Path, other: Path) -> None:
    def filters(dataset: h5py.Dataset) -> list[Any]:
        creation = dataset.id.get_create_plist()
        return [creation.get_filter(n) for n in range(creation.get_nfilters())]

    with opened(plain) as one, opened(other) as two:
        wanted, found = listing(one), listing(two)
        assert wanted.keys() == found.keys(), wanted.keys() ^ found.keys()
        for path, item in wanted.items():
            assert_same_attributes(item.attrs, found[path].attrs, path)
            if not isinstance(item, h5py.Dataset):
                continue
            assert_same_values(item[()], found[path][()], path)
            if item.chunks:
                assert item.chunks == found[path].chunks, path
                assert filters(item) == filters(found[path]), path
                if item.dtype != object:
                    assert item.fillvalue == found[path].fillvalue or item.dtype.names, path
            else:
                assert found[path].chunks, path


COMMANDS: dict[str, Callable[..., None]] = {"make": make, "same": same, "stored": stored}

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    paths = [Path(argument) if number < 2 else argument for number, argument in enumerate(arguments)]
    COMMANDS[command](*paths)
