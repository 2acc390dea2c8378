"""The list of files to make: each maker registers itself under the name of its file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .selections import Axis

Maker = Callable[[Path], None]
#: A read to ask for besides the random ones: version, dataset path, axes as in `selections`.
Read = tuple[str, str, list[Axis]]


@dataclass(frozen=True)
class Entry:
    """How a file is made, and what is read from it besides random selections."""

    maker: Maker
    reads: tuple[Read, ...]


#: File name without ending -> its entry.
FILES: dict[str, Entry] = {}


def file(name: str, reads: tuple[Read, ...] = ()) -> Callable[[Maker], Maker]:
    """Register the decorated function, which writes a file to the given path, as the maker of `name`.h5."""

    def register(maker: Maker) -> Maker:
        if name in FILES:
            raise ValueError(f"two makers for {name}")
        FILES[name] = Entry(maker, reads)
        return maker

    return register
