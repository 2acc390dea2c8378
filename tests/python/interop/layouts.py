"""The same data in every file structure that h5py writes: format bounds, user blocks, paging, full object headers."""

import itertools
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from .handmade import Handmade, grid
from .package import Writer
from .registry import file

BOUNDS = ["earliest", "v108", "v110", "v112", "v114", "v200", "latest"]


def panel(path: Path, **options: Any) -> None:
    """One to three axes, strings, groups and four versions, so that every structure of the format is there."""
    rng = np.random.default_rng(1)
    with Writer(path, **options) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("line", data=rng.integers(-9, 9, 100), chunks=(7,))
            group.create_dataset("grid/plane", data=rng.standard_normal((20, 33)), chunks=(6, 10), compression="gzip")
            group.create_dataset(
                "grid/deep/cube", data=rng.standard_normal((5, 6, 7)), chunks=(2, 3, 4), fillvalue=-1.5
            )
            texts = np.array([f"text {i}" for i in range(12)], dtype=object)
            group.create_dataset("texts", data=texts, dtype=h5py.string_dtype(), chunks=(5,))
        with writer.stage("r1") as group:
            group["line"].resize((123,))
            group["line"][[0, 50, 122]] = 99
            group["grid/deep/cube"].resize((6, 9, 7))
        with writer.stage("r2") as group:
            group["grid/plane"][3:9, 30:] = 0
            group["texts"][4] = "changed"
        with writer.stage("r3") as group:
            group["grid/plane"].resize((7, 40))
            group.create_dataset("grid/late", data=np.arange(10, dtype=">u2"), chunks=(4,))


for bound in BOUNDS:
    file(f"libver-{bound}")(partial(panel, libver=bound if bound == "latest" else (bound, "latest")))

for size in (512, 1024):
    file(f"userblock-{size}")(partial(panel, userblock_size=size))
file("userblock-2048-latest")(partial(panel, userblock_size=2048, libver="latest"))
file("paged")(partial(panel, fs_strategy="page", fs_page_size=4096))
file("paged-latest")(partial(panel, fs_strategy="page", fs_page_size=512, fs_persist=True, libver="latest"))
file("tracked-order")(partial(panel, track_order=True))


# Addresses and lengths that are not 8 bytes: CramBL/hdf5-pure #546.
for widths in ((4, 4), (4, 8), (8, 4)):
    set_widths = partial(lambda widths, made: made.set_sizes(*widths), widths)
    file(f"widths-{widths[0]}-{widths[1]}")(partial(panel, creation=set_widths))


@file("deep-chunk-index-handmade")
def deep_chunk_index(path: Path) -> None:
    """A version 1 B-tree of two levels over more than 512 chunks, few enough to read a thousand damaged copies."""
    with Handmade(path) as made:
        made.create("data", "<i4", (1, 2), fill=-9)
        rng = np.random.default_rng(5)
        stored = [made.append("data", rng.integers(0, 10**9, (1, 2), "<i4")) for _ in range(600)]
        made.version("r0")
        made.link("r0", "data", (30, 40), dict(zip(grid((30, 40), (1, 2)), stored, strict=True)))


def many_attributes(path: Path, **options: Any) -> None:
    """So many attributes that the object headers continue elsewhere, or that attributes move to a heap."""
    with Writer(path, **options) as writer:
        with writer.stage("r0") as group:
            dataset = group.create_dataset("grp/data", data=np.arange(50), chunks=(7,))
            for number in range(70):
                dataset.attrs[f"attribute {number:02}"] = f"value {number} " * (number % 13)
                group["grp"].attrs[f"{number}"] = number
                group.attrs[f"version attribute {number}"] = [number, number]
        with writer.stage("r1") as group:
            group["grp/data"].attrs["late"] = "after the others"
            group["grp/data"][3] = 0


file("many-attributes")(many_attributes)
file("many-attributes-latest")(partial(many_attributes, libver="latest"))


@file("attribute-kinds")
def attribute_kinds(path: Path) -> None:
    record = np.dtype([("a", ">i2"), ("b", "S3")])
    values = {
        "str": "ünï",
        "empty str": "",
        "bytes": np.bytes_(b"fixed"),
        "int": 5,
        "float": np.float32(0.1),
        "bool": True,
        "complex": 1 + 2j,
        "big-endian": np.arange(3, dtype=">i4"),
        "matrix": np.arange(6.0).reshape(2, 3),
        "no elements": np.zeros((0, 3)),
        "strings": np.array(["a", "", "ccc"], dtype=object),
        "fixed strings": np.array([b"a", b"", b"ccc"]),
        "compound": np.array([(1, b"x"), (2, b"yz")], dtype=record),
        "null": h5py.Empty("f8"),
        "ключ": "name that is not ASCII",
        "large": np.arange(4000, dtype="i8"),
    }
    with Writer(path) as writer:
        with writer.stage("r0") as group:
            group.create_dataset("grp/data", data=np.arange(5), chunks=(3,))
            for item, (name, value) in itertools.product((group, group["grp"], group["grp/data"]), values.items()):
                item.attrs[name] = value
        with writer.stage("r1") as group:
            del group["grp/data"].attrs["str"]
            group["grp/data"].attrs["int"] = 6


@file("names")
def names(path: Path) -> None:
    """Names that are not ASCII, that look like something else, or like the layout's own."""
    with Writer(path) as writer:
        for number, name in enumerate(["0", "-1", "@-1", "версия", "with space", "a.b", "2026-11-30", "x" * 200]):
            with writer.stage(name) as group:
                for path_ in ("данные/ряд", "raw_data", "grp/versions", "a b/c,d", "[0]", "..." + "x" * 100):
                    if number == 0:
                        group.create_dataset(path_, data=np.arange(6), chunks=(4,))
                    else:
                        group[path_][number % 6] = -number


@file("beside-user-data")
def beside_user_data(path: Path) -> None:
    """Objects outside the versioned tree are the user's own."""
    panel(path)
    with h5py.File(path, "r+") as plain:
        plain["own/data"] = np.arange(5)
        plain["link"] = h5py.SoftLink("/_version_data/versions/r0")
        plain.attrs["title"] = "a file with more in it"
