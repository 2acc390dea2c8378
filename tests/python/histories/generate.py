"""Random histories, from a seed."""

from typing import Any

import numpy as np

from . import kinds, pipelines
from .model import Dataset, Model, Step, Version
from .selections import resolve

#: Names of datasets are never names of groups: versioned-hdf5 keeps a dataset's stored chunks in a group of its name,
#: and takes a group that was there before for it (`backend.write_dataset`).
DATASETS = ("a", "b", "c", "g/a", "g/b", "g/h/a", "long name/ünï")
GROUPS = ("g", "g/h", "long name", "empty", "empty/below")
ATTRIBUTES = ("units", "n", "ünï")
#: What versioned-hdf5 and our program can both do, and all that our program can.
BOTH, OURS = "both", "ours"


class Generator:
    """Makes steps that suit a model, and applies them to it."""

    def __init__(self, seed: int, model: Model, mode: str = BOTH) -> None:
        self.rng = np.random.default_rng(seed)
        self.model = model
        self.mode = mode
        #: Who will do the next step.
        self.engine = ""

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def versions(self, count: int) -> list[Step]:
        return [self.version() for _ in range(count)]

    def version(self) -> Step:
        """A version, from any parent."""
        names = list(self.model.versions)
        number = len(names)
        while f"r{number}" in self.model.versions:
            number += 1
        parent = None
        if names and self.chance(0.25):
            parent = self.pick([*names, ""])
        elif not names and self.chance(0.2):
            parent = ""
        step: Step = {
            "step": "version",
            "name": f"r{number}",
            "parent": parent,
            "timestamp": None if self.chance(0.3) else self._timestamp(number),
            "make_current": not names or not self.chance(0.15),
            "ops": [],
        }
        version = self.model.begin(step)
        for _ in range(int(self.pick((0, 1, 1, 2, 3, 4, 6)))):
            op = self._operation(version)
            if op is not None:
                self.model.operate(version, op)
                step["ops"].append(op)
        self.model.finish(step, version)
        return step

    def _timestamp(self, number: int) -> str:
        """Mostly later than the last; sometimes the same, or long ago."""
        day = 1 if self.chance(0.1) else number % 28 + 1
        return f"2026-{number // 28 % 12 + 1:02}-{day:02}T08:00:00.{self.pick((0, 1, 250_000)):06}Z"

    def _operation(self, version: Version) -> dict[str, Any] | None:
        if not version.datasets or self.chance(0.2):
            return self._create(version)
        path = self.pick(list(version.datasets))
        dataset = version.datasets[path]
        kind = self.pick(("write",) * 8 + ("resize",) * 5 + ("attr",) * 2 + ("delete", "group", "recreate", "rename"))
        match kind:
            case "write":
                return self._write(path, dataset)
            case "resize":
                shape = self._resized(dataset)
                return {"op": "resize", "dataset": path, "shape": list(shape)}
            case "attr":
                return self._attribute(version)
            case "group":
                return {"op": "group", "path": self.pick(GROUPS)}
            case "delete":
                return {"op": "delete", "path": self.pick([path, *version.groups])}
            case "recreate":
                # Deleted here; whoever comes next may create it again.
                return {"op": "delete", "path": path}
            case _:
                return self._rename(version, path)

    def _create(self, version: Version) -> dict[str, Any] | None:
        free = [path for path in DATASETS if path not in version.datasets]
        if not free:
            return None
        path = self.pick(free)
        known = self.model.settings.get(path)
        if known is not None and (known.keywords is not None or (known.dtype == kinds.ENUM and self.engine == "ours")):
            # Our program is told filters and types that these datasets do not have.
            return None
        if known is None:
            text = self._dtype()
            rank = int(self.pick((1, 1, 1, 2, 2, 3, 4)))
            chunks = [int(self.rng.integers(1, (0, 7, 5, 4, 3)[rank])) for _ in range(rank)]
            names = pipelines.FOR_STRINGS if text == kinds.STRING else list(pipelines.PIPELINES)
            filters = pipelines.PIPELINES[self.pick(names)][0] if self.chance(0.6) else {}
            # The program takes long doubles as arrays alone.
            fill = None if text == kinds.LONG_DOUBLE else self._fill(text)
        else:
            text, chunks, filters = known.dtype, list(known.chunks), known.filters
            fill = self._known_fill(known.fill, text)
            if fill is None:
                return None
            fill = fill[0]
        shape = [self._size(edge, len(chunks)) for edge in chunks]
        op = {"op": "create", "dataset": path, "dtype": text, "chunks": chunks, "filters": filters}
        if fill is not None:
            op["fill"] = fill
        if text == kinds.STRING or self.chance(0.4):
            return op | {"shape": shape}
        return op | {"array": self._values(text, tuple(shape), kinds.fill_of(text, fill))}

    def _dtype(self) -> str:
        choice = self.rng.random()
        if choice < 0.15:
            return kinds.STRING
        if choice < 0.3:
            return str(self.pick(kinds.OTHERS))
        if choice < 0.33:
            return kinds.LONG_DOUBLE
        if choice < 0.36 and self.engine == "package":
            return kinds.ENUM
        return str(self.pick(kinds.NUMBERS))

    def _fill(self, text: str) -> Any:
        """A fill value's JSON; `None` is not said."""
        kind = kinds.dtype_of(text).kind
        if kind in "cVO" or self.chance(0.4):
            return None
        choices = {"f": [1.5, -0.0, "nan", "-inf", 0.0], "i": [-1, 0, 7], "u": [0, 7, 255], "b": [True], "S": ["z"]}
        return self.pick(choices[kind])

    def _known_fill(self, fill: np.ndarray, text: str) -> tuple[Any] | None:
        """The JSON of a known fill value, to create the dataset again with it."""
        if kinds.same(fill, kinds.fill_of(text, None), text):
            return (None,)
        kind = fill.dtype.kind
        # versioned-hdf5 compares fill values by !=, and so takes NaN for another NaN (`backend.write_dataset`).
        if kind == "f" and np.isnan(fill):
            return ("nan",) if self.mode == OURS else None
        if kind == "f" and np.isinf(fill):
            return ("-inf",)
        if kind == "S":
            return (fill.item().decode(),)
        return (float(fill) if kind == "f" else fill.item(),) if kind in "fiub" else None

    def _size(self, edge: int, rank: int) -> int:
        """The length of an axis: sometimes 0, often no multiple of the chunk's."""
        most = (0, 23, 11, 7, 5)[rank]
        return int(self.pick((0, edge, min(2 * edge, most), *self.rng.integers(0, most + 1, 6))))

    def _resized(self, dataset: Dataset) -> tuple[int, ...]:
        shape = list(dataset.values.shape)
        edges = dataset.settings.chunks
        for axis in range(len(shape)):
            if self.chance(0.6):
                shape[axis] = self._size(edges[axis], len(shape))
        return tuple(shape)

    def _values(self, text: str, shape: tuple[int, ...], fill: np.ndarray) -> np.ndarray:
        """An array of few different values."""
        palette = kinds.palette(text, self.rng)
        if text != kinds.STRING:
            # Not by np.concatenate, which changes the byte order.
            longer = np.empty(len(palette) + 1, palette.dtype)
            longer[:-1], longer[-1] = palette, fill
            palette = longer
        style = self.pick(("one", "fill", "ramp", "random"))
        if style == "one":
            return np.full(shape, self.pick(palette), palette.dtype)
        if style == "fill":
            return np.full(shape, fill, palette.dtype)
        count = int(np.prod(shape))
        order = np.arange(count) % len(palette) if style == "ramp" else self.rng.integers(0, len(palette), count)
        return palette[order].reshape(shape)

    def _write(self, path: str, dataset: Dataset) -> dict[str, Any]:
        shape = dataset.values.shape
        text = dataset.settings.dtype
        select = self._select(shape)
        chosen = resolve(select, shape)
        op = {"op": "write", "dataset": path, "select": select}
        kind = kinds.dtype_of(text).kind
        has_json = kind not in ("V", "c") and text != kinds.LONG_DOUBLE
        if text == kinds.STRING or (has_json and self.chance(0.2)):
            return op | {"value": self._json(text, chosen.shape)}
        wanted = chosen.shape
        if wanted and self.chance(0.2):
            # To be broadcast.
            wanted = tuple(1 if self.chance(0.5) else size for size in wanted)[int(self.rng.integers(len(wanted))) :]
        if self.chance(0.15):
            # What is there already.
            values = dataset.values[np.ix_(*chosen.axes)].reshape(chosen.shape)
        else:
            values = self._values(text, wanted, dataset.settings.fill)
        if kind in "iuf" and text != kinds.LONG_DOUBLE and self.chance(0.1):
            values = values.astype(values.dtype.newbyteorder())
        return op | {"array": values}

    def _json(self, text: str, shape: tuple[int, ...]) -> Any:
        """A value, or for strings nested lists of them."""
        if text != kinds.STRING:
            choices = {"f": [1.5, -0.0, "nan", -2], "i": [-1, 7, 0], "u": [0, 9], "b": [True, False], "S": ["", "q"]}
            return self.pick(choices[kinds.dtype_of(text).kind])
        values = self._values(text, shape, np.array("", dtype=object))
        # A list that holds nothing has lost its shape.
        return str(self.pick(["", "a", "zwölf"])) if values.size == 0 or self.chance(0.3) else values.tolist()

    def _select(self, shape: tuple[int, ...]) -> str:
        if self.chance(0.2):
            return str(self.pick(("...", ":")))
        texts = [self._along(size) for size in shape]
        if self.chance(0.2):
            first = int(self.rng.integers(len(texts)))
            texts[first : int(self.rng.integers(first, len(texts) + 1))] = ["..."]
        elif len(texts) > 1 and self.chance(0.2):
            texts = texts[: int(self.rng.integers(1, len(texts)))]
        return ", ".join(texts)

    def _along(self, size: int) -> str:
        kinds_of_axis = ["all", "slice", "slice", "slice", "backwards", "list", "mask", "none"]
        match self.pick(kinds_of_axis + (["index", "index"] if size else [])):
            case "index":
                return str(int(self.rng.integers(-size, size)))
            case "slice":
                start, stop = (int(bound) for bound in self.rng.integers(-size - 2, size + 3, 2))
                step = self.pick(("", ":2", ":3", ":1", ":7"))
                return f"{self.pick(('', start))}:{self.pick(('', stop))}{step}"
            case "backwards":
                start = self.pick(("", int(self.rng.integers(-size - 1, size + 2))))
                return f"{start}::{-int(self.rng.integers(1, 4))}"
            case "list":
                count = int(self.rng.integers(0, min(size, 5) + 1))
                return str([int(i) for i in self.rng.integers(-size, size, count)]) if size else "[]"
            case "mask" if size:
                return str((self.rng.random(size) < 0.5).tolist())
            case "none":
                return "0:0"
            case _:
                return ":"

    def _attribute(self, version: Version) -> dict[str, Any]:
        path = self.pick(["", *version.datasets, *version.groups])
        value = self.pick((None, "text", "ünï ☃", "", 5, -7, 2.5, True, [1, 2, 3], [0.5, 1.5], ["x", "yy"]))
        name = self.pick(ATTRIBUTES)
        if value is None and name not in version.attributes(path):
            value = 1
        return {"op": "attr", "path": path, "name": name, "value": value}

    def _rename(self, version: Version, path: str) -> dict[str, Any] | None:
        """versioned-hdf5 has no renaming."""
        free = [f"new/{i}" for i in range(5)]
        free = [name for name in free if name not in version.datasets and name not in self.model.settings]
        if self.mode != OURS or not free:
            return None
        return {"op": "rename", "from": path, "to": free[0]}

    def upkeep(self) -> Step | None:
        """What is done to a whole file."""
        if self.chance(0.4):
            return self.delete()
        if self.engine != "ours":
            return self.modify()
        return self.repack() if self.chance(0.3) else self.rewrite()

    def repack(self) -> Step:
        """The file anew, without what no version needs."""
        step = {"step": "repack"}
        self.model.apply(step)
        return step

    def delete(self) -> Step | None:
        """Some versions, never all."""
        names = list(self.model.versions)
        if len(names) < 2:
            return None
        count = int(self.rng.integers(1, len(names)))
        if count > 1 and self.chance(0.5):
            count = 1
        doomed = [names[i] for i in sorted(self.rng.choice(len(names), count, replace=False))]
        step = {"step": "delete", "versions": doomed, "engine": self.engine}
        self.model.apply(step)
        return step

    def _existing(self) -> str | None:
        """A dataset of some version."""
        paths = sorted({path for version in self.model.versions.values() for path in version.datasets})
        return self.pick(paths) if paths else None

    def rewrite(self) -> Step | None:
        """Some of another chunk shape, type, fill value and filters for a dataset, by our program."""
        path = self._existing()
        if path is None:
            return None
        settings = self.model.settings[path]
        step: Step = {"step": "rewrite", "dataset": path}
        text = settings.dtype
        if self.chance(0.3):
            text = self.pick(kinds.wider(text))
            step["dtype"] = text
        if self.chance(0.6):
            step["chunks"] = [int(self.rng.integers(1, 6)) for _ in settings.chunks]
        if text not in (kinds.LONG_DOUBLE, kinds.ENUM) and self.chance(0.5):
            fill = self._fill(text)
            if fill is not None:
                step["fill"] = fill
        if self.chance(0.4):
            names = pipelines.FOR_STRINGS if text == kinds.STRING else list(pipelines.PIPELINES)
            step["filters"] = pipelines.PIPELINES[self.pick(names)][0]
        if not step.keys() & {"chunks", "dtype", "fill", "filters"}:
            return None
        self.model.apply(step)
        return step

    def modify(self) -> Step | None:
        """Another chunk shape, type, fill value or compression for a dataset, by versioned-hdf5."""
        path = self._existing()
        if path is None:
            return None
        settings = self.model.settings[path]
        kind = kinds.dtype_of(settings.dtype).kind
        step: Step = {"step": "modify", "dataset": path}
        what = self.pick(("chunks", "dtype", "fill", "compression"))
        if not pipelines.FROM_PLUGINS.isdisjoint(settings.filters) and settings.keywords is None:
            # h5py calls these filters "unknown", and versioned-hdf5 asks for a filter of that name
            # (`Filters.from_dataset`).
            what = "compression"
        match what:
            case "dtype" if kind in "iu":
                # Not from and to integers of one size: versioned-hdf5 takes bytes of the other order for its own.
                step["dtype"] = self.pick((">f8", "<f4") if settings.dtype[2:] == "8" else ("<i8", ">f8", "<f4"))
            case "fill" if kind in "iuf":
                step["fill"] = 3
            case "compression":
                step["keywords"] = self.pick(({"compression": "gzip", "compression_opts": 2}, {"compression": "lzf"}))
            case _:
                step["chunks"] = [int(self.rng.integers(1, 6)) for _ in settings.chunks]
        self.model.apply(step)
        return step


def history(seed: int, size: int, order: str, mode: str = BOTH) -> list[Step]:
    """A history of some versions, in which the engines take turns as `order` says."""
    generator = Generator(seed, Model(), mode)
    steps = []
    for turn in range(size):
        if order == "alternate":
            engine = ("ours", "package")[(turn + seed) % 2]
        else:
            engines = order.split("-")
            engine = engines[turn * len(engines) // size]
        generator.engine = engine
        upkeep = generator.upkeep() if generator.chance(0.25) else None
        for step in (upkeep, generator.version()):
            if step is not None:
                steps.append(step | {"engine": engine})
    return steps
