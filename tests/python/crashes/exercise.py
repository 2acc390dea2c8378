"""Changes files by every call that the library in C must see, and holds its record to what became of them."""

import os
import subprocess
import sys
from pathlib import Path

from . import intercept
from .power import Disk

READ_WRITE = os.O_RDWR | os.O_CREAT


def change(folder: Path) -> None:
    """Every kind of call on files of a folder."""
    os.chdir(folder)
    first = os.open("first", READ_WRITE)
    os.write(first, b"written ")
    os.writev(first, [b"in ", b"parts "])
    os.pwrite(first, b"at an offset", 100)
    os.pwritev(first, [b"parts ", b"there"], 5000)
    os.pwritev(first, [b"with", b"flags"], 6000, 0)
    os.ftruncate(first, 5500)
    os.posix_fallocate(first, 5000, 1000)
    os.fsync(first)
    second = os.open("second", READ_WRITE | os.O_APPEND | os.O_EXCL, 0o600)
    os.write(second, b"one ")
    os.write(second, b"two")
    os.fdatasync(second)
    third = os.open(folder / "third", READ_WRITE)
    os.copy_file_range(first, third, 50, 90, 10)
    os.lseek(third, 70, os.SEEK_SET)
    os.sendfile(third, first, 100, 12)
    parent = os.open(".", os.O_RDONLY)
    os.fsync(parent)
    os.link("second", "linked")
    Path("second").rename("renamed")
    os.rename("third", "linked", src_dir_fd=parent, dst_dir_fd=parent)
    os.truncate("renamed", 3)
    Path("emptied").write_bytes(b"not for long")
    os.close(os.open("emptied", os.O_WRONLY | os.O_TRUNC))
    Path("doomed").write_bytes(b"gone")
    Path("doomed").unlink()
    Path("replaced").write_bytes(b"a file with another's inode")
    Path("replaced").replace(folder / "emptied")


def check(library: Path, scratch: Path) -> bool:
    """Whether the library sees all of that."""
    folder, log = scratch / "exercise", scratch / "exercise.calls"
    folder.mkdir()
    environment = intercept.environment(library, folder, "record", log=log)
    subprocess.run([sys.executable, "-m", "crashes.exercise", folder], env=environment, check=True)
    disk = Disk({}, {}, syncs=True)
    for call in intercept.read_calls(log):
        disk.apply(call)
    return disk.running() == {path.name: path.read_bytes() for path in folder.iterdir()}


if __name__ == "__main__":
    change(Path(sys.argv[1]))
