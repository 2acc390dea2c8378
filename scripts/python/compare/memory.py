"""What memory the commands need that keep a file sound, each run once in a process of its own."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .build import Programs
from .cases import MemoryCase
from .made import made_file
from .outcomes import Measured, Outcome
from .protocol import Engine, EngineError, TooSlow
from .read_back import fault_of_rebuilding
from .rivals import OURS, PROCESS_ENGINE


@dataclass(frozen=True)
class Command:
    """One command of the command line."""

    name: str
    arguments: tuple[str, ...]
    written: Path | None
    """The file that is read back then."""
    left: list[int]
    """Numbers of the versions that this has."""


def commands_of(case: MemoryCase, cli: Path, file: Path, other: Path) -> Iterator[Command]:
    """The commands in the order in which they are run: each finds what those before it have left."""
    every = list(range(len(case.workload.versions)))
    yield Command("verify", (str(file),), None, every)
    yield Command("repack", (str(file), str(other)), other, every)
    yield Command("delete", (str(other), *case.doomed), other, case.left)
    if subprocess.run([cli, "rewrite", "--help"], capture_output=True).returncode == 0:
        chunks = ",".join(str(max(1, size * 4 // 5)) for size in case.workload.chunks)
        yield Command("rewrite", (str(file), case.workload.only.dataset, "--chunks", chunks), file, every)


def measure_memory(case: MemoryCase, programs: Programs, folder: Path, limit: float) -> Outcome:
    """The most memory that each command has had resident. No file is there afterwards."""
    assert programs.cli is not None
    measured: dict[str, Measured] = {}
    other = folder / f"{case.slug}.h5"
    other.unlink(missing_ok=True)
    try:
        with made_file(case, programs, folder) as file:
            for command in commands_of(case, programs.cli, file, other):
                name = f"{OURS} {command.name}"
                measured[name] = measured_once(name, [str(programs.cli), command.name, *command.arguments], limit)
                if command.written is not None and measured[name].peak_bytes is not None:
                    fault = fault_of_rebuilding(case.workload, command.left, command.written, thorough=True)
                    measured[name].fault = fault
    finally:
        other.unlink(missing_ok=True)
    return Outcome(case, measured)


def measured_once(name: str, command: list[str], limit: float) -> Measured:
    """Time and memory of one run."""
    try:
        with Engine(PROCESS_ENGINE) as engine:
            answer = engine.ask({"op": "run", "command": command, "sync": None}, limit)
    except TooSlow:
        return Measured(name, over=limit)
    except EngineError as error:
        return Measured(name, fault=str(error))
    return Measured(name, seconds=[answer["seconds"]], peak_bytes=answer["peak_bytes"])
