"""Checks that `h5strata ls` tells the filters and fill values that h5py and hdf5plugin tell.

listings_agree.py PROGRAM FILE...

Prints what differs and fails.
"""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import numpy as np
from h5py import h5t, h5z

FIRST_VERSION = "__first_version__"

#: Filters of libhdf5 and h5py; the first of a deflated dataset's values is the level.
BUILTIN = {
    h5z.FILTER_DEFLATE: "gzip",
    h5z.FILTER_SHUFFLE: "shuffle",
    h5z.FILTER_FLETCHER32: "fletcher32",
    h5z.FILTER_SZIP: "szip",
    h5z.FILTER_NBIT: "nbit",
    h5z.FILTER_SCALEOFFSET: "scaleoffset",
    h5z.FILTER_LZF: "lzf",
}

#: How Blosc arranges bytes, by its number.
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]


def main() -> int:
    program = Path(sys.argv[1])
    checked, differences = 0, []
    for path in map(Path, sys.argv[2:]):
        found = list(check_file(program, path))
        checked += len(found)
        differences += [text for text in found if text]
    print("\n".join(differences), file=sys.stderr, end="")
    print(f"{checked} datasets")
    return 1 if differences or not checked else 0


def check_file(program: Path, path: Path) -> list[str]:
    """What differs, an empty text for each dataset that is told alike."""
    results = []
    with h5py.File(path) as file:
        versions = file["_version_data/versions"]
        for version in [name for name in versions if name != FIRST_VERSION]:
            command = [program, "ls", path, "-v", version, "--json", "--accept-wrong-hashes"]
            done = subprocess.run(command, capture_output=True, check=True)
            for row in json.loads(done.stdout):
                if row["kind"] == "dataset":
                    where = f"{path.name} {version} {row['path']}"
                    results.append(check_row(where, row, file, versions[version][row["path"]]))
    return results


def check_row(where: str, row: dict[str, Any], file: h5py.File, dataset: h5py.Dataset) -> str:
    raw_data = file[dataset.attrs["raw_data"]]
    pipeline = raw_data.id.get_create_plist()
    filters = [filter_text(*pipeline.get_filter(number)) for number in range(pipeline.get_nfilters())]
    if row["filters"] != filters:
        return f"{where}: filters {row['filters']}, expected {filters}"
    fill = fill_value(raw_data)
    if row["fill"] != fill or type(row["fill"]) is not type(fill):
        return f"{where} ({raw_data.dtype}): fill value {row['fill']!r}, expected {fill!r}"
    return ""


def filter_text(number: int, _: int, values: tuple[int, ...], name: bytes) -> str:
    if number == h5z.FILTER_DEFLATE:
        return f"gzip({values[0]})"
    if number in BUILTIN:
        return BUILTIN[number]
    try:
        options = hdf5plugin.from_filter_options(number, values)
    except ValueError:
        return f"{number} ({name.decode()})" if name else f"{number}"
    told = options.get_config()
    match options:
        case hdf5plugin.Blosc():
            return f"blosc({told['cname']}, {told['clevel']}, {SHUFFLES[told['shuffle']]})"
        case hdf5plugin.Bitshuffle():
            codec = [str(told[key]) for key in ("cname", "clevel") if told.get(key, "none") != "none"]
            return f"bitshuffle({', '.join(codec)})" if codec else "bitshuffle"
        case hdf5plugin.Zstd():
            return f"zstd({told['clevel']})"
        case hdf5plugin.BZip2():
            return f"bzip2({told['blocksize']})"
        case hdf5plugin.LZ4():
            return "lz4"
        case _:
            return f"{number} ({name.decode()})"


def fill_value(raw_data: h5py.Dataset) -> Any:
    if h5py.check_string_dtype(raw_data.dtype) is not None and raw_data.dtype.kind == "O":
        fill = raw_data.fillvalue
        return fill.decode() if isinstance(fill, bytes) else fill
    fill = np.zeros((), dtype=raw_data.dtype)
    raw_data.id.get_create_plist().get_fill_value(fill)
    kind = raw_data.id.get_type()
    if isinstance(kind, h5t.TypeStringID) and kind.get_strpad() == h5t.STR_SPACEPAD:
        # NumPy knows zeros alone as what fills strings up.
        return fill.tobytes().rstrip(b" ").decode()
    return as_json(fill, raw_data.dtype)


def as_json(value: Any, dtype: np.dtype) -> Any:
    """A value as the program's listings have it; what JSON has no number for is text."""
    value = np.asarray(value)
    if dtype.names:
        return {name: as_json(value[name], dtype[name]) for name in dtype.names}
    if dtype.subdtype:
        return [as_json(element, dtype.subdtype[0]) for element in value.ravel()]
    match dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return int(value)
        case "f" if dtype.char != "g":
            # By the shortest text in its own precision.
            number = float(np.format_float_scientific(value[()]))
            return number if math.isfinite(number) else str(number)
        case "c" if dtype.char != "G":
            return [as_json(value.real, value.real.dtype), as_json(value.imag, value.imag.dtype)]
        case "S":
            return value[()].decode()
        case "M":
            return str(value)
        case _:
            # Bytes that no type tells the meaning of.
            return "0x" + value.tobytes().hex()


if __name__ == "__main__":
    sys.exit(main())
