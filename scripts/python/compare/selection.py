"""What a case selects, in the forms that the engines want."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def parse_selection(text: str) -> tuple[Any, ...]:
    """NumPy's index for `0:10, ::2, ..., -1`: integers, slices and an ellipsis."""

    def axis(item: str) -> Any:
        if item == "...":
            return Ellipsis
        if ":" in item:
            return slice(*(int(number) if number.strip() else None for number in item.split(":")))
        return int(item)

    return tuple(axis(item.strip()) for item in text.split(","))


@dataclass(frozen=True)
class Selection:
    """Slices and integers as text, or an array of indices or a mask along the first and only axis."""

    text: str = "..."
    array: NDArray[Any] | None = field(default=None, compare=False)

    def index(self) -> Any:
        """The index for NumPy."""
        return parse_selection(self.text) if self.array is None else self.array

    def request(self, folder: Path, name: str) -> dict[str, str]:
        """The fields of a request; an array is handed over as a file, written here if it is not there."""
        if self.array is None:
            return {"selection": self.text}
        path = folder / f"{name}.npy"
        np.save(path, self.array)
        return {"index_file": str(path)}

    def c_arguments(self, shape: tuple[int, ...], folder: Path, name: str) -> list[str]:
        """The options of the C programs: start, step and count by axis, or a file of u64 indices."""
        if self.array is None:
            return ["--select", ",".join(":".join(map(str, axis)) for axis in self.strided(shape))]
        path = folder / f"{name}.u64"
        self.positions(shape[0]).astype("<u8").tofile(path)
        return ["--indices", str(path)]

    def strided(self, shape: tuple[int, ...]) -> list[tuple[int, int, int]]:
        """Start, step and count by axis of a selection by text; an integer counts as one element."""
        items = parse_selection(self.text)
        if Ellipsis in items:
            at = items.index(Ellipsis)
            items = items[:at] + (slice(None),) * (len(shape) - len(items) + 1) + items[at + 1 :]
        items += (slice(None),) * (len(shape) - len(items))
        axes = []
        for item, size in zip(items, shape, strict=True):
            wanted = range(size)[item] if isinstance(item, slice) else range(size)[item : item + 1]
            axes.append((wanted.start, wanted.step, len(wanted)))
        return axes

    def positions(self, size: int) -> NDArray[np.int64]:
        """The element indices along the first axis of length `size`, in the order of the result."""
        if self.array is None:
            start, step, count = self.strided((size,))[0]
            return start + step * np.arange(count)
        return np.flatnonzero(self.array) if self.array.dtype == bool else self.array

    def axis_positions(self, shape: tuple[int, ...]) -> list[NDArray[np.int64]]:
        """The element indices by axis."""
        if self.array is not None:
            return [self.positions(shape[0])]
        return [start + step * np.arange(count) for start, step, count in self.strided(shape)]

    def touched_chunks(self, shape: tuple[int, ...], chunks: tuple[int, ...]) -> int:
        """How many chunks hold at least one selected element."""
        touched = 1
        for positions, size in zip(self.axis_positions(shape), chunks, strict=True):
            touched *= len(np.unique(positions // size))
        return touched
