"""The library in C that stops a process at a call that changes files, and the calls it records."""

import errno
import io
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = [Path(__file__).with_name(name) for name in ("intercept.c", "calls.c")]
FLAGS = ["-std=gnu11", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}


@dataclass(frozen=True)
class Call:
    """One call that changes files. Kinds and fields are those of `intercept.h`."""

    kind: str
    inode: int
    offset: int
    bytes: bytes
    name: str
    other: str


def compile_library(directory: Path) -> Path:
    """Compiles the library into a directory."""
    library = directory / "libintercept.so"
    subprocess.run(["cc", *FLAGS, "-o", library, *SOURCES, "-ldl", "-lpthread"], check=True)
    return library


def environment(library: Path, folder: Path, mode: str, **settings: object) -> dict[str, str]:
    """The environment of a process whose calls on a folder are intercepted."""
    own = {f"INTERCEPT_{name.upper()}": str(value) for name, value in settings.items()}
    folders = {"LD_PRELOAD": str(library), "INTERCEPT_FOLDER": str(folder.resolve()), "INTERCEPT_MODE": mode}
    return os.environ | folders | own


def read_calls(log: Path) -> list[Call]:
    """The calls of a record, in order."""
    calls = []
    stream = io.BytesIO(log.read_bytes() if log.exists() else b"")
    for line in stream:
        kind, inode, offset, length, name, other = line.decode().rstrip("\n").split("\t")
        calls.append(Call(kind, int(inode), int(offset), stream.read(int(length)), name, other))
    return calls
