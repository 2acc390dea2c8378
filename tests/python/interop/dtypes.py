"""Every type that versioned-hdf5 writes, and by hand the ones that it cannot."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5t

from .handmade import Handmade, block, grid
from .package import Writer
from .registry import file

SHAPE, CHUNKS = (7, 5), (3, 2)
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
LONG_TEXTS = ["", "a", "ünïcödé ☃ 🦀", "x" * 5_000, "y" * 70_000, "nul-free", " spaces ", "\n"]


def random_values(dtype: np.dtype, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Values of any fixed-size type from random bytes: NaNs, infinities and denormals among them."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "gG" or dtype.char in "gG":
        return rng.standard_normal(shape).astype(dtype) / 3
    if dtype.kind == "S":
        letters = rng.integers(97, 123, count * dtype.itemsize, dtype=np.uint8).view(dtype)
        return np.array([text[: i % (dtype.itemsize + 1)] for i, text in enumerate(letters)], dtype).reshape(shape)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape).copy()


def three_versions(path: Path, types: dict[str, np.dtype], **options: Any) -> None:
    """Each type: written, then grown and changed in places, then shrunk."""
    with Writer(path, **options) as writer:
        with writer.stage("r0") as group:
            for seed, (name, dtype) in enumerate(types.items()):
                values = random_values(dtype, SHAPE, seed)
                group.create_dataset(name, data=values, dtype=dtype, chunks=CHUNKS)
        with writer.stage("r1") as group:
            for seed, (name, dtype) in enumerate(types.items()):
                group[name].resize((9, 6))
                group[name][4:9, 5] = random_values(dtype, (5,), 100 + seed)
        with writer.stage("r2") as group:
            for name in types:
                group[name].resize((5, 4))


@file("dtype-numbers")
def numbers(path: Path) -> None:
    types = {("le-" if order == "<" else "be-") + text: np.dtype(order + text) for order in "<>" for text in NUMBERS}
    three_versions(path, types | {"long-double": np.dtype("g"), "complex-long-double": np.dtype("G")})


@file("dtype-bool-enum")
def bool_enum(path: Path) -> None:
    small = h5py.enum_dtype({"LOW": -1, "MID": 0, "HIGH": 1}, basetype="i1")
    big_endian = h5py.enum_dtype({"A": 1, "B": 300}, basetype=">i2")
    three_versions(path, {"bool": np.dtype(bool), "enum-i1": small, "enum-be-i2": big_endian})


@file("dtype-fixed-strings")
def fixed_strings(path: Path) -> None:
    three_versions(
        path,
        {
            "ascii": np.dtype("S5"),
            "utf8": h5py.string_dtype("utf-8", 12),
            "one": np.dtype("S1"),
            "long": np.dtype("S300"),
        },
    )


@file("dtype-compound")
def compound(path: Path) -> None:
    nested = np.dtype(
        [("a", ">i2"), ("point", [("x", "<f4"), ("name", "S3")]), ("matrix", "<i4", (2, 3)), ("ok", bool)], align=True
    )
    gaps = np.dtype({"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [3, 8], "itemsize": 24})
    out_of_order = np.dtype({"names": ["late", "early"], "formats": [">u4", "<u2"], "offsets": [4, 0]})
    three_versions(
        path, {"nested": nested, "gaps": gaps, "out-of-order": out_of_order, "one-field": np.dtype([("only", "<i8")])}
    )


@file("dtype-opaque")
def opaque(path: Path) -> None:
    three_versions(path, {"v4": np.dtype("V4"), "v1": np.dtype("V1"), "v33": np.dtype("V33")})


@file("dtype-strings")
def strings(path: Path) -> None:
    texts = np.resize(np.array(LONG_TEXTS, dtype=object), 23)
    plain = np.array([f"row {i}" if i % 3 else "" for i in range(40)], dtype=object).reshape(8, 5)
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("utf8", data=texts, dtype=h5py.string_dtype(), chunks=(4,))
            group.create_dataset("ascii", data=plain, dtype=h5py.string_dtype("ascii"), chunks=(3, 2))
            group.create_dataset("never-written", shape=(11,), dtype=h5py.string_dtype(), chunks=(4,))
            group.create_dataset("no-elements", shape=(0,), dtype=h5py.string_dtype(), chunks=(4,))
            group.create_dataset("gzip", data=texts, dtype=h5py.string_dtype(), chunks=(5,), compression="gzip")
            group.create_dataset("numpy-strings", data=texts.astype(np.dtypes.StringDType()), chunks=(4,))
        with writer.stage("r1") as group:
            group["utf8"].resize((31,))
            group["utf8"][25:28] = np.array(["late", "z" * 100_000, "ß"], dtype=object)
            group["ascii"][2] = "changed"
            group["never-written"][5] = "one"
            group["no-elements"].resize((3,))
            group["no-elements"][1] = "second"
        with writer.stage("r2") as group:
            group["utf8"].resize((9,))
            group["ascii"].resize((4, 4))


@file("dtype-handmade")
def handmade(path: Path) -> None:
    """Types that the package refuses: space-padded and null-terminated strings, tagged opaques, arrays, bit fields."""
    with Handmade(path) as made:
        types = {
            "space-padded": string_type(8, h5t.STR_SPACEPAD),
            "null-terminated": string_type(8, h5t.STR_NULLTERM),
            "null-padded-utf8": string_type(9, h5t.STR_NULLPAD, h5t.CSET_UTF8),
            "datetime": h5t.py_create(h5py.opaque_dtype(np.dtype("<M8[us]")), logical=True),
            "array": h5t.array_create(h5t.STD_I16BE, (2, 3)),
            "bitfield": h5t.STD_B16LE.copy(),
        }
        versions = ["r0", "r1"]
        for number, version in enumerate(versions):
            made.version(version)
            for seed, (name, kind) in enumerate(types.items()):
                if number == 0:
                    made.create(name, kind, (4,))
                shape = (10 + 3 * number,)
                chunk_map = {
                    index: append_random(made, name, kind, 10 * seed + number)
                    for index in grid(shape, (4,))
                    if index != (1,) or number == 0
                }
                made.link(version, name, shape, chunk_map)


def append_random(made: Handmade, name: str, kind: h5t.TypeID, seed: int) -> int:
    """Append a chunk of printable bytes, written as they are."""
    rng = np.random.default_rng(seed + made.raw(name).shape[0])
    values = rng.integers(32, 127, 4 * kind.get_size(), dtype=np.uint8)
    if kind.get_class() == h5t.STRING:
        values.reshape(4, -1)[1, 3:] = ord(" ") if kind.get_strpad() == h5t.STR_SPACEPAD else 0
    return made.append_bytes(name, values.tobytes())


def string_type(size: int, padding: int, charset: int = h5t.CSET_ASCII) -> h5t.TypeID:
    kind = h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(padding)
    kind.set_cset(charset)
    return kind


@file("fill-strings-handmade")
def string_fill(path: Path) -> None:
    """A fill value for variable-length strings: raw chunks that are partly written, and one that is not written."""
    with Handmade(path) as made:
        text = h5py.string_dtype()
        made.create("text", text, (4,))
        # h5py sets such a fill value only through its high-level interface.
        del made.file["_version_data/text/raw_data"]
        raw = made.file.create_dataset(
            "_version_data/text/raw_data", (0,), text, chunks=(4,), maxshape=(None,), fillvalue="x"
        )
        raw.attrs["chunks"] = (4,)
        partly = made.append("text", np.array(["one", "two"], dtype=object))
        unwritten = made.append_unwritten("text")
        made.version("r0")
        source = block(raw.shape, (4 * partly,), (4,))
        nothing = block(raw.shape, (4 * unwritten,), (4,))
        name = raw.name.encode()
        made.link_mappings(
            "r0",
            "text",
            (12,),
            [(block((12,), (0,), (4,)), b".", name, source), (block((12,), (4,), (4,)), b".", name, nothing)],
        )
