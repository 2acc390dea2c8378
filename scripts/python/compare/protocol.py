"""How the comparison talks to an engine.

An engine is a process that lives as long as the comparison, so that neither its start nor its imports are measured
(where memory is short, as long as one answer: its start is not measured then either).
It reads one JSON object a line on standard input and answers each with one JSON object on a line of standard output.
What goes wrong is answered as {"error": "..."}; the engine then goes on with the next request. It ends with its input.

read    {"op": "read", "file": PATH, "version": NAME or null, "dataset": PATH, "selection": TEXT or
        "index_file": PATH.npy, "threads": N, "path": "auto" or "library"}
        -> {"seconds": S, "checksum": HEX, "shape": [N, ...]}

        Opens the file, reads the selection of a version's dataset into a fresh array that the caller could keep, and
        closes the file: `seconds` covers all three, and nothing else. With version null, dataset is a path in the
        file (plain HDF5). The selection is text as NumPy writes it (`0:10, ::7`), or a .npy file with an array of
        int64 indices, or a boolean mask, along the only axis; that file is read before the clock starts. The
        checksum is that of `checksum.py`, computed after the clock has stopped. `threads` and `path` are for engines
        that have a choice of threads and of ways to read raw chunks; others ignore them.

read_all
        {"op": "read_all", "file": PATH, "threads": N}
        -> {"seconds": S, "checksums": {VERSION: {DATASET: HEX, ...}, ...}}

        Opens the file once, reads every dataset of every version, the oldest version first and its datasets by path,
        each into an array of its own, and closes the file with all of them in memory: `seconds` covers that, with
        finding what versions and datasets there are. The checksums are those of `read`. `threads` is the number of
        threads that read datasets side by side; the Python engine has one, and takes this only if it opens files `r`.

diff    {"op": "diff", "file": PATH, "dataset": PATH, "old": NAME, "new": NAME, "threads": N}
        -> {"seconds": S, "starts": [[N, ...], ...], "checksum": HEX}

        Opens the file, finds the chunks of a dataset that are not the same in two versions, reads them as both versions
        have them, and closes the file: `seconds` covers that. `starts` are the first elements of those chunks, in C
        order; the checksum is that of the old values of all of them and then the new ones, 8-byte words.

plan    {"op": "plan", "shape": [N, ...], "chunks": [N, ...], "selection" or "index_file": as above, "times": N}
        -> {"seconds": S, "transfers": N}

        Plans the reading of a selection, without any file, `times` times. `seconds` is the mean of one plan, from
        the parsed selection to the last transfer; `transfers` is how many the plan has.

write   {"op": "write", "file": PATH, "chunks": [N, ...], "filters": {"compression": "gzip",
        "compression_opts": N, "shuffle": true} or {}, "threads": N, "synced": BOOL, "reopen": BOOL,
        "first_version": N, "series": [{"dataset": PATH, "values": PATH.npy,
        "steps": [{"shape": [N, ...], "write_back": BOOL, "blocks": [[[START, STOP], ...], ...], "plus": N}, ...]},
        ...]}
        -> {"seconds": S, "steps": [S, ...]}

        Makes a version a step: v0, which makes the file, v1, ...; or from v<first_version> on in a file that has those
        before. Every dataset has a step of each version. A step gives its dataset the shape, reads all of it and
        writes it back if that is asked for, and then writes the blocks: parts of the values, each to the same place in
        the dataset, with `plus` added to each 8-byte word as an integer. The one block of version 0 is the dataset
        that is created. The seconds of a step cover opening the file (where `reopen` is set or the step is the first)
        and closing it (where `reopen` is set or it is the last), but not making its blocks, which are in memory by
        then. Commits are synced to the disk where `synced` says so, by engines that can. Engines that can write without
        versions are told whether to by `versioned`, and by `grows` whether a dataset must be one that can grow. What
        stands in the file is read back by h5py.

digest  {"op": "digest", "values": PATH.npy, "piece": N} -> {"seconds": S, "digest": HEX}

        Hashes the values by SHA-256, N bytes at a time; `digest` is that of all digests one after the other.

delete  {"op": "delete", "file": PATH, "versions": [NAME, ...], "threads": N, "synced": BOOL} -> {"seconds": S}

        Opens the file, deletes the versions, and closes the file. It is synced to the disk where `synced` says so, by
        engines that can.

repack  {"op": "repack", "file": PATH, "out": PATH, "threads": N, "synced": BOOL} -> {"seconds": S}

        Opens the file, writes everything in it to a new file, and closes both.

run     {"op": "run", "command": [TEXT, ...], "sync": PATH or null} -> {"seconds": S, "peak_bytes": N}

        Runs a program and syncs the file that it has written, if one is named. `peak_bytes` is the most memory that the
        program had resident. This is asked of `process_engine.py`, and nothing else is.

The C programs are simpler: the row is on their command line, each line on standard input runs it once, and the answer
is {"seconds": S, "checksum": HEX}, or that of `write`. `Engine.ask` with no request sends such an empty line.
"""

import json
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self


class EngineError(Exception):
    """An engine answered with an error, or not at all."""


class TooSlow(Exception):  # noqa: N818  this is an outcome, not an error
    """An engine did not answer within the time it was given, and was ended."""


class Engine:
    """One running engine."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets the engine end, if it has not."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):  # what an engine that has died was still to be sent
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Whether it answers no more."""
        return self._process.poll() is not None

    def ask(self, request: dict[str, Any] | None, limit: float) -> dict[str, Any]:
        """Sends one request and waits for its answer, `limit` seconds at most."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(("" if request is None else json.dumps(request)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise EngineError(f"{self.command[0]} has ended with status {self._process.wait()}") from None
        # One answer a request: what has come is a whole line, and nothing waits in the stream's own buffer.
        if not select.select([self._process.stdout], [], [], limit)[0]:
            self._process.kill()
            self._process.wait()
            raise TooSlow
        line = self._process.stdout.readline()
        if not line:
            raise EngineError(f"{self.command[0]} has ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EngineError(answer["error"])
        return answer
