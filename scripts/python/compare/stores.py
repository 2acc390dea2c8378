"""The files that are measured: each a versioned file and, for h5py, a plain copy of its current version."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray
from versioned_hdf5 import VersionedHDF5File

DATASET = "data"
RAW_DATASET = f"/_version_data/{DATASET}/raw_data"

Values = NDArray[Any]


SHUFFLE_GZIP = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
"""As h5py names these filters."""


@dataclass(frozen=True)
class Store:
    """A dataset in versions. `versions[k]` makes the values of version k from those of the one before."""

    name: str
    chunks: tuple[int, ...]
    first: Callable[[], Values]
    changes: tuple[Callable[[Values], None], ...] = ()
    filters: dict[str, Any] = field(default_factory=dict)
    has_plain: bool = True
    """Whether a plain copy is made too; not where h5py is to read raw_data itself."""
    folder: Path = Path()

    @property
    def versioned(self) -> Path:
        """The file with all versions."""
        return self.folder / f"{self.name}.h5"

    @property
    def plain(self) -> Path:
        """The unversioned file with the current version's values."""
        return self.folder / f"{self.name}-plain.h5"

    @property
    def current(self) -> str:
        """The name of the current version."""
        return f"v{len(self.changes)}"

    @property
    def virtual_dataset(self) -> str:
        """The current version's virtual dataset."""
        return f"/_version_data/versions/{self.current}/{DATASET}"

    @cached_property
    def values(self) -> Values:
        """The current version's values, made anew and not read from the file."""
        values = self.first()
        for change in self.changes:
            change(values)
        return values

    def forget(self) -> None:
        """Gives back the memory of `values`."""
        self.__dict__.pop("values", None)

    def make(self) -> None:
        """Writes both files unless they are there; an interrupted one leaves nothing behind."""
        files = [(self.versioned, self._write_versioned)]
        if self.has_plain:
            files.append((self.plain, self._write_plain))
        for path, write in files:
            if path.exists():
                continue
            print(f"making {path.name}", flush=True)
            unfinished = path.with_suffix(".unfinished")
            with h5py.File(unfinished, "w") as file:
                write(file)
            unfinished.replace(path)

    def _create(self, group: Any, values: Values, **options: Any) -> None:
        dtype = h5py.string_dtype() if values.dtype == object else values.dtype
        group.create_dataset(DATASET, data=values, dtype=dtype, chunks=self.chunks, **options, **self.filters)

    def _write_versioned(self, file: h5py.File) -> None:
        versioned = VersionedHDF5File(file)
        values = self.first()
        with versioned.stage_version("v0") as group:
            self._create(group, values)
        for number, change in enumerate(self.changes, 1):
            change(values)
            with versioned.stage_version(f"v{number}") as group:
                group[DATASET][...] = values

    def _write_plain(self, file: h5py.File) -> None:
        # A chunk longer than the dataset is allowed only along an axis that can grow.
        self._create(file, self.values, maxshape=(None, *self.values.shape[1:]))


@dataclass(frozen=True)
class Scale:
    """How large the files are."""

    name: str
    r1_shape: tuple[int, int, int]
    r2_mappings: tuple[int, int, int]
    r3_chunks: int
    r4_side: int
    r5_strings: int
    r6_shape: tuple[int, int]
    w1_datasets: int
    w1_chunks: tuple[int, int]
    """Of the smallest and the largest dataset."""
    w1_versions: int
    w2_length: int
    w3_versions: int
    w4_chunks: tuple[int, int, int, int]
    w5_chunks: int
    w6_shape: tuple[int, int]
    w6_versions: int
    a1_chunks: int
    a1_commits: int
    m1_versions: int
    s2_chunks: tuple[int, int]
    """Of the dataset, and of those what a version changes."""
    s2_versions: int
    s2_most_bytes: int | None
    """Memory that is allowed, where the file is large enough to judge."""


FULL = Scale(
    name="full",
    r1_shape=(3, 74, 3944),
    r2_mappings=(1_000, 10_000, 100_000),
    r3_chunks=10_000,
    r4_side=4_000,
    r5_strings=1_000_000,
    r6_shape=(365, 12_345),
    w1_datasets=95,
    w1_chunks=(44, 440),
    w1_versions=100,
    w2_length=1_000_000,
    w3_versions=1_000,
    w4_chunks=(1_000, 10_000, 100_000, 300_000),
    w5_chunks=40_000,
    w6_shape=(200, 50_000),
    w6_versions=30,
    a1_chunks=200,
    a1_commits=20,
    m1_versions=1_000,
    s2_chunks=(743, 128),
    s2_versions=200,
    s2_most_bytes=256 << 20,
)
QUICK = Scale(
    name="quick",
    r1_shape=(3, 29, 197),
    r2_mappings=(10, 100, 1_000),
    r3_chunks=300,
    r4_side=500,
    r5_strings=20_000,
    r6_shape=(75, 1_234),
    w1_datasets=5,
    w1_chunks=(4, 40),
    w1_versions=5,
    w2_length=20_000,
    w3_versions=20,
    w4_chunks=(10, 100, 300, 1_000),
    w5_chunks=200,
    w6_shape=(20, 1_000),
    w6_versions=5,
    a1_chunks=20,
    a1_commits=3,
    m1_versions=30,
    s2_chunks=(128, 24),
    s2_versions=17,
    s2_most_bytes=None,
)

R1_CHUNKS = (900, 3, 3)
R2_CHUNK = 1_000
R3_CHUNK = 1_000
R3_CHANGES = 4
R4_CHUNK = 100
R5_CHUNK = 4_096
R6_CHUNKS = (10, 100)


def integers(shape: tuple[int, ...], seed: int) -> Values:
    """Integers that differ from place to place and do not compress."""
    return np.random.default_rng(seed).integers(-(2**62), 2**62, shape)


def measurements(shape: tuple[int, ...], seed: int) -> Values:
    """Doubles with the precision of a single: what instruments give, and what filters can make smaller."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32).astype(np.float64)


def strings(count: int) -> Values:
    """Strings of 2 to some 25 bytes, not all of them ASCII."""
    text = "na\u00efve \u4e16\u754c tick"
    lengths = np.random.default_rng(5).integers(0, len(text) + 1, count)
    return np.array([f"{i} {text[: int(n)]}" for i, n in enumerate(lengths)], dtype=object)


def change_chunks(seed: int, chunk: int) -> Callable[[Values], None]:
    """Changes one element in each of one in a hundred chunks, one at least."""

    def change(values: Values) -> None:
        n_chunks = len(values) // chunk
        chosen = np.random.default_rng(seed).choice(n_chunks, max(1, n_chunks // 100), replace=False)
        values[chosen * chunk + seed] += 1

    return change


def stores(scale: Scale, folder: Path) -> dict[str, Store]:
    """Every file by name."""
    side = (scale.r4_side, scale.r4_side)
    made = [
        Store("r1", R1_CHUNKS, lambda: integers(scale.r1_shape, 1)),
        *(
            Store(f"r2-{n}", (R2_CHUNK,), partial(np.arange, n * R2_CHUNK, dtype=np.float64), has_plain=False)
            for n in scale.r2_mappings
        ),
        Store(
            "r3",
            (R3_CHUNK,),
            lambda: integers((scale.r3_chunks * R3_CHUNK,), 3),
            tuple(change_chunks(seed, R3_CHUNK) for seed in range(1, R3_CHANGES + 1)),
        ),
        Store("r4-plain", (R4_CHUNK, R4_CHUNK), lambda: measurements(side, 4)),
        Store("r4-gzip", (R4_CHUNK, R4_CHUNK), lambda: measurements(side, 4), filters=SHUFFLE_GZIP),
        Store("r5", (R5_CHUNK,), lambda: strings(scale.r5_strings)),
        Store("r6", R6_CHUNKS, lambda: measurements(scale.r6_shape, 6)),
    ]
    return {store.name: replace(store, folder=folder) for store in made}
