"""The program under test: its command lines, and everything that it says of a file."""

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 60
#: What a process of root must not have so that permissions hold for it.
_CAPABILITIES = "-dac_override,-dac_read_search,-fowner"
_WITHOUT_POWERS = ["setpriv", f"--bounding-set={_CAPABILITIES}", f"--inh-caps={_CAPABILITIES}"]


class RefusedError(Exception):
    """The program gave an error."""


@dataclass(frozen=True)
class Done:
    """A process that has ended."""

    code: int
    out: str
    error: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def run(command: list[str | Path], environment: dict[str, str] | None = None) -> Done:
    """Runs a command to its end; raises [`RefusedError`] if there is none."""
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        raise RefusedError(f"no end after {SECONDS} s: {' '.join(map(str, command))}") from error
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip())


@dataclass(frozen=True)
class Listing:
    """What `log` and `digest` print: versions, and shape, type and digest of every dataset in every one."""

    versions: list[dict[str, Any]]
    digests: list[dict[str, Any]]


class Program:
    def __init__(self, path: Path, durability: str | None) -> None:
        self.path = path.resolve()
        options = run([self.path, "commit", "--help"]).out
        if durability is not None and "--durability" not in options:
            raise RefusedError(f"{path} has no --durability")
        self._durability: list[str | Path] = [] if durability is None else ["--durability", durability]
        self.recovers = "\n  recover " in run([self.path, "--help"]).out

    def commit(self, file: Path, name: str, *content: str | Path) -> list[str | Path]:
        """The command line of a commit; `content` is `--ops` or `--from` with its file, and the time."""
        # One thread: the calls come in the same order in every run.
        return [self.path, "commit", file, name, *content, *self._durability, "--threads", "1"]

    def delete(self, file: Path, names: list[str]) -> list[str | Path]:
        """The command line that deletes versions."""
        return [self.path, "delete", file, *names, *self._durability, "--threads", "1"]

    def rewrite(self, file: Path, dataset: str, chunks: list[int]) -> list[str | Path]:
        """The command line that gives a dataset chunks of another shape."""
        shape = ",".join(str(edge) for edge in chunks)
        return [self.path, "rewrite", file, dataset, "--chunks", shape, *self._durability, "--threads", "1"]

    def repack(self, file: Path) -> list[str | Path]:
        """The command line that writes the file anew."""
        return [self.path, "repack", file, *self._durability, "--threads", "1"]

    def repair(self, file: Path) -> list[str | Path]:
        """The command line that puts right what is damaged."""
        return [self.path, "verify", file, "--repair", *self._durability, "--threads", "1"]

    def init(self, file: Path) -> list[str | Path]:
        return [self.path, "init", file]

    def _run(self, command: list[str | Path], *, harmless: bool) -> Done:
        return run([*_WITHOUT_POWERS, *command] if harmless and os.geteuid() == 0 else command)

    def do(self, command: list[str | Path], *, harmless: bool = False) -> str:
        """What a command prints; with `harmless` as a user whom permissions bind."""
        done = self._run(command, harmless=harmless)
        if done.code != 0:
            raise RefusedError(f"{' '.join(map(str, command[1:3]))}: exit code {done.code}: {done.error}")
        return done.out

    def can_be_harmless(self) -> bool:
        """Whether a process can be started that permissions bind."""
        if os.geteuid() != 0:
            return True
        return shutil.which("setpriv") is not None and run([*_WITHOUT_POWERS, self.path, "--version"]).code == 0

    def listing(self, file: Path, *, harmless: bool = False) -> Listing:
        """Versions, and digests of every dataset in every version."""
        versions = json.loads(self.do([self.path, "log", file, "--json"], harmless=harmless))
        lines = self.do([self.path, "digest", file, "--json"], harmless=harmless).splitlines()
        return Listing(versions, [json.loads(line) for line in lines])

    def damage(self, file: Path, *, harmless: bool = False) -> list[str]:
        """What is damaged, in words."""
        done = self._run([self.path, "verify", file, "--json", "--threads", "1"], harmless=harmless)
        if done.code not in (0, 1):
            raise RefusedError(f"verify: exit code {done.code}: {done.error}")
        found = json.loads(done.out)["findings"]
        return [finding["what"] for finding in found if finding["severity"] == "damage"]

    def export(self, file: Path, versions: list[str], directory: Path, *, harmless: bool = False) -> list[Path]:
        """Every version as a plain file."""
        out = [directory / f"{number}.h5" for number in range(len(versions))]
        for version, path in zip(versions, out, strict=True):
            self.do([self.path, "export", file, version, path], harmless=harmless)
        return out

    def recover(self, file: Path) -> None:
        self.do([self.path, "recover", file, "--json"])
