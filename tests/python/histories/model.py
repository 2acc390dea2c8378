"""What every version of a history must hold: plain NumPy arrays, and the digests of the chunks that must be stored."""

import copy
import hashlib
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import kinds, pipelines
from .selections import InvalidHistoryError, Resolved, resolve

FIRST = "__first_version__"
Step = dict[str, Any]
Chunk = tuple[int, ...]


@dataclass
class Settings:
    """What every version of a dataset has in common."""

    dtype: str
    chunks: tuple[int, ...]
    fill: np.ndarray
    filters: dict[str, Any]
    #: Keywords of h5py in place of `filters`, after versioned-hdf5 changed them.
    keywords: dict[str, Any] | None = None

    def pipeline(self) -> list[Any]:
        """Id, flags and parameters of each filter."""
        keywords = pipelines.keywords(self.filters) | (self.keywords or {})
        if keywords.get("compression") == "lzf":
            keywords.pop("compression_opts", None)
        return pipelines.expected(self.dtype, self.chunks, keywords)

    def is_same(self, other: "Settings") -> bool:
        """Whether nothing changes."""
        if (self.dtype, self.chunks) != (other.dtype, other.chunks):
            return False
        return kinds.same(self.fill, other.fill, self.dtype) and self.pipeline() == other.pipeline()


@dataclass
class Dataset:
    settings: Settings
    values: np.ndarray
    attrs: dict[str, Any] = field(default_factory=dict)
    #: Chunks that a version's operations touched.
    staged: set[Chunk] = field(default_factory=set)
    #: Chunks that are stored, and their digests.
    stored: dict[Chunk, bytes] = field(default_factory=dict)

    def grid(self, shape: tuple[int, ...]) -> set[Chunk]:
        """All chunks of a shape."""
        counts = [-(-size // edge) for size, edge in zip(shape, self.settings.chunks, strict=True)]
        return set(np.ndindex(*counts))

    def box(self, chunk: Chunk) -> tuple[slice, ...]:
        """Where a chunk's elements are, without what lies beyond the edge."""
        sizes = zip(chunk, self.settings.chunks, self.values.shape, strict=True)
        return tuple(slice(i * edge, min((i + 1) * edge, size)) for i, edge, size in sizes)

    def write(self, chosen: Resolved, values: np.ndarray) -> None:
        """NumPy's assignment; the last of several values for one element stays."""
        full = chosen.spread(values)
        for index in np.ndindex(*full.shape):
            self.values[tuple(axis[i] for axis, i in zip(chosen.axes, index, strict=True))] = full[index]
        self.staged |= chosen.chunks(self.settings.chunks)

    def resize(self, shape: tuple[int, ...]) -> None:
        """Cuts off, and fills with the fill value; stages edge chunks that are stored."""
        old = self.values.shape
        if len(shape) != len(old):
            raise InvalidHistoryError(f"{shape} for {old}")
        kept = tuple(slice(min(sizes)) for sizes in zip(old, shape, strict=True))
        values = np.full(shape, self.settings.fill, self.values.dtype)
        values[kept] = self.values[kept]
        self.values = values
        edges = self.settings.chunks
        for chunk in set(self.stored) | self.staged:
            common = zip(chunk, edges, old, shape, strict=True)
            if any(i * edge >= min(before, after) for i, edge, before, after in common):
                self.stored.pop(chunk, None)
                self.staged.discard(chunk)
        for axis, edge in enumerate(edges):
            smaller = min(old[axis], shape[axis])
            if old[axis] != shape[axis] and smaller % edge:
                self.staged |= {chunk for chunk in self.stored if chunk[axis] == smaller // edge}

    def rewrite(self, new: Settings) -> None:
        """Other settings: elements that are the old fill value, bit for bit, become the new one, others are cast."""
        old, values = self.settings, self.values
        stored = [self.box(chunk) for chunk in self.stored]
        # Signalling NaNs become quiet ones, which NumPy warns of.
        with np.errstate(invalid="ignore"):
            self.settings, self.values, self.stored = new, values.astype(kinds.dtype_of(new.dtype)), {}
        if old.dtype != kinds.STRING:
            self.values[kinds.equal_elements(values, old.fill)] = new.fill
        self.staged = {
            chunk for chunk in self.grid(values.shape) if any(_overlap(self.box(chunk), box) for box in stored)
        }

    def commit(self, raw: set[bytes], *, fill_edges_stored: bool) -> None:
        """Stores what was staged: `raw` are the digests of the dataset's stored chunks, of all versions.

        versioned-hdf5 compares a chunk with a whole chunk of fill alone: one at an edge is stored, fill or not.
        """
        settings = self.settings
        whole = digest(np.full(settings.chunks, settings.fill, self.values.dtype), settings.dtype)
        for chunk in self.staged:
            elements = self.values[self.box(chunk)]
            found = digest(elements, settings.dtype)
            edge_fill = np.full(elements.shape, settings.fill, self.values.dtype)
            if found == whole or (not fill_edges_stored and kinds.same(elements, edge_fill, settings.dtype)):
                self.stored.pop(chunk, None)
            else:
                self.stored[chunk] = found
        raw.update(self.stored.values())
        self.staged.clear()


def _overlap(one: tuple[slice, ...], other: tuple[slice, ...]) -> bool:
    return all(max(a.start, b.start) < min(a.stop, b.stop) for a, b in zip(one, other, strict=True))


def digest(elements: np.ndarray, dtype: str) -> bytes:
    """The digest of a chunk: its values, then its shape as Python prints it."""
    sha = hashlib.sha256()
    if dtype == kinds.STRING:
        for text in kinds.strings(elements):
            sha.update(struct.pack("<Q", len(text)) + text)
    else:
        sha.update(np.ascontiguousarray(elements).tobytes())
    sha.update(str(elements.shape).encode())
    return sha.digest()


@dataclass
class Version:
    parent: str
    timestamp: str | None
    datasets: dict[str, Dataset] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)

    def child(self, timestamp: str | None, parent: str) -> "Version":
        """The version as the next one starts: attributes of a version itself are its own."""
        return Version(parent, timestamp, copy.deepcopy(self.datasets), copy.deepcopy(self.groups))

    def dataset(self, path: str) -> Dataset:
        if path not in self.datasets:
            raise InvalidHistoryError(f"no dataset {path}")
        return self.datasets[path]

    def make_groups(self, path: str) -> None:
        """The groups above a path."""
        parts = path.split("/")[:-1]
        for end in range(1, len(parts) + 1):
            name = "/".join(parts[:end])
            if name in self.datasets:
                raise InvalidHistoryError(f"{name} is a dataset")
            self.groups.setdefault(name, {})

    def attributes(self, path: str) -> dict[str, Any]:
        if path == "":
            return self.attrs
        if path in self.groups:
            return self.groups[path]
        return self.dataset(path).attrs

    def below(self, path: str) -> list[str]:
        """A group and everything in it, or a dataset."""
        everything = [*self.datasets, *self.groups]
        found = [name for name in everything if name == path or name.startswith(path + "/")]
        if not found:
            raise InvalidHistoryError(f"nothing at {path}")
        return found


@dataclass
class Model:
    versions: dict[str, Version] = field(default_factory=dict)
    current: str = FIRST
    #: Settings of every dataset that has stored chunks, in whatever version.
    settings: dict[str, Settings] = field(default_factory=dict)
    #: Digests of all stored chunks of every dataset, of versions that were deleted too.
    raw: dict[str, set[bytes]] = field(default_factory=dict)
    #: Every path that a dataset ever had.
    paths: set[str] = field(default_factory=set)
    #: Whether chunks at an edge that hold nothing but fill are stored.
    fill_edges_stored: bool = True

    def exact_paths(self) -> list[str]:
        """Datasets whose equal values are stored once."""
        return [path for path, settings in self.settings.items() if kinds.is_exact(settings.dtype)]

    def apply(self, step: Step) -> None:
        """One step. On [`InvalidHistoryError`] the model is of no more use."""
        if step["step"] == "version":
            self._version(step)
        elif step["step"] == "delete":
            self._delete(step["versions"], everywhere=step.get("engine") == "ours")
        elif step["step"] == "repack":
            self._delete([], everywhere=True)
        elif step["step"] == "rewrite":
            self._rewrite(step)
        else:
            self._modify(step)

    def begin(self, step: Step) -> Version:
        """A version before its operations."""
        parent = step["parent"]
        parent = self.current if parent is None else parent or FIRST
        if step["name"] in self.versions or (parent != FIRST and parent not in self.versions):
            raise InvalidHistoryError("versions")
        return self.versions.get(parent, Version(FIRST, None)).child(step["timestamp"], parent)

    def finish(self, step: Step, version: Version) -> None:
        """Commits a version."""
        for path, dataset in version.datasets.items():
            self.paths.add(path)
            self.settings.setdefault(path, dataset.settings)
            raw = self.raw.setdefault(path, set())
            dataset.commit(raw, fill_edges_stored=self.fill_edges_stored)
        self.versions[step["name"]] = version
        if step["make_current"]:
            self.current = step["name"]

    def _version(self, step: Step) -> None:
        version = self.begin(step)
        for op in step["ops"]:
            self.operate(version, op)
        self.finish(step, version)

    def operate(self, version: Version, op: dict[str, Any]) -> None:
        """One operation of `h5strata commit --ops`."""
        match op["op"]:
            case "create":
                self._create(version, op)
            case "write":
                _write(version.dataset(op["dataset"]), op)
            case "resize":
                version.dataset(op["dataset"]).resize(tuple(op["shape"]))
            case "delete":
                for name in version.below(op["path"]):
                    version.datasets.pop(name, None)
                    version.groups.pop(name, None)
            case "rename":
                _rename(version, op["from"], op["to"])
            case "group":
                version.make_groups(op["path"] + "/")
            case "attr":
                attrs = version.attributes(op["path"])
                attrs.pop(op["name"], None)
                if op["value"] is not None:
                    attrs[op["name"]] = op["value"]
            case other:
                raise InvalidHistoryError(other)

    def _create(self, version: Version, op: dict[str, Any]) -> None:
        path = op["dataset"]
        if path in version.datasets or path in version.groups:
            raise InvalidHistoryError(f"{path} is taken")
        version.make_groups(path)
        text = op["dtype"]
        settings = Settings(text, tuple(op["chunks"]), kinds.fill_of(text, op.get("fill")), op["filters"])
        known = self.settings.get(path, settings)
        if known.dtype != text or known.chunks != settings.chunks or not kinds.same(known.fill, settings.fill, text):
            raise InvalidHistoryError(f"other settings for {path}")
        dense = op.get("array")
        shape = tuple(op["shape"] if dense is None else dense.shape)
        values = np.full(shape, settings.fill, kinds.dtype_of(text)) if dense is None else dense.copy()
        dataset = version.datasets[path] = Dataset(known, values)
        if dense is not None:
            dataset.staged = dataset.grid(shape)

    def _delete(self, names: list[str], *, everywhere: bool) -> None:
        """Some versions go; with `everywhere` every chunk, too, that no other version has."""
        doomed = set(names)
        if not doomed <= set(self.versions):
            raise InvalidHistoryError("versions")

        def survivor(name: str) -> str:
            while name in doomed:
                name = self.versions[name].parent
            return name

        self.current = survivor(self.current)
        for name in set(self.versions) - doomed:
            self.versions[name].parent = survivor(self.versions[name].parent)
        gone = [self.versions.pop(name) for name in names]
        for path in list(self.raw):
            # versioned-hdf5 leaves alone what has no rows in the versions that go.
            had = (version.datasets.get(path) for version in gone)
            if not everywhere and not any(dataset is not None and len(dataset.values) for dataset in had):
                continue
            kept = [version.datasets[path] for version in self.versions.values() if path in version.datasets]
            self.raw[path] = {sha for dataset in kept for sha in dataset.stored.values()}
            if not kept:
                del self.raw[path], self.settings[path]

    def _changed_settings(self, step: Step) -> Settings:
        """What a dataset has after another chunk shape, type, fill value or filters."""
        path = step["dataset"]
        if path not in self.settings or not any(path in version.datasets for version in self.versions.values()):
            raise InvalidHistoryError(f"no dataset {path}")
        old = self.settings[path]
        new = copy.copy(old)
        if "dtype" in step:
            new.dtype = step["dtype"]
            new.fill = old.fill.astype(kinds.dtype_of(new.dtype))
        if "chunks" in step:
            new.chunks = tuple(step["chunks"])
        if "fill" in step:
            new.fill = kinds.fill_of(new.dtype, step["fill"])
        if "keywords" in step:
            new.keywords = step["keywords"]
        if "filters" in step:
            new.filters, new.keywords = step["filters"], None
        return new

    def _rewrite(self, step: Step) -> None:
        """Other settings by our program: the file is written anew, and of the dataset every chunk that holds something
        of a stored one."""
        path = step["dataset"]
        old, new = self.settings.get(path), self._changed_settings(step)
        if old is not None and old.is_same(new):
            return
        self._delete([], everywhere=True)
        self.settings[path] = new
        raw = self.raw[path] = set()
        for version in self.versions.values():
            if path in version.datasets:
                version.datasets[path].rewrite(new)
                version.datasets[path].commit(raw, fill_edges_stored=self.fill_edges_stored)

    def _modify(self, step: Step) -> None:
        """Other settings for a dataset by versioned-hdf5, in all versions."""
        path = step["dataset"]
        new = self._changed_settings(step)
        old = self.settings[path]
        self.settings[path] = new
        raw = self.raw[path] = set()
        for version in self.versions.values():
            if path in version.datasets:
                dataset = version.datasets[path]
                values = dataset.values.astype(kinds.dtype_of(new.dtype))
                if "fill" in step:
                    before = old.fill.astype(values.dtype)
                    values[values == before] = new.fill
                dataset.settings, dataset.values, dataset.stored = new, values, {}
                dataset.staged = dataset.grid(values.shape)
                dataset.commit(raw, fill_edges_stored=True)


def _write(dataset: Dataset, op: dict[str, Any]) -> None:
    chosen = resolve(op["select"], dataset.values.shape)
    values = op.get("array")
    if values is None:
        values = value_array(dataset.settings.dtype, op["value"])
    dataset.write(chosen, values.astype(dataset.values.dtype))


def value_array(text: str, value: Any) -> np.ndarray:
    """A JSON value, or nested lists of them, as an array of a type."""
    if isinstance(value, list):
        return np.array(value, dtype=object) if text == kinds.STRING else np.array(value, kinds.dtype_of(text))
    if text == kinds.STRING:
        return np.array(value, dtype=object)
    return np.array(kinds.scalar(text, value), kinds.dtype_of(text))


def _rename(version: Version, old: str, new: str) -> None:
    """Moves a dataset, or a group with what is in it."""
    moved = version.below(old)
    if new in version.datasets or new in version.groups or new.startswith(old + "/"):
        raise InvalidHistoryError(f"{new} is taken")
    version.make_groups(new)
    for name in moved:
        target = new + name[len(old) :]
        if name in version.datasets:
            version.datasets[target] = version.datasets.pop(name)
        else:
            version.groups[target] = version.groups.pop(name)
