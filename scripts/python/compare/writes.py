"""The series of versions that are measured: what each version writes, and what it must hold then."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

Block = tuple[tuple[int, int], ...]
"""Start and stop by axis."""


@dataclass(frozen=True)
class Step:
    """One version of a dataset. The first one's only block is all of it."""

    shape: tuple[int, ...]
    """Of the dataset from now on."""
    blocks: tuple[Block, ...] = ()
    """Parts of the values, which are written to the same place in the dataset."""
    plus: int = 0
    """What is added to each 8-byte word of the blocks, as an integer: other values that compress as well."""
    write_back: bool = False
    """Whether everything is read and written back, before the blocks are."""


@dataclass(frozen=True)
class Series:
    """A dataset in versions that are written one after the other."""

    dataset: str
    """Its path."""
    source: str
    """Name of the values; series of the same values name the same."""
    make: Callable[[Path], None]
    """Writes the values, elements of 8 bytes, to a .npy file."""
    steps: tuple[Step, ...]
    expected: Callable[[Values, int], Values]
    """What a version must hold, of the values and its number: told apart from the steps, so that it checks them."""
    folder: Path = Path()

    @property
    def values_file(self) -> Path:
        """The .npy file that every engine writes from."""
        return self.folder / f"{self.source}.npy"

    @cached_property
    def values(self) -> Values:
        """The values, mapped and not read."""
        mapped: Values = np.load(self.values_file, mmap_mode="r")
        return mapped

    @property
    def first_bytes(self) -> int:
        """Bytes of the first version."""
        return int(np.prod(self.steps[0].shape)) * 8

    def digest(self, piece: int) -> str:
        """SHA-256 of the digests of the first version's pieces of so many bytes, where these lie one after the
        other."""
        data = memoryview(np.load(self.values_file).reshape(-1).view(np.uint8))
        hashed = hashlib.sha256()
        for at in range(0, len(data), piece):
            hashed.update(hashlib.sha256(data[at : at + piece]).digest())
        return hashed.hexdigest()

    def prepare(self) -> None:
        """Writes the values unless they are there; an interrupted writer leaves nothing behind."""
        if not self.values_file.exists():
            unfinished = self.values_file.with_suffix(".unfinished")
            self.make(unfinished)
            unfinished.replace(self.values_file)

    def forget(self) -> None:
        """Removes the values."""
        self.__dict__.pop("values", None)
        self.values_file.unlink(missing_ok=True)

    def request(self) -> dict[str, Any]:
        """Its part of the request to write."""
        return {
            "dataset": self.dataset,
            "values": str(self.values_file),
            "steps": [asdict(step) for step in self.steps],
        }


@dataclass(frozen=True)
class Workload:
    """A file in versions, each of which has a step of every dataset."""

    name: str
    chunks: tuple[int, ...]
    series: tuple[Series, ...]
    reopen: bool = True
    """Whether the file is opened and closed for each version."""
    filters: dict[str, Any] = field(default_factory=dict)
    """As h5py names them."""

    def placed(self, folder: Path) -> "Workload":
        """The same with its values in a folder."""
        return replace(self, series=tuple(replace(series, folder=folder) for series in self.series))

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk."""
        return int(np.prod(self.chunks)) * 8

    @property
    def first_bytes(self) -> int:
        """Bytes of the first version."""
        return sum(series.first_bytes for series in self.series)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the digests of the first version's chunks, where these lie one after the other."""
        return self.only.digest(self.chunk_bytes)

    @property
    def only(self) -> Series:
        """The dataset of a file with one."""
        [series] = self.series
        return series

    @property
    def sources(self) -> set[str]:
        """Names of the values."""
        return {series.source for series in self.series}

    @property
    def versions(self) -> list[str]:
        """Names of the versions."""
        return [f"v{number}" for number in range(len(self.series[0].steps))]

    @property
    def grows(self) -> bool:
        """Whether a shape ever changes."""
        return any(step.shape != series.steps[0].shape for series in self.series for step in series.steps)

    def prepare(self) -> None:
        """Writes the values unless they are there."""
        if not all(series.values_file.exists() for series in self.series):
            print(f"making the values of {self.name}", flush=True)
        for series in self.series:
            series.prepare()

    def forget(self) -> None:
        """Removes the values."""
        for series in self.series:
            series.forget()

    def request(self, file: Path) -> dict[str, Any]:
        """The request to write it all to a new file, nothing synced."""
        return {
            "op": "write",
            "file": str(file),
            "chunks": self.chunks,
            "filters": self.filters,
            "synced": False,
            "reopen": self.reopen,
            "first_version": 0,
            "series": [series.request() for series in self.series],
        }


def everything(shape: tuple[int, ...]) -> Block:
    """The block that is all of a dataset."""
    return tuple((0, size) for size in shape)


def save(values: Callable[[], Values]) -> Callable[[Path], None]:
    """Writes values that fit into memory."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            np.save(file, values())

    return make


PIECE = 1 << 21
"""Elements that are made at a time."""


def save_signal(length: int, seed: int) -> Callable[[Path], None]:
    """Writes a long signal, piece by piece: a slow and a fast wave, and noise in the low bits.

    The waves are of 10,000 and of 250,000 elements and together 20 high, about a level of 280; the noise has a
    standard deviation of 0.01. All is rounded to the precision of a single, as instruments give it.
    """

    def make(path: Path) -> None:
        random = np.random.default_rng(seed)
        values = np.lib.format.open_memmap(path, "w+", np.float64, (length,))
        for start in range(0, length, PIECE):
            at = np.arange(start, min(start + PIECE, length), dtype=np.float64)
            noise = 0.01 * random.standard_normal(len(at), dtype=np.float32)
            wave = 280 + 15 * np.sin(at * (2 * np.pi / 250_000)) + 5 * np.sin(at * (2 * np.pi / 10_000))
            values[start : start + len(at)] = (wave + noise).astype(np.float32)
        values.flush()

    return make
