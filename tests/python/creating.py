"""What h5py and hdf5plugin do, as answers for the tests of creating datasets.

creating.py guess           JSON: [length, element size, chunk length] of h5py's guess_chunk
creating.py cast            JSON: [from, to, values, values as NumPy casts them], values in hexadecimal
creating.py filters FOLDER  checks FOLDER/cases.json: filters against what h5py puts on a dataset, and
                            stored chunks against the values h5py reads from them
"""

import itertools
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from h5py._hl.filters import guess_chunk


def guesses() -> list[list[int]]:
    """Chunk lengths at powers of two and ten, beside them, and anywhere."""
    random = np.random.default_rng(1)
    lengths = {0, 1, 2, 3, 1000, 4096, 10_000_000}
    for power in range(50):
        lengths.update({2**power - 1, 2**power, 2**power + 1})
    lengths.update(10**power for power in range(16))
    lengths.update(int(10**x) for x in random.uniform(0, 14, 300))
    sizes = (1, 2, 3, 4, 8, 12, 16, 300, 70_000, 3_000_000)
    return [
        [length, size, guess_chunk((length,), None, size)[0]]
        for length, size in itertools.product(sorted(lengths), sizes)
    ]


NUMBERS = ["|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", ">u8"]
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
COMPLEX = ["<c8", ">c8", "<c16"]


def samples(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The ends of a type's range, what lies about zero, and anything."""
    random = np.random.default_rng(2)
    if dtype.kind == "b":
        return np.array([False, True], dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [info.min, info.max, info.max // 2, 0, 1, info.max // 2 + 1, info.max - 1]
        anything = random.integers(info.min, info.max, 200, dtype.newbyteorder("="))
        return np.concatenate([np.array(values, dtype), anything]).astype(dtype)
    if dtype.kind == "c":
        parts = random.normal(0, 100, (50, 2))
        return (parts[:, 0] + 1j * parts[:, 1]).astype(dtype)
    if dtype.kind == "f":
        numbers: list[float] = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.9, -128.9, 255.5, 300.0, -300.0, 32768.0, 65504.0]
        numbers += [2.0**31, 2.0**31 - 1, -(2.0**31), 2.0**32, 2.0**53 + 1, 2.0**62, np.inf, -np.inf, np.nan]
        numbers += list(random.normal(0, 1000, 100)) + list(10 ** random.uniform(-10, 10, 100))
        return np.array(numbers).astype(dtype)
    return np.array([b"", b"a", b"abc", b"abcdefg", b"a\0b"], dtype)


def casts() -> list[list[str]]:
    """Values of every type as every other."""
    pairs = list(itertools.product(NUMBERS + FLOATS, NUMBERS + FLOATS + COMPLEX))
    pairs += list(itertools.product(COMPLEX, COMPLEX))
    strings = ["|S1", "|S3", "|S7", "|S9"]
    pairs += list(itertools.product(strings, strings))
    rows = []
    for before, after in pairs:
        values = samples(np.dtype(before))
        if before[1] == "f" and after[1] in "iu":
            # C leaves it to the processor what an integer is that the type cannot hold.
            info = np.iinfo(after)
            wide = values.astype("f8")
            values = values[(wide > float(info.min) - 1) & (wide < float(info.max) + 1)]
            whole = np.trunc(values.astype("f8"))
            values = values[(whole >= float(info.min)) & (whole < 2.0 ** (info.bits - (info.min < 0)))]
        rows.append([before, after, values.tobytes().hex(), values.astype(after).tobytes().hex()])
    return rows


def element_type(text: str | list[list[str]]) -> np.dtype[Any]:
    """The type of a case: a name, or members."""
    if isinstance(text, list):
        return np.dtype([(name, member) for name, member in text])
    return h5py.string_dtype() if text == "str" else np.dtype(text)


def arguments(case: dict[str, Any]) -> dict[str, Any]:
    """What h5py's create_dataset takes for a case."""
    found = dict(case["arguments"])
    plugin = found.pop("plugin", None)
    if plugin is not None:
        found.update(getattr(hdf5plugin, plugin)(**found.pop("plugin_arguments")))
    if isinstance(found.get("compression_opts"), list):
        found["compression_opts"] = tuple(found["compression_opts"])
    return found


def check_filters(folder: Path) -> None:
    """Compares filters and reads chunks; names all differences."""
    failures = []
    cases = json.loads((folder / "cases.json").read_text())
    with h5py.File(folder / "check.h5", "w") as file:
        for number, case in enumerate(cases):
            dtype = element_type(case["dtype"])
            chunk_shape = tuple(case["chunk_shape"])
            shape = (chunk_shape[0] * max(len(case["chunks"]), 1), *chunk_shape[1:])
            dataset = file.create_dataset(str(number), shape, dtype, chunks=chunk_shape, **arguments(case))
            plist = dataset.id.get_create_plist()
            found = [plist.get_filter(index) for index in range(plist.get_nfilters())]
            expected = [(f["id"], int(f["optional"]), tuple(f["params"]), f["name"].encode()) for f in case["filters"]]
            if found != expected:
                failures.append(f"{case['arguments']} on {dtype}: h5py has {found}, we {expected}")
            for index, chunk in enumerate(case["chunks"]):
                start = (index * chunk_shape[0],) + (0,) * (len(shape) - 1)
                dataset.id.write_direct_chunk(start, bytes.fromhex(chunk["stored"]), chunk["mask"])
    # Opened again: libhdf5 2.0 reads the chunk written last as if its mask were 0, until it looks up another.
    with h5py.File(folder / "check.h5") as file:
        for number, case in enumerate(cases):
            length = case["chunk_shape"][0]
            for index, chunk in enumerate(case["chunks"]):
                try:
                    read = file[str(number)][index * length : (index + 1) * length].tobytes()
                except OSError as error:
                    read = str(error)
                if read != bytes.fromhex(chunk["values"]):
                    failures.append(f"{number}, {case['dtype']}, {case['arguments']}, chunk {index}: {read!r:.80}")
    if failures:
        raise SystemExit("\n".join(failures))
    print(len(cases))


def main() -> None:
    """Runs one of the commands."""
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["guess"]:
            print(json.dumps(guesses()))
        case ["cast"]:
            print(json.dumps(casts()))
        case ["filters", folder]:
            check_filters(Path(folder))
        case _:
            raise SystemExit(__doc__)


main()
