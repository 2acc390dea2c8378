"""What a disk may hold after a power loss: a model of a file system, fed with the recorded calls of a process.

Kept is what was synced: bytes and size of a file by fsync or fdatasync of it, names by fsync of the folder. Of all
else a random part is kept: each write and truncation or not, of a write all, its first half or some of its sectors;
each change of a name or not, but never before an earlier one of the same name.
"""

from dataclasses import dataclass, field
from random import Random

from .intercept import Call

Files = dict[str, bytes]
#: Bytes that a disk writes as one: of old disks, and of new ones and of pages.
SECTORS = (512, 4096)
#: How much of what was not synced is kept, of a loss: nothing, little, half, most, all.
SHARES = (0.0, 0.2, 0.5, 0.8, 1.0)


class NotModelledError(Exception):
    """The process does what the model does not know."""


@dataclass
class _File:
    kept: bytes
    pending: list[Call] = field(default_factory=list)


@dataclass(frozen=True)
class _Rename:
    """A change of names: `before` no more stands for a file, `after` stands for `file`."""

    before: str | None
    after: str | None
    file: _File | None

    @property
    def names(self) -> set[str]:
        return {name for name in (self.before, self.after) if name is not None}


class Disk:
    """A folder as the calls make it; with `syncs` off a sync does nothing."""

    def __init__(self, files: Files, inodes: dict[str, int], *, syncs: bool) -> None:
        self._names = {name: _File(content) for name, content in files.items()}
        self._by_inode = {inodes[name]: file for name, file in self._names.items()}
        self._pending: list[_Rename] = []
        self._syncs = syncs

    def apply(self, call: Call) -> None:
        """The next call."""
        match call.kind:
            case "none":
                pass
            case "write" | "truncate":
                self._file(call).pending.append(call)
            case "sync":
                if self._syncs:
                    self._sync(call)
            case "create":
                file = self._by_inode[call.inode] = _File(b"")
                if call.name:
                    self._pending.append(_Rename(None, call.name, file))
            case "link":
                self._pending.append(_Rename(None, call.name, self._file(call)))
            case "unlink":
                self._pending.append(_Rename(call.name, None, None))
            case "rename":
                self._pending.append(_Rename(call.name, call.other, self._file(call)))
            case other:
                raise NotModelledError(other)

    def _file(self, call: Call) -> _File:
        try:
            return self._by_inode[call.inode]
        except KeyError:
            raise NotModelledError(f"{call.kind} of {call.name}, which no call has made") from None

    def _sync(self, call: Call) -> None:
        if call.name == "":
            self._names = _renamed(self._names, self._pending)
            self._pending = []
        else:
            file = self._file(call)
            file.kept = _changed(file.kept, [(change, [slice(None)]) for change in file.pending])
            file.pending = []

    def after_loss(self, random: Random) -> Files:
        """The files when the power comes back."""
        share = random.choice(SHARES)
        names = _renamed(self._names, _in_order(self._pending, share, random))
        return {name: _lose(file, share, random) for name, file in names.items()}

    def running(self) -> Files:
        """The files as processes see them."""
        everything = _renamed(self._names, self._pending)
        return {name: _lose(file, 1.0, None) for name, file in everything.items()}


def _renamed(names: dict[str, _File], changes: list[_Rename]) -> dict[str, _File]:
    names = dict(names)
    for change in changes:
        if change.before is not None:
            names.pop(change.before, None)
        if change.after is not None and change.file is not None:
            names[change.after] = change.file
    return names


def _in_order(changes: list[_Rename], share: float, random: Random) -> list[_Rename]:
    """Some of the changes of names."""
    kept: list[_Rename] = []
    lost: set[str] = set()
    for change in changes:
        if change.names & lost or random.random() >= share:
            lost |= change.names
        else:
            kept.append(change)
    return kept


def _lose(file: _File, share: float, random: Random | None) -> bytes:
    """A file's bytes after a loss; all of them without `random`."""
    if random is None:
        return _changed(file.kept, [(change, [slice(None)]) for change in file.pending])
    chosen = [change for change in file.pending if random.random() < share]
    return _changed(file.kept, [(change, _pieces(change, random)) for change in chosen])


def _pieces(write: Call, random: Random) -> list[slice]:
    """The parts of a write that reached the disk."""
    length = len(write.bytes)
    match random.randrange(4):
        case 0:
            return [slice(0, length // 2)]
        case 1:
            size = random.choice(SECTORS)
            starts = range(write.offset - write.offset % size, write.offset + length, size)
            return [
                slice(max(start - write.offset, 0), start - write.offset + size)
                for start in starts
                if random.random() < 0.5
            ]
        case _:
            return [slice(None)]


def _changed(content: bytes, changes: list[tuple[Call, list[slice]]]) -> bytes:
    """A file's bytes after some changes; what was never written is zero."""
    out = bytearray(content)
    for change, pieces in changes:
        if change.kind == "truncate":
            del out[change.offset :]
            out.extend(bytes(change.offset - len(out)))
        for piece in pieces if change.bytes else ():
            part = change.bytes[piece]
            start = change.offset + (piece.start or 0)
            out.extend(bytes(max(start + len(part) - len(out), 0)) if part else b"")
            out[start : start + len(part)] = part
    return bytes(out)
