"""Everything about a commit that its points share: the files before and after it, what they hold, and its calls."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histories.model import Step
from histories.program import write_ops

from . import intercept, power
from .commits import COMMITS, NEW, OLD, Commit, following, write_plain
from .program import Listing, Program, run
from .reader import Reader

FILE = "data.h5"
#: The versions that h5strata and then versioned-hdf5 add to what a crash left.
NEXT, LAST = "next", "last"


class PreparationError(Exception):
    """The sweep cannot begin."""


@dataclass(frozen=True)
class Content:
    """What a file holds, by h5strata: versions, digests of values, layouts and attributes of the exports, and what is
    damaged."""

    listing: Listing
    plain: list[dict[str, Any]]
    damage: list[str]


def read(program: Program, file: Path, scratch: Path, reader: Reader, *, harmless: bool = False) -> Content:
    """Everything that h5strata says of a file."""
    listing = program.listing(file, harmless=harmless)
    scratch.mkdir(exist_ok=True)
    names = [version["version"] for version in listing.versions]
    exports = program.export(file, names, scratch, harmless=harmless)
    try:
        return Content(listing, reader("plain", exports), program.damage(file, harmless=harmless))
    finally:
        shutil.rmtree(scratch)


@dataclass(frozen=True)
class Prepared:
    """A commit, ready to be swept."""

    commit: Commit
    #: Whether the commit is made by versioned-hdf5 in place of h5strata.
    by_package: bool
    #: The folder before the commit.
    start: Path
    #: What is in the operations of a commit: arguments of the command line.
    arguments: list[str | Path]
    next_arguments: dict[str, list[str | Path]]
    #: Contents before and after; none where there is no file.
    contents: dict[str, Content | None]
    #: Listings after the next commit, on top of either.
    following: dict[str, Listing]
    calls: list[intercept.Call]
    inodes: dict[str, int]

    def command(self, program: Program, folder: Path) -> list[str | Path]:
        """The command line of the commit, on a copy of the folder."""
        return _command(self.commit, program, folder, self.arguments, by_package=self.by_package)

    def disk(self, *, syncs: bool) -> power.Disk:
        """The folder before the commit, on a modelled disk."""
        return power.Disk(files_in(self.start), self.inodes, syncs=syncs)


def _command(
    commit: Commit, program: Program, folder: Path, arguments: list[str | Path], *, by_package: bool
) -> list[str | Path]:
    file = folder / FILE
    if by_package:
        return [sys.executable, "-m", "crashes.by_package", commit.name, file]
    step = commit.step or {}
    match commit.kind:
        case "init":
            return program.init(file)
        case "delete":
            return program.delete(file, step["versions"])
        case "rewrite":
            return program.rewrite(file, step["dataset"], step["chunks"])
        case "repack":
            return program.repack(file)
        case "repair":
            return program.repair(file)
        case _:
            return program.commit(file, step["name"], *arguments)


def files_in(folder: Path) -> power.Files:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def prepare(
    commit: Commit, program: Program, library: Path, home: Path, reader: Reader, *, by_package: bool
) -> Prepared:
    """Makes the files of a commit in `home`, and holds them to the models."""
    home.mkdir(parents=True)
    start, after = home / "start", home / "after"
    start.mkdir()
    if commit.before is not None:
        program.do(program.init(start / FILE))
    for number, step in enumerate(commit.before or []):
        program.do(program.commit(start / FILE, step["name"], *_operations(step, home / f"before-{number}")))
    if commit.alter is not None:
        commit.alter(start / FILE)
    arguments = _arguments(commit, home)
    next_arguments = {
        state: _operations(following(commit.model(state), NEXT), home / f"{NEXT}-{state}") for state in (OLD, NEW)
    }

    shutil.copytree(start, after)
    inodes = {path.name: path.stat().st_ino for path in after.iterdir()}
    log = home / "calls"
    recording = intercept.environment(library, after, "record", log=log)
    done = run(_command(commit, program, after, arguments, by_package=by_package), recording)
    if done.code != 0:
        raise PreparationError(f"{commit.name}: exit code {done.code}: {done.error}")
    calls = intercept.read_calls(log)

    contents: dict[str, Content | None] = {}
    listings: dict[str, Listing] = {}
    for state, folder in ((OLD, start), (NEW, after)):
        file = folder / FILE
        contents[state] = read(program, file, home / "exports", reader) if file.exists() else None
        if contents[state] is not None and not (commit.alter is not None and state == OLD):
            reader("hold_to_model", _copy(file, home), commit.name, state, [])
        copy = _copy(file, home)
        if not copy.exists():
            program.do(program.init(copy))
        if commit.is_repair:
            program.do(program.repair(copy))
        program.do(program.commit(copy, NEXT, *next_arguments[state]))
        listings[state] = program.listing(copy)
        reader("hold_to_model", copy, commit.name, state, [NEXT])
        copy.unlink()
    prepared = Prepared(commit, by_package, start, arguments, next_arguments, contents, listings, calls, inodes)
    _hold_record(prepared, after)
    return prepared


def _hold_record(prepared: Prepared, after: Path) -> None:
    """Every change was recorded: the calls alone lead from the first folder to the last."""
    disk = prepared.disk(syncs=True)
    try:
        for call in prepared.calls:
            disk.apply(call)
    except power.NotModelledError as error:
        raise PreparationError(f"{prepared.commit.name}: {error}") from error
    if not prepared.calls or disk.running() != files_in(after):
        raise PreparationError(f"{prepared.commit.name}: files change by calls that the library does not see")


def _copy(file: Path, home: Path) -> Path:
    copy = home / "copy.h5"
    copy.unlink(missing_ok=True)
    if file.exists():
        shutil.copyfile(file, copy)
    return copy


def _arguments(commit: Commit, home: Path) -> list[str | Path]:
    if commit.step is None or commit.kind != "version":
        return []
    if not commit.snapshot:
        return _operations(commit.step, home / "operations")
    snapshot = home / "snapshot.h5"
    write_plain(commit.model(NEW).versions[commit.step["name"]], snapshot)
    return ["--from", snapshot, "--timestamp", commit.step["timestamp"]]


def _operations(step: Step, directory: Path) -> list[str | Path]:
    directory.mkdir()
    return ["--ops", write_ops(step["ops"], directory), "--timestamp", step["timestamp"]]


def named(names: list[str] | None) -> list[Commit]:
    """The commits of these names; all without."""
    return list(COMMITS.values()) if names is None else [COMMITS[name] for name in names]


def copy_folder(source: Path, target: Path) -> None:
    """Copies a folder's files, their times aside."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)


def forget(folder: Path) -> None:
    """Removes a folder, whatever its permissions are."""
    if folder.exists():
        folder.chmod(0o755)
        shutil.rmtree(folder)
