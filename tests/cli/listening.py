"""Runs programs whose standard error is a terminal or a pipe, and gathers what they write to it."""

import os
import pty
import subprocess
import termios
import threading


class Listened:
    """A program that was started; its standard error is a ``terminal`` or a ``pipe``."""

    def __init__(self, kind: str, command: list[str]) -> None:
        self._ours, theirs = pty.openpty() if kind == "terminal" else os.pipe()
        if kind == "terminal":
            termios.tcsetwinsize(theirs, (24, 100))
        environment = {**os.environ, "TERM": "xterm"}
        self.program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
        os.close(theirs)
        self._said = bytearray()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def end(self) -> tuple[int, bytes]:
        """Waits for the program's end; gives its exit code, and what it wrote to standard error."""
        code = self.program.wait()
        self._listener.join()
        return code, bytes(self._said)

    def _listen(self) -> None:
        """Gathers what is said until the other side is closed."""
        while True:
            try:
                part = os.read(self._ours, 1 << 16)
            except OSError:
                # How a terminal tells that nobody has it open any more.
                return
            if not part:
                return
            self._said += part
