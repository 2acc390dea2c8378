"""The commits that are swept, and other changes to files: steps of histories, so that the models of `histories` say
what a file must hold."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from histories import kinds, pipelines
from histories.model import Model, Step, Version

#: The states of a file around a commit.
OLD, NEW = "old", "new"

Op = dict[str, Any]


@dataclass(frozen=True)
class Commit:
    name: str
    #: The versions before it; `None` where there is no file yet.
    before: list[Step] | None
    #: The version; `None` where the file is made without one.
    step: Step | None
    #: Whether it is committed as a snapshot, a plain file with the version's content.
    snapshot: bool = False
    #: Whether versioned-hdf5 can do it, too.
    package: bool = True
    #: What is done to the file between its versions and the commit, so that it is not as the format wants it until
    #: the commit is done.
    alter: Callable[[Path], None] | None = None

    @property
    def kind(self) -> str:
        """What is done: a step of histories, `init` or `repair`."""
        return "init" if self.step is None else str(self.step["step"])

    @property
    def is_repair(self) -> bool:
        return self.kind == "repair"

    def model(self, state: str) -> Model:
        """What the file holds in a state, for the caller to change."""
        model = Model()
        for step in self.before or []:
            model.apply(step)
        if state == NEW and self.step is not None and not self.is_repair:
            model.apply(self.step)
        return model


def following(model: Model, name: str) -> Step:
    """A version that changes every dataset of the current one a little, and adds one."""
    current = model.versions.get(model.current)
    ops: list[Op] = [
        _create(f"{name}/added", "<i4", np.arange(10, dtype="<i4"), (4,)),
        {"op": "attr", "path": f"{name}/added", "name": "after", "value": model.current},
    ]
    for path, dataset in current.datasets.items() if current else ():
        if len(dataset.values):
            value: Any = f"written by {name}" if dataset.settings.dtype == kinds.STRING else len(name)
            ops.append({"op": "write", "dataset": path, "select": "-1, ...", "value": value})
    return version(name, ops)


def version(name: str, ops: list[Op]) -> Step:
    """A version on top of the current one; its time is its name's, for every run alike."""
    second = sum(name.encode()) % 60
    return {
        "step": "version",
        "name": name,
        "parent": None,
        "timestamp": f"2026-01-01T00:00:{second:02}Z",
        "make_current": True,
        "ops": ops,
    }


def _create(path: str, dtype: str, values: np.ndarray, chunks: tuple[int, ...], **filters: Any) -> Op:
    return {"op": "create", "dataset": path, "dtype": dtype, "array": values, "chunks": chunks, "filters": filters}


def _attribute(path: str, name: str, value: Any) -> Op:
    return {"op": "attr", "path": path, "name": name, "value": value}


def _write(path: str, select: str, values: Any) -> Op:
    kind = "array" if isinstance(values, np.ndarray) else "value"
    return {"op": "write", "dataset": path, "select": select, kind: values}


def _resize(path: str, *shape: int) -> Op:
    return {"op": "resize", "dataset": path, "shape": list(shape)}


def _panel(rows: int, columns: int) -> np.ndarray:
    return np.arange(rows * columns, dtype="<f8").reshape(rows, columns) / 7


def _words(first: int, count: int) -> list[str]:
    return [f"word {n} " * (1 + n % 5) for n in range(first, first + count)]


#: The first version of most files: plain, two-dimensional, compressed, strings; attributes everywhere.
_FIRST = version(
    "r1",
    [
        _create("values", "<i8", np.arange(1, 2501, dtype="<i8"), (600,)),
        _create("group/panel", "<f8", _panel(20, 30), (8, 16)),
        _create("group/packed", "<i4", np.arange(3000, dtype="<i4") // 9, (700,), gzip=1, shuffle=True),
        {"op": "create", "dataset": "names", "dtype": "str", "shape": [25], "chunks": (10,), "filters": {}},
        _write("names", ":", _words(0, 25)),
        _attribute("values", "unit", "EUR"),
        _attribute("group", "rank", 2),
        _attribute("group/panel", "scale", [1, 2, 3]),
        _attribute("", "author", "sweep"),
    ],
)
_SECOND = version("r2", [_write("values", "5:9", 77), _write("names", "3", "another word")])
_BASE = [_FIRST, _SECOND]

_THIRD = version(
    "r3", [_resize("values", 2700), _write("group/panel", "3, :", 5), _write("names", "7", "a third word")]
)

_MANY = [f"d{number:02}" for number in range(20)]


def _on_base(name: str, *ops: Op, **options: Any) -> Commit:
    return Commit(name, _BASE, version("r3", list(ops)), **options)


def make_old(path: Path) -> None:
    """Makes a file one of data_version 1, in which strings have digests that no later format gives them."""
    with h5py.File(path, "r+") as file:
        del file["_version_data/versions"].attrs["data_version"]
        table = file["_version_data/names/hash_table"]
        rows = table[:]
        rows["hash"] ^= 0x5A
        table[:] = rows


def damage(path: Path) -> None:
    """Takes hash tables away, names a current version that there is not, and leaves a version uncommitted."""
    with h5py.File(path, "r+") as file:
        for name in ("values", "names"):
            del file[f"_version_data/{name}/hash_table"]
        versions = file["_version_data/versions"]
        versions.attrs["current_version"] = "nobody"
        half = versions.create_group("half")
        half.attrs["prev_version"] = "r2"
        half.attrs["committed"] = False


COMMITS = {
    commit.name: commit
    for commit in (
        Commit("init", None, None),
        Commit("first", [], _FIRST),
        _on_base(
            "append",
            _resize("values", 4000),
            _write("values", "2500:4000", np.arange(9000, 10500, dtype="<i8")),
            _resize("group/panel", 22, 30),
            _write("group/panel", "20:22", _panel(2, 30) + 1000),
        ),
        _on_base(
            "resize",
            _resize("values", 700),
            _resize("group/panel", 25, 10),
            _resize("values", 1900),
            _write("values", "1500:1510", 3),
        ),
        _on_base(
            "strings", _write("names", "4:12", _words(100, 8)), _resize("names", 33), _write("names", "25:", "end")
        ),
        _on_base(
            "filters",
            _write("group/packed", "650:750", np.arange(100, dtype="<i4")),
            _create("group/more", "<i4", np.arange(2000, dtype="<i4") % 50, (900,), gzip=1, shuffle=True),
        ),
        Commit(
            "many",
            [version("r1", [_create(name, "<i4", np.arange(1, 41, dtype="<i4"), (16,)) for name in _MANY])],
            version("r2", [_write(name, "10:20", number + 100) for number, name in enumerate(_MANY)]),
        ),
        _on_base(
            "attributes",
            _attribute("values", "unit", "USD"),
            _attribute("group", "rank", None),
            _attribute("group", "note", "a longer text " * 20),
            _attribute("", "author", "somebody else"),
        ),
        _on_base(
            "rename",
            {"op": "delete", "path": "names"},
            {"op": "rename", "from": "group/panel", "to": "moved/panel"},
            package=False,
        ),
        _on_base(
            "snapshot",
            _resize("values", 2800),
            _write("values", "2400:2800", np.arange(400, dtype="<i8")),
            _write("names", "0:3", _words(50, 3)),
            {"op": "delete", "path": "group/packed"},
            snapshot=True,
            package=False,
        ),
        _on_base(
            "upgrade", _write("names", "4:12", _words(200, 8)), _write("values", "7", 5), package=False, alter=make_old
        ),
        Commit(
            "delete",
            [_FIRST, _SECOND, _THIRD],
            {"step": "delete", "versions": ["r1", "r3"], "engine": "ours"},
            package=False,
        ),
        Commit("rewrite", _BASE, {"step": "rewrite", "dataset": "group/panel", "chunks": [5, 7]}, package=False),
        Commit("repack", _BASE, {"step": "repack"}, package=False),
        Commit("repair", _BASE, {"step": "repair"}, package=False, alter=damage),
    )
}


def write_plain(content: Version, path: Path) -> None:
    """A version's content as a plain HDF5 file."""
    with h5py.File(path, "w") as file:
        for name, dataset in content.datasets.items():
            settings = dataset.settings
            file.create_dataset(
                name,
                data=dataset.values,
                dtype=kinds.dtype_of(settings.dtype),
                chunks=settings.chunks,
                maxshape=(None,) * dataset.values.ndim,
                **pipelines.keywords(settings.filters),
            )
        attributes: list[tuple[str, dict[str, Any]]] = [
            *content.groups.items(),
            *((name, dataset.attrs) for name, dataset in content.datasets.items()),
            ("/", content.attrs),
        ]
        for name, attrs in attributes:
            owner = file[name] if name in file else file.create_group(name)
            for key, value in attrs.items():
                owner.attrs[key] = value
