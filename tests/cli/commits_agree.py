"""Checks that versions committed by `h5strata` hold what NumPy makes of the same operations.

    commits_agree.py PROGRAM FOLDER

Operations are committed by the program, then the file is continued by versioned-hdf5, then by the program again. After
each commit all versions are read by the program, by versioned-hdf5 and by plain h5py. Prints what differs and fails.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  registers the filters
import numpy as np
from versioned_hdf5 import VersionedHDF5File

Array = np.ndarray[Any, Any]


class Version:
    """What a version must hold: datasets, attributes and groups by path."""

    def __init__(self, parent: "Version | None" = None) -> None:
        self.datasets: dict[str, Array] = {} if parent is None else {k: v.copy() for k, v in parent.datasets.items()}
        self.attributes: dict[tuple[str, str], Any] = {}
        self.groups: set[str] = set()
        if parent is not None:
            # A version does not inherit the attributes of its parent, its objects do.
            self.attributes = {at: value for at, value in parent.attributes.items() if at[0]}
            self.groups = set(parent.groups)


class File:
    """A file and what its versions must hold."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.path = folder / "commits.h5"
        self.versions: dict[str, Version] = {}
        self.differences: list[str] = []
        self.run("init", self.path)

    def run(self, *arguments: object) -> str:
        command = [self.program, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            raise SystemExit(f"{command}: {done.returncode}\n{done.stderr}")
        return done.stdout

    def commit(self, name: str, operations: list[dict[str, Any]], version: Version, *options: str) -> None:
        """Commits operations that must make `version`."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(operations))
        self.commit_content(name, ["--ops", path, *options], version)

    def commit_content(self, name: str, content: list[object], version: Version) -> None:
        """Commits content that must make `version`."""
        report = json.loads(self.run("commit", self.path, name, "--json", *content))
        self.versions[name] = version
        self.expect(f"{name}: name in the report", report["version"], name)
        self.check(name)

    def expect(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self.differences.append(f"{what}: {found!r} is not {expected!r}")

    def check(self, after: str) -> None:
        """Reads every version in three ways."""
        for name, version in self.versions.items():
            for path, expected in version.datasets.items():
                out = self.folder / "read.npy"
                self.run("read", self.path, path, "-v", name, "-o", out)
                self.same(f"after {after}: {name}/{path}: h5strata", np.load(out), expected)
        with h5py.File(self.path) as file:
            package = VersionedHDF5File(file)
            for name, version in self.versions.items():
                plain = file["_version_data/versions"][name]
                for where, group in ("versioned-hdf5", package[name]), ("h5py", plain):
                    self.check_group(f"after {after}: {name}: {where}", group, version)
                for (path, attribute), value in version.attributes.items():
                    found = plain.attrs[attribute] if path == "" else plain[path].attrs[attribute]
                    what = f"after {after}: {name}/{path}: attribute {attribute}"
                    self.expect(f"{what}: type", type(found), type(value))
                    self.expect(what, np.asarray(found).tolist(), np.asarray(value).tolist())

    def check_group(self, what: str, group: Any, version: Version) -> None:
        datasets: set[str] = set()
        groups: set[str] = set()

        def visit(path: str, item: Any) -> None:
            (groups if isinstance(item, h5py.Group) else datasets).add(path)

        group.visititems(visit)
        self.expect(f"{what}: datasets", datasets, set(version.datasets))
        parents = {path.rsplit("/", depth)[0] for path in datasets for depth in range(1, path.count("/") + 1)}
        self.expect(f"{what}: groups", groups, parents | version.groups)
        for path, expected in version.datasets.items():
            if path in datasets:
                self.same(f"{what}: {path}", group[path][...], expected)

    def same(self, what: str, found: Array, expected: Array) -> None:
        if found.dtype.kind == "O":
            found = np.array([text.decode() if isinstance(text, bytes) else text for text in found.flat], object)
            found = found.reshape(expected.shape)
            same = found.tolist() == expected.tolist()
        elif expected.dtype.kind == "U":
            same = found.tolist() == expected.tolist()
        else:
            same = found.dtype == expected.dtype and found.shape == expected.shape
            same = same and found.tobytes() == expected.tobytes()
        if not same:
            self.differences.append(f"{what}:\n{found!r}\nis not\n{expected!r}")


RECORD = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", "S3")])

ARRAYS: dict[str, Array] = {
    "numbers/f8": np.arange(70.0).reshape(7, 10),
    "numbers/i4-fortran": np.asfortranarray(np.arange(24, dtype="<i4").reshape(2, 3, 4)),
    "numbers/u2-big": np.arange(9, dtype=">u2"),
    "numbers/f2": np.linspace(-1, 1, 5, dtype="<f2"),
    "numbers/c16": np.array([[1 + 2j, -0.0], [np.nan, np.inf]]),
    "bool": np.array([True, False, True]),
    "date": np.array(["2026-11-30", "1970-01-01"], "<M8[ns]"),
    "bytes": np.array([b"a", b"abc", b""], "S5"),
    "record": np.array([(1, (2.5, 3.5), b"x"), (-1, (0.0, np.nan), b"yz")], RECORD),
    "unicode": np.array(["aé", "", "日本語"]),
}

FILTERS: list[dict[str, Any]] = [
    {},
    {"gzip": 4, "shuffle": True},
    {"lzf": True, "fletcher32": True},
    {"zstd": 3},
    {"lz4": 0},
    {"blosc": {"codec": "zstd", "shuffle": "bits"}},
    {"bitshuffle": {}},
]


def main() -> int:
    file = File(sys.argv[1], Path(sys.argv[2]))
    steps: list[Callable[[File], None]] = [
        create,
        change,
        structure,
        by_package,
        after_package,
        branch,
        snapshots,
        exports,
    ]
    for step in steps:
        step(file)
    print("\n".join(file.differences), file=sys.stderr, end="")
    return 1 if file.differences else 0


def create(file: File) -> None:
    version = Version()
    operations: list[dict[str, Any]] = []
    for number, (path, array) in enumerate(ARRAYS.items()):
        name = path.replace("/", "-") + ".npy"
        np.save(file.folder / name, array)
        filters = {} if array.dtype.kind == "U" else FILTERS[number % len(FILTERS)]
        operation = {"op": "create", "dataset": path, "npy": name, "chunks": [2] * array.ndim, "filters": filters}
        operations.append(operation)
        version.datasets[path] = np.ascontiguousarray(array)
    operations += [
        {"op": "create", "dataset": "cast", "npy": "numbers-f8.npy", "dtype": ">f4"},
        {"op": "create", "dataset": "sparse", "shape": [50, 60], "dtype": "i2", "fill": -7, "chunks": [8, 16]},
        {"op": "create", "dataset": "inferred", "value": [[1, 2], [3, 4]]},
        {"op": "create", "dataset": "names", "value": ["x", "ÿ"]},
        {"op": "create", "dataset": "empty", "shape": [0, 3], "dtype": "float64", "chunks": [4, 3]},
        {"op": "attr", "path": "numbers", "name": "count", "value": 3},
        {"op": "attr", "path": "bool", "name": "unit", "value": "USD"},
        {"op": "attr", "path": "bool", "name": "list", "value": [1, 2.5]},
        {"op": "attr", "path": "bool", "name": "texts", "value": ["a", "b"]},
        {"op": "attr", "path": "bool", "name": "array", "npy": "numbers-u2-big.npy"},
        {"op": "attr", "path": "", "name": "checked", "value": True},
        {"op": "group", "path": "left/alone"},
    ]
    version.datasets["cast"] = ARRAYS["numbers/f8"].astype(">f4")
    version.datasets["sparse"] = np.full((50, 60), -7, "i2")
    version.datasets["inferred"] = np.array([[1, 2], [3, 4]])
    version.datasets["names"] = np.array(["x", "ÿ"])
    version.datasets["empty"] = np.zeros((0, 3))
    version.attributes = {
        ("numbers", "count"): np.int64(3),
        ("bool", "unit"): "USD",
        ("bool", "list"): np.array([1, 2.5]),
        ("bool", "texts"): np.array(["a", "b"], object),
        ("bool", "array"): ARRAYS["numbers/u2-big"],
        ("", "checked"): np.True_,
    }
    version.groups = {"left", "left/alone"}
    file.commit("r1", operations, version)


def change(file: File) -> None:
    version = Version(file.versions["r1"])
    row = np.arange(10, dtype="i2")
    np.save(file.folder / "row.npy", row)
    operations: list[dict[str, Any]] = [
        {"op": "write", "dataset": "numbers/f8", "select": "-1", "npy": "row.npy"},
        {"op": "write", "dataset": "numbers/f8", "select": "::2, [1, 5]", "value": -0.5},
        {"op": "write", "dataset": "numbers/c16", "select": "0, 0", "value": "nan"},
        {"op": "write", "dataset": "record", "select": "1", "value": {"a": 9, "b": [1, 2], "c": "new"}},
        {"op": "write", "dataset": "unicode", "select": "1:", "value": ["one", "two"]},
        {"op": "write", "dataset": "names", "npy": "names.npy"},
        {"op": "write", "dataset": "bool", "value": [False, False, True]},
        {"op": "resize", "dataset": "sparse", "shape": [70, 3]},
        {"op": "write", "dataset": "sparse", "select": "60:, 1", "value": 5},
        {"op": "resize", "dataset": "empty", "shape": [2, 3]},
        {"op": "write", "dataset": "empty", "value": [[1, 2, 3], [4, 5, 6]]},
        {"op": "attr", "path": "bool", "name": "unit", "value": None},
        {"op": "attr", "path": "bool", "name": "list", "value": "other"},
    ]
    np.save(file.folder / "names.npy", np.array([b"from", b"bytes"]))
    datasets = version.datasets
    datasets["numbers/f8"][-1] = row
    datasets["numbers/f8"][::2, [1, 5]] = -0.5
    datasets["numbers/c16"][0, 0] = complex(np.nan, 0)
    datasets["record"][1] = (9, (1, 2), b"new")
    datasets["unicode"] = np.array(["aé", "one", "two"])
    datasets["names"] = np.array(["from", "bytes"])
    datasets["bool"][:] = [False, False, True]
    datasets["sparse"] = np.full((70, 3), -7, "i2")
    datasets["sparse"][60:, 1] = 5
    datasets["empty"] = np.arange(1.0, 7.0).reshape(2, 3)
    del version.attributes["bool", "unit"]
    version.attributes["bool", "list"] = "other"
    file.commit("r2", operations, version, "--verify-reused")


def structure(file: File) -> None:
    version = Version(file.versions["r2"])
    operations: list[dict[str, Any]] = [
        {"op": "rename", "from": "numbers/f2", "to": "moved/f2"},
        {"op": "copy", "from": "record", "to": "copies/record"},
        {"op": "write", "dataset": "copies/record", "select": "0", "value": {"a": 0, "b": [0, 0], "c": ""}},
        {"op": "delete", "path": "left"},
        {"op": "delete", "path": "cast"},
    ]
    datasets = version.datasets
    datasets["moved/f2"] = datasets.pop("numbers/f2")
    datasets["copies/record"] = datasets["record"].copy()
    datasets["copies/record"][0] = (0, (0, 0), b"")
    del datasets["cast"]
    version.groups = set()
    file.commit("r3", operations, version)


def by_package(file: File) -> None:
    version = Version(file.versions["r3"])
    with h5py.File(file.path, "r+") as opened, VersionedHDF5File(opened).stage_version("r4") as group:
        group["numbers/f8"].resize((9, 10))
        group["numbers/f8"][7:] = 1.5
        group["unicode"][0] = "package"
        group.create_dataset("package", data=np.arange(5), chunks=(2,))
    datasets = version.datasets
    datasets["numbers/f8"] = np.concatenate([datasets["numbers/f8"], np.full((2, 10), 1.5)])
    datasets["unicode"] = np.array(["package", "one", "two"])
    datasets["package"] = np.arange(5)
    file.versions["r4"] = version
    file.check("r4")


def after_package(file: File) -> None:
    version = Version(file.versions["r4"])
    operations: list[dict[str, Any]] = [
        {"op": "write", "dataset": "package", "select": "1::2", "value": [70, 80]},
        {"op": "write", "dataset": "numbers/f8", "select": "8", "value": 2},
        {"op": "write", "dataset": "unicode", "select": "[True, False, True]", "value": "both"},
    ]
    version.datasets["package"][1::2] = [70, 80]
    version.datasets["numbers/f8"][8] = 2
    version.datasets["unicode"] = np.array(["both", "one", "both"])
    file.commit("r5", operations, version)


def branch(file: File) -> None:
    version = Version(file.versions["r1"])
    version.datasets["inferred"][0] = 0
    operations = [{"op": "write", "dataset": "inferred", "select": "0", "value": 0}]
    options = "--parent", "r1", "--no-current", "--timestamp", "2026-11-30T12:00:00.25Z"
    file.commit("branch", operations, version, *options)
    with h5py.File(file.path) as opened:
        versions = opened["_version_data/versions"]
        attributes = versions["branch"].attrs
        file.expect("parent", attributes["prev_version"], "r1")
        file.expect("time", attributes["timestamp"], "2026-11-30 12:00:00.250000+0000")
        file.expect("current version", versions.attrs["current_version"], "r5")


def snapshots(file: File) -> None:
    """The content of plain files, all of it and a group of it."""
    source = file.versions["r5"]
    path = file.folder / "snapshot.h5"
    with h5py.File(path, "w") as plain:
        for at, (name, array) in enumerate(source.datasets.items()):
            settings: dict[str, Any] = {"chunks": tuple(max(1, n // 2) for n in array.shape)} if at % 2 else {}
            if array.dtype.kind == "U":
                array = array.astype(object)
                settings["dtype"] = h5py.string_dtype()
            if array.dtype.kind == "M":
                settings["dtype"] = h5py.opaque_dtype(array.dtype)
                array = array.astype(settings["dtype"])
            plain.create_dataset(name, data=array, **settings)
        plain["numbers"].attrs["from"] = "snapshot"
        plain.attrs["title"] = "all"
    version = Version()
    version.datasets = {name: array.copy() for name, array in source.datasets.items()}
    version.attributes = {("numbers", "from"): "snapshot", ("", "title"): "all"}
    file.commit_content("day1", ["--from", path], version)

    group = Version(version)
    numbers = {name for name in version.datasets if name.startswith("numbers/")}
    for name in numbers:
        group.datasets[name.removeprefix("numbers/")] = version.datasets[name].copy()
    group.attributes[("", "from")] = "snapshot"
    file.commit_content("day2", ["--from", path, "--path", "numbers", "--keep"], group)


def exports(file: File) -> None:
    """Plain files of all versions."""
    for name, version in file.versions.items():
        out = file.folder / "export.h5"
        file.run("export", file.path, name, out, "--force")
        with h5py.File(out) as plain:
            file.check_group(f"export of {name}", plain, version)
            found = {("", key): type(value) for key, value in plain.attrs.items()}
            expected = {at: type(value) for at, value in version.attributes.items() if at[0] == ""}
            file.expect(f"export of {name}: attributes", found, expected)


if __name__ == "__main__":
    sys.exit(main())
