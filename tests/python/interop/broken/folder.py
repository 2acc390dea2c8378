"""The folder of broken files, its manifest, and the sound file that all of them start from."""

from pathlib import Path
from typing import Any

import numpy as np

from ..handmade import Handmade, Mapped, plain_mappings
from ..oracle import Row, digest

SHAPE = (10,)
VALUES = np.arange(10, dtype="<i4")
#: The digest of the right answer of every read that is listed.
RIGHT = digest(VALUES)
SOURCE = b"/_version_data/data/raw_data"


class Broken:
    """The folder of broken files and its manifest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[Row] = []
        folder.mkdir()

    def add(self, name: str, broken: str, call: str, *says: str, or_sha256: str | None = None) -> Path:
        """List a file; returns the path to write it to. Reads are of dataset "data" in version "bad"."""
        row = {"file": f"{name}.h5", "broken": broken, "call": call, "version": None, "dataset": None, "says": says}
        if call in ("read", "shape"):
            row |= {"version": "bad", "dataset": "data"}
        if call in ("version", "parent", "history"):
            row["version"] = "bad"
        self.rows.append(row | {"or_sha256": or_sha256})
        return self.folder / f"{name}.h5"


def sound(path: Path, **options: Any) -> Handmade:
    """A file with a sound version "sound", and "bad", whose dataset "data" has raw chunks but is not linked yet."""
    made = Handmade(path, **options)
    for name in ("intact", "data"):
        made.create(name, "<i4", (4,), fill=-1)
    for start in (0, 4, 8):
        made.append("intact", VALUES[start : start + 4])
        made.append("data", VALUES[start : start + 4])
    made.version("sound")
    made.link("sound", "intact", SHAPE, {(0,): 0, (1,): 1, (2,): 2})
    made.version("bad")
    return made


def whole(made: Handmade) -> list[Mapped]:
    """The right mappings of "data"."""
    return plain_mappings(made.raw("data"), SHAPE, {(0,): 0, (1,): 1, (2,): 2})
