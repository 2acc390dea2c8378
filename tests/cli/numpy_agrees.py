"""Checks that `h5strata read` prints and writes arrays as NumPy does.

    numpy_agrees.py PROGRAM FOLDER FILE...

Every dataset of the last versions of every file is read as text (elided and in full), .npy and .csv and compared with
what plain h5py reads.
FOLDER takes the files that are written. Prints what differs and fails.
"""

import csv
import io
import subprocess
import sys
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import h5py
import numpy as np

FIRST_VERSION = "__first_version__"

#: Versions of each file that are looked at.
VERSIONS = 3


def main() -> int:
    program, folder, files = Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]]
    differences = [text for path in files for text in check_file(program, folder, path)]
    print("\n".join(differences), file=sys.stderr, end="")
    return 1 if differences else 0


def check_file(program: Path, folder: Path, path: Path) -> list[str]:
    differences = []
    with h5py.File(path) as file:
        versions = file["_version_data/versions"]
        for version in [name for name in versions if name != FIRST_VERSION][-VERSIONS:]:
            datasets: list[h5py.Dataset] = []
            versions[version].visititems(
                lambda _, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None  # noqa: B023
            )
            for dataset in datasets:
                name = dataset.name.removeprefix(f"{versions.name}/{version}/")
                arguments = [program, "read", path, name, "-v", version]
                for check in (check_text, check_full_text, check_npy, check_csv):
                    problem = check(dataset, arguments, folder)
                    if problem:
                        differences.append(
                            f"{path.name} {version} {name} ({dataset.dtype}), {check.__name__}: {problem}"
                        )
    return differences


def run(arguments: list[Any]) -> str:
    done = subprocess.run(arguments, capture_output=True, check=False)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.decode()}"
    return done.stdout.decode()


def is_text(dtype: np.dtype) -> bool:
    return h5py.check_string_dtype(dtype) is not None


def has_text(dtype: np.dtype) -> bool:
    if dtype.names:
        return any(has_text(dtype[name]) for name in dtype.names)
    return is_text(dtype) or dtype.kind in "SV"


def is_printed_alike(dtype: np.dtype) -> bool:
    # Python shows bytes as b'...'; a long double's layout is not told by its type; the random dates of the files lie
    # beyond all calendars but NumPy's.
    return not has_text(dtype) and dtype.char not in "gGM"


def check_text(dataset: h5py.Dataset, arguments: list[Any], _: Path) -> str:
    if not is_printed_alike(dataset.dtype):
        return ""
    expected, found = str(dataset[()]), run(arguments)
    return "" if found == expected + "\n" else f"\n{found}\nNumPy:\n{expected}\n"


def check_full_text(dataset: h5py.Dataset, arguments: list[Any], _: Path) -> str:
    if not is_printed_alike(dataset.dtype) or dataset.ndim == 0:
        return ""
    expected = np.array2string(dataset[()], threshold=sys.maxsize).splitlines()
    found = run([*arguments, "--full"]).splitlines()
    if found == expected:
        return ""
    pairs = zip_longest(found, expected, fillvalue="(no line)")
    number, (ours, numpys) = next((at, pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number}\n{ours}\nNumPy:\n{numpys}\n"


def check_npy(dataset: h5py.Dataset, arguments: list[Any], folder: Path) -> str:
    path = folder / "array.npy"
    problem = run([*arguments, "-o", path])
    if problem:
        return problem
    found, expected = np.load(path), dataset[()]
    if is_text(dataset.dtype) and expected.dtype == object:
        texts = [text.decode() for text in expected.ravel()]
        same = found.dtype.kind == "U" and found.ravel().tolist() == texts
        return "" if same and found.shape == expected.shape else "other strings"
    if expected.dtype.names:
        # NumPy's files keep members in the order they lie in memory.
        names = sorted(expected.dtype.names, key=lambda name: expected.dtype.fields[name][1])
        if list(found.dtype.names) != names or found.dtype.itemsize != expected.dtype.itemsize:
            return f"type {found.dtype}"
    elif found.dtype != expected.dtype:
        return f"type {found.dtype}"
    same = same_bytes(found, expected)
    return "" if same and found.shape == expected.shape else f"type {found.dtype}, shape {found.shape}"


def same_bytes(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether all values are the same; what lies between members does not count."""
    if expected.dtype.names:
        return all(same_bytes(found[name], expected[name]) for name in expected.dtype.names)
    return found.tobytes() == expected.tobytes()


def check_csv(dataset: h5py.Dataset, arguments: list[Any], _: Path) -> str:
    values = dataset[()]
    kind = values.dtype.kind
    if kind not in "iufb" or values.dtype.char == "g" or values.ndim != dataset.ndim:
        return ""
    rows = list(csv.reader(io.StringIO(run([*arguments, "--format", "csv"]))))
    if dataset.ndim > 2:
        if rows[0] != [*(f"axis{axis}" for axis in range(dataset.ndim)), "value"]:
            return f"header {rows[0]}"
        if [tuple(map(int, row[:-1])) for row in rows[1:]] != list(np.ndindex(values.shape)):
            return "other indices"
        rows = [row[-1:] for row in rows[1:]]
    parse: Callable[[str], Any] = {"b": lambda text: text == "True", "f": float}.get(kind, int)
    found = np.array([parse(text) for row in rows for text in row], dtype=values.dtype)
    per_row = values.shape[1] if values.ndim == 2 else 1
    if any(len(row) != per_row for row in rows):
        return f"rows are not of {per_row}"
    return "" if np.array_equal(found, values.ravel(), equal_nan=kind == "f") else "other values"


if __name__ == "__main__":
    sys.exit(main())
