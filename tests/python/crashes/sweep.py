"""Stops commits at points, each in a folder of its own, and has what is left judged."""

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from random import Random

from . import identity, intercept, prepare
from .commits import NEW, OLD, Commit
from .judge import NEITHER, Judge, Verdict
from .points import CONTROL, ERROR, POWER, Point
from .power import Files
from .prepare import FILE, Prepared
from .program import Done, Program, RefusedError, run
from .reader import Reader

#: What a commit says that failed when its journal was whole: the next writer finishes it. Or of a file that has its
#: name already, which a loss of power may take from it.
FINISHED_LATER = re.compile(r"finish|recover|is made", re.IGNORECASE)


class Sweep:
    def __init__(self, program: Program, library: Path, scratch: Path, seed: int, jobs: int, *, harmless: bool) -> None:
        self._program = program
        self._library = library
        self._scratch = scratch
        self._seed = seed
        self._jobs = jobs
        self._harmless = harmless
        #: Readers that nobody uses at the moment: one for each job.
        self._readers: SimpleQueue[Reader] = SimpleQueue()
        for _ in range(jobs):
            self._readers.put(Reader())

    def prepare(self, wanted: Iterable[tuple[str, Commit, bool]]) -> dict[str, Prepared]:
        """Prepares commits: key, commit, and whether versioned-hdf5 makes it."""
        with ThreadPoolExecutor(self._jobs) as pool:
            begun = {key: pool.submit(self._prepare, key, commit, by_package) for key, commit, by_package in wanted}
            return {key: future.result() for key, future in begun.items()}

    def _prepare(self, key: str, commit: Commit, by_package: bool) -> Prepared:
        reader = self._readers.get()
        try:
            home = self._scratch / "prepared" / key
            return prepare.prepare(commit, self._program, self._library, home, reader, by_package=by_package)
        finally:
            self._readers.put(reader)

    def run(self, points: Iterable[tuple[Point, Prepared]], keep: Path) -> Iterator[tuple[Point, Verdict]]:
        """Verdicts, as they come; the folders of those that are neither are kept."""
        with ThreadPoolExecutor(self._jobs) as pool:
            begun: dict[Future[Verdict], Point] = {
                pool.submit(self._point, point, prepared, keep): point for point, prepared in points
            }
            try:
                for future in as_completed(begun):
                    yield begun[future], future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _point(self, point: Point, prepared: Prepared, keep: Path) -> Verdict:
        home = self._scratch / "points" / str(point)
        home.mkdir(parents=True)
        folder = home / "folder"
        try:
            done = self._stop(point, prepared, folder)
        except RefusedError as error:
            return Verdict(NEITHER, str(error))
        left = prepare.files_in(folder)
        reader = self._readers.get()
        try:
            judge = Judge(self._program, reader, harmless=self._harmless)
            verdict = judge(prepared, folder, point.call)
        finally:
            self._readers.put(reader)
        if done is not None:
            verdict = _with_outcome(verdict, done, point)
        elif point.mode == POWER and point.call == len(prepared.calls) and verdict.state == OLD:
            verdict = Verdict(NEITHER, "the commit was done, and then lost")
        if verdict.state == NEITHER:
            _keep(keep / str(point), prepared, left, verdict)
        prepare.forget(home)
        return verdict

    def _stop(self, point: Point, prepared: Prepared, folder: Path) -> Done | None:
        """Makes the folder as the stopped commit leaves it."""
        if point.mode in (POWER, CONTROL):
            disk = prepared.disk(syncs=point.mode == POWER)
            for call in prepared.calls[: point.call]:
                disk.apply(call)
            folder.mkdir()
            for name, content in disk.after_loss(Random(f"{self._seed} {point}")).items():
                (folder / name).write_bytes(content)
            identity.adopt(folder)
            return None
        prepare.copy_folder(prepared.start, folder)
        settings: dict[str, object] = {"call": point.call}
        mode = point.mode
        if mode == ERROR:
            name, _, sticky = point.detail.partition("-")
            mode = "sticky" if sticky else "error"
            settings["errno"] = intercept.ERRORS[name]
        environment = intercept.environment(self._library, folder, mode, **settings)
        return run(prepared.command(self._program, folder), environment)

    def close(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()


def _with_outcome(verdict: Verdict, done: Done, point: Point) -> Verdict:
    """Holds what a commit said of itself against what it left."""
    if verdict.state == NEITHER:
        return Verdict(NEITHER, f"{verdict.reason}\nthe commit: exit code {done.code}: {done.error}")
    if done.code == 0:
        return verdict if verdict.state == NEW else Verdict(NEITHER, "said to be done, but the content is old")
    if point.mode != ERROR:
        return verdict if done.killed else Verdict(NEITHER, f"not killed: exit code {done.code}: {done.error}")
    said = f"exit code {done.code}: {done.error}"
    wanted = os.strerror(intercept.ERRORS[point.detail.partition("-")[0]])
    if done.code < 0 or "panicked" in done.error:
        return Verdict(NEITHER, f"crashed: {said}")
    if FILE not in done.error or wanted not in done.error:
        return Verdict(NEITHER, f"does not name the file and the reason ({wanted}): {said}", refused=True)
    if verdict.state == NEW and not FINISHED_LATER.search(done.error):
        return Verdict(NEITHER, f"said to have failed, but the content is new: {said}", refused=True)
    return Verdict(verdict.state, refused=True)


def _keep(directory: Path, prepared: Prepared, left: Files, verdict: Verdict) -> None:
    """Keeps what a point left, and what it began with."""
    prepare.forget(directory)
    (directory / "left").mkdir(parents=True)
    prepare.copy_folder(prepared.start, directory / "start")
    for name, content in left.items():
        (directory / "left" / name).write_bytes(content)
    (directory / "why.txt").write_text(verdict.reason + "\n")
