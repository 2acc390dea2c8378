"""Files with virtual datasets that have no mappings yet, and what they must hold when they have.

`make FILE FORM CHUNKS` makes one, `check FILE GONE...` compares all datasets but those that are gone, and
`alter FILE GONE...` has libhdf5 delete these and use the global heap again. What is mapped where is told by the same
rules on the other side.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

RAW_CHUNKS = 40
CHUNK = (4, 5)
SHAPE = (17, 13)
SMALL = 12
LARGE_CHUNK = 2
FILL = -1

#: Name of a form: bounds of the library version, bytes of user block, size of offsets and lengths, what else is odd.
FORMS: dict[str, tuple[int, int, int, int, str]] = {
    "earliest": (h5f.LIBVER_EARLIEST, h5f.LIBVER_V110, 0, 8, ""),
    "user_block_512": (h5f.LIBVER_EARLIEST, h5f.LIBVER_V110, 512, 8, ""),
    "narrow": (h5f.LIBVER_EARLIEST, h5f.LIBVER_V110, 0, 4, ""),
    "strategy": (h5f.LIBVER_EARLIEST, h5f.LIBVER_V110, 0, 8, "none"),
    "v18": (h5f.LIBVER_V18, h5f.LIBVER_V110, 0, 8, ""),
    "v18_narrow": (h5f.LIBVER_V18, h5f.LIBVER_V110, 512, 4, ""),
    "v110": (h5f.LIBVER_V110, h5f.LIBVER_V110, 0, 8, ""),
    "v110_user_block_1024": (h5f.LIBVER_V110, h5f.LIBVER_V110, 1024, 8, ""),
    "v110_order": (h5f.LIBVER_V110, h5f.LIBVER_V110, 0, 8, "order"),
    "v112": (h5f.LIBVER_V112, h5f.LIBVER_V112, 0, 8, ""),
    "latest": (h5f.LIBVER_LATEST, h5f.LIBVER_LATEST, 0, 8, ""),
    "paged": (h5f.LIBVER_V110, h5f.LIBVER_V110, 0, 8, "page"),
    "kept": (h5f.LIBVER_V110, h5f.LIBVER_V110, 0, 8, "persist"),
}
STRATEGIES = {
    "none": (h5f.FSPACE_STRATEGY_NONE, False),
    "page": (h5f.FSPACE_STRATEGY_PAGE, False),
    "persist": (h5f.FSPACE_STRATEGY_FSM_AGGR, True),
}


def create(form: str, path: Path) -> h5py.File:
    low, high, user_block, size, odd = FORMS[form]
    creation, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(low, high)
    creation.set_userblock(user_block)
    creation.set_sizes(size, size)
    if odd in STRATEGIES:
        strategy, persist = STRATEGIES[odd]
        creation.set_file_space_strategy(strategy, persist, 1)
    return h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, creation, access))


def make_virtual(file: h5py.File, name: str, shape: tuple[int, ...], dtype: str, order: bool) -> None:
    """A virtual dataset without mappings."""
    creation = h5p.create(h5p.DATASET_CREATE)
    creation.set_layout(h5d.VIRTUAL)
    creation.set_fill_value(np.array(FILL, dtype))
    if order:
        creation.set_attr_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    h5d.create(file.id, name.encode(), h5t.py_create(np.dtype(dtype)), h5s.create_simple(shape), creation, links)


def make(form: str, path: Path, large_chunks: int) -> None:
    order = FORMS[form][4] == "order"
    with create(form, path) as file:
        rows = RAW_CHUNKS * CHUNK[0]
        raw = np.arange(rows * CHUNK[1], dtype="i4").reshape(rows, CHUNK[1])
        file.create_dataset("raw", data=raw, chunks=CHUNK, maxshape=(None, CHUNK[1]))
        file.create_dataset("raw_1", data=np.arange(2000, dtype="i2"), chunks=(LARGE_CHUNK,), maxshape=(None,))
        for number in range(SMALL):
            name = f"small/{number}"
            make_virtual(file, name, SHAPE, "i4", order)
            # More than the first block of a header has room for, in the end.
            for attribute in range(number):
                file[name].attrs[f"note {attribute}"] = f"of {number}: " + "x" * 50
        make_virtual(file, "large", (large_chunks * LARGE_CHUNK - 1,), "i2", order)
        make_virtual(file, "empty", SHAPE, "i4", order)
    if FORMS[form][2]:
        with path.open("r+b") as plain:
            plain.write(b"user block")


def expected(path: Path) -> Iterator[tuple[str, int, np.ndarray[Any, Any]]]:
    """Name, number of mappings and values of every virtual dataset."""
    with h5py.File(path) as file:
        raw, raw_1, (elements,) = file["raw"][()], file["raw_1"][()], (2 * LARGE_CHUNK,)
        names = set(file) | {f"small/{name}" for name in file["small"]}
        if "large" in names:
            (elements,) = file["large"].shape
    for number in range(SMALL):
        if f"small/{number}" not in names:
            continue
        values, count = np.full(SHAPE, FILL, "i4"), 0
        columns = -(-SHAPE[1] // CHUNK[1])
        for chunk in range(-(-SHAPE[0] // CHUNK[0]) * columns):
            if (chunk + number) % 4 == 0:
                continue
            place = values[
                chunk // columns * CHUNK[0] : (chunk // columns + 1) * CHUNK[0],
                chunk % columns * CHUNK[1] : (chunk % columns + 1) * CHUNK[1],
            ]
            first = (chunk * 7 + number) % RAW_CHUNKS * CHUNK[0]
            place[...] = raw[first : first + CHUNK[0]][: place.shape[0], : place.shape[1]]
            count += 1
        yield f"small/{number}", count, values
    if "large" in names:
        yield "large", (elements + 1) // LARGE_CHUNK, np.resize(raw_1, elements)
    yield "empty", 0, np.full(SHAPE, FILL, "i4")


def check(path: Path, gone: list[str]) -> None:
    found = []
    for name, count, values in list(expected(path)):
        with h5py.File(path) as file:
            dataset = file[name]
            mappings = dataset.id.get_create_plist().get_virtual_count()
            if mappings != count or not np.array_equal(dataset[()], values):
                raise SystemExit(f"{path.name}: {name} differs ({mappings} mappings, expected {count})")
            for attribute, text in dataset.attrs.items():
                if text != f"of {name[6:]}: " + "x" * 50:
                    raise SystemExit(f"{path.name}: attribute {attribute} of {name} is {text!r}")
            found.append(name)
    everything = {f"small/{number}" for number in range(SMALL)} | {"large", "empty"}
    if set(found) != everything - set(gone):
        raise SystemExit(f"{path.name}: {sorted(found)} are there")
    with h5py.File(path) as file:
        if "later" in file:
            later = file["later"]
            texts = [value.decode() for value in later["texts"][()]]
            if texts != [f"text {number}" * number for number in range(200)] or later["virtual"][()].tolist() != [1, 2]:
                raise SystemExit(f"{path.name}: what was written later differs")
            for number in range(60):
                if later.attrs[f"a {number}"] != "later " * number:
                    raise SystemExit(f"{path.name}: attribute {number} differs")
    if h5py.File(path).userblock_size and not path.read_bytes().startswith(b"user block"):
        raise SystemExit(f"{path.name}: the user block differs")


def alter(path: Path, gone: list[str]) -> None:
    with h5py.File(path, "r+") as file:
        for name in gone:
            del file[name]
        later = file.create_group("later")
        for number in range(60):
            later.attrs[f"a {number}"] = "later " * number
        later["texts"] = np.array([f"text {number}" * number for number in range(200)], dtype=h5py.string_dtype())
        layout = h5py.VirtualLayout((2,), "i2")
        layout[:] = h5py.VirtualSource(".", "raw_1", (2000,))[1:3]
        later.create_virtual_dataset("virtual", layout)


def main() -> None:
    command, path, *arguments = sys.argv[1:]
    match command:
        case "make":
            make(arguments[0], Path(path), int(arguments[1]))
        case "check":
            check(Path(path), arguments)
        case "alter":
            alter(Path(path), arguments)
        case _:
            raise SystemExit(f"no command {command}")


if __name__ == "__main__":
    main()
