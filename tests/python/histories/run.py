"""Runs a history on a file, by the engines that its steps name, and holds the file to the model."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import h5py

from . import external, package, program
from .check import check
from .model import Model, Step
from .selections import InvalidHistoryError
from .storage import raw_chunk_counts

OURS, PACKAGE = "ours", "package"
#: Which engine does what: `alternate` takes turns version by version.
ORDERS = ("package", "ours", "ours-package", "package-ours", "alternate")


class HistoryError(Exception):
    """Some engine or reader disagrees."""


def run(steps: list[Step], path: Path, program_path: Path | None, *, tools: bool = False) -> None:
    """One history on a new file at `path`.

    Raises [`InvalidHistoryError`] where its steps do not fit together, and [`HistoryError`] where somebody is wrong.
    """
    path.unlink(missing_ok=True)
    if not steps:
        raise InvalidHistoryError("nothing to do")
    replay(steps)
    model = Model()
    try:
        for engine, section in groupby(steps, key=lambda step: step["engine"]):
            part = list(section)
            do(engine, path, part, program_path)
            for step in part:
                model.apply(step)
            check(path, model)
        if tools:
            external.check_tools(path, model)
        if program_path and {step["engine"] for step in steps} == {OURS}:
            equal_counts(steps, path)
    except Exception as error:
        raise HistoryError(f"{type(error).__name__}: {error}") from error
    finally:
        path.unlink(missing_ok=True)


def do(engine: str, path: Path, steps: list[Step], program_path: Path | None) -> None:
    """Steps by one engine."""
    if engine == PACKAGE:
        package.apply(path, steps)
    elif program_path is None:
        raise InvalidHistoryError("no program")
    else:
        program.apply(program_path, path, steps)


def replay(steps: Iterable[Step]) -> Model:
    """The model at the end."""
    model = Model()
    for step in steps:
        model.apply(step)
    return model


def equal_counts(steps: list[Step], path: Path) -> None:
    """Both engines store as many chunks for one history, if versions are all that it makes."""
    if any(step["step"] != "version" for step in steps):
        # versioned-hdf5 deletes no chunks of datasets that the deleted versions have not, and does not repack.
        return
    other = path.with_suffix(".package.h5")
    other.unlink(missing_ok=True)
    try:
        package.apply(other, steps)
        with h5py.File(path) as ours, h5py.File(other) as theirs:
            found, expected = raw_chunk_counts(ours), raw_chunk_counts(theirs)
    except NotImplementedError:
        # What only our program can do.
        return
    finally:
        other.unlink(missing_ok=True)
    exact = replay(steps).exact_paths()
    if any(found.get(name) != expected.get(name) for name in exact):
        raise HistoryError(f"stored chunks: ours {found}, versioned-hdf5 {expected}")
