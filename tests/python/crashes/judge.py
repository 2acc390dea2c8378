"""Says what a crash left: exactly the old content, exactly the new one, or neither."""

from dataclasses import dataclass
from pathlib import Path

from . import prepare
from .commits import NEW, OLD
from .prepare import FILE, LAST, NEXT, Prepared, files_in
from .program import Listing, Program, RefusedError
from .reader import Reader, ReaderError

NEITHER = "neither"


@dataclass(frozen=True)
class Verdict:
    state: str
    #: Why it is neither; or what the failed commit said.
    reason: str = ""
    #: Whether the commit said no.
    refused: bool = False


class _BrokenError(Exception):
    """The file is not as it must be."""


class Judge:
    """Looks at folders after crashes, by h5strata and by versioned-hdf5."""

    def __init__(self, program: Program, reader: Reader, *, harmless: bool) -> None:
        self._program = program
        self._reader = reader
        self._harmless = harmless

    def __call__(self, prepared: Prepared, folder: Path, number: int) -> Verdict:
        """The verdict on a folder, which is changed: it is read, read again, committed to by both.

        The number of the point chooses who opens the file first with the right to write.
        """
        try:
            state = self._state(prepared, folder)
            self._open_again(prepared, folder, state, number)
            self._commit(prepared, folder, state)
            return Verdict(state)
        except (_BrokenError, RefusedError, ReaderError) as error:
            return Verdict(NEITHER, str(error))

    def _state(self, prepared: Prepared, folder: Path) -> str:
        """What a reader sees who may not write, and so changes nothing."""
        file = folder / FILE
        if prepared.contents[OLD] is None and not file.exists():
            return OLD
        before = files_in(folder)
        _permit(folder, write=not self._harmless)
        try:
            found = prepare.read(
                self._program, file, folder.with_name("exports"), self._reader, harmless=self._harmless
            )
        except RefusedError as error:
            if prepared.contents[OLD] is not None:
                raise
            return self._begin_again(prepared, folder, error)
        finally:
            _permit(folder, write=True)
        if self._harmless and files_in(folder) != before:
            raise _BrokenError("a reader without the right to write has changed files")
        # Where a file is written anew with the same content, the old file is whole.
        is_untouched = before.get(FILE) == files_in(prepared.start).get(FILE)
        for state in (OLD, NEW) if is_untouched else (NEW, OLD):
            if found == prepared.contents[state]:
                return state
        raise _BrokenError(f"content of neither: {_difference(found.listing, prepared)}")

    def _begin_again(self, prepared: Prepared, folder: Path, refusal: RefusedError) -> str:
        """A file that was not there before may be left unfinished, if it can be made as if it were not."""
        try:
            self._program.do(self._program.init(folder / FILE))
            found = prepare.read(self._program, folder / FILE, folder.with_name("exports"), self._reader)
        except RefusedError as error:
            raise _BrokenError(f"{refusal}; again: {error}") from error
        if found != prepared.contents[NEW]:
            raise _BrokenError("made again, the file is another one")
        return OLD

    def _open_again(self, prepared: Prepared, folder: Path, state: str, number: int) -> None:
        """A reader who may write, or a recovery, or nobody before the next writer."""
        content = prepared.contents[state]
        file = folder / FILE
        if content is None or number % 3 == 0:
            return
        if number % 3 == 1 and self._program.recovers:
            self._program.recover(file)
        if self._program.listing(file) != content.listing:
            raise _BrokenError(f"first {state}, then, opened with the right to write, another content")

    def _commit(self, prepared: Prepared, folder: Path, state: str) -> None:
        """The next version by h5strata, and one by versioned-hdf5."""
        file = folder / FILE
        if not file.exists():
            self._program.do(self._program.init(file))
        if prepared.commit.is_repair:
            self._program.do(self._program.repair(file))
        self._program.do(self._program.commit(file, NEXT, *prepared.next_arguments[state]))
        if self._program.listing(file) != prepared.following[state]:
            raise _BrokenError(f"{state}, but the next commit gives another content")
        left = sorted(path.name for path in folder.iterdir() if path.name.endswith("journal"))
        if left:
            raise _BrokenError(f"left behind after the next commit: {', '.join(left)}")
        self._reader("continue_by_package", file, prepared.commit.name, state, [NEXT], LAST)


def _permit(folder: Path, *, write: bool) -> None:
    for path in folder.iterdir():
        path.chmod(0o644 if write else 0o444)
    folder.chmod(0o755 if write else 0o555)


def _difference(found: Listing, prepared: Prepared) -> str:
    """Where the content of a file differs from the new one."""
    wanted = prepared.contents[NEW]
    if wanted is None:
        return "there should be no file"
    for ours, theirs in (found.versions, wanted.listing.versions), (found.digests, wanted.listing.digests):
        other = [item for item in ours if item not in theirs] + [item for item in theirs if item not in ours]
        if other:
            return f"for one, {other[0]}"
    return "attributes"
