"""A long-lived process with h5py and versioned-hdf5, which files may crash: it is started again then."""

import multiprocessing
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from histories import package
from histories.check import check
from histories.model import Model

from .commits import COMMITS, following

SECONDS = 60


class ReaderError(Exception):
    """A Python reader disagrees, gave up or crashed."""


def plain(paths: list[Path]) -> list[dict[str, Any]]:
    """What plain files hold but for values: of every group and dataset its layout and attributes."""
    out = []
    for path in paths:
        with h5py.File(path, "r") as file:
            found: dict[str, Any] = {"/": _attributes(file)}

            def visit(name: str, item: Any, found: dict[str, Any] = found) -> None:
                layout = None
                if isinstance(item, h5py.Dataset):
                    layout = (item.shape, str(item.dtype), item.chunks, item.compression, item.shuffle)
                found[name] = (layout, _attributes(item))

            file.visititems(visit)
        out.append(found)
    return out


def _attributes(item: Any) -> dict[str, Any]:
    return {name: (str(np.asarray(value).dtype), np.asarray(value).tolist()) for name, value in item.attrs.items()}


def hold_to_model(path: Path, commit: str, state: str, steps: list[str]) -> None:
    """Compares a file with the model of a commit's state and of the versions that followed."""
    check(path, _model(commit, state, steps))


def continue_by_package(path: Path, commit: str, state: str, steps: list[str], last: str) -> None:
    """Commits one more version by versioned-hdf5, and reads every version through it and through h5py."""
    model = _model(commit, state, steps)
    step = following(model, last)
    package.apply(path, [step])
    model.apply(step)
    check(path, model)


def _model(commit: str, state: str, steps: list[str]) -> Model:
    model = COMMITS[commit].model(state)
    for name in steps:
        model.apply(following(model, name))
    return model


_TASKS = {task.__name__: task for task in (plain, hold_to_model, continue_by_package)}


def _serve(connection: Connection) -> None:
    while True:
        try:
            name, arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send((True, _TASKS[name](*arguments)))
        except Exception:
            connection.send((False, traceback.format_exc(limit=-3)))


class Reader:
    """Does the tasks of this module in another process."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def __call__(self, task: str, *arguments: Any) -> Any:
        """A task's answer; raises [`ReaderError`]."""
        try:
            self._connection.send((task, arguments))
            if not self._connection.poll(SECONDS):
                raise EOFError
            good, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            self._process.kill()
            self._process.join()
            code = self._process.exitcode
            self._start()
            raise ReaderError(f"the Python reader ended (exit code {code}) or hung in {task}") from error
        if not good:
            raise ReaderError(f"{task}: {answer.strip()}")
        return answer

    def close(self) -> None:
        self._connection.close()
        self._process.join(SECONDS)
