"""Runs a program whose output nobody takes for a while, so that it is slow on every machine.

    slow_reader.py terminal|pipe COMMAND...

The program's standard error is a terminal or a pipe. Prints what the program wrote to it, and ends with its exit code.
"""

import os
import pty
import subprocess
import sys
import termios
import threading
import time

#: Seconds that the output is left in its pipe; the program shows how far it is after half a second.
PAUSE = 1.0


def main() -> int:
    kind, command = sys.argv[1], sys.argv[2:]
    ours, theirs = pty.openpty() if kind == "terminal" else os.pipe()
    if kind == "terminal":
        termios.tcsetwinsize(theirs, (24, 100))
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    said = bytearray()
    listener = threading.Thread(target=listen, args=(ours, said))
    listener.start()
    assert program.stdout is not None
    # From its first output on, the program has begun to count the time.
    program.stdout.read(1)
    time.sleep(PAUSE)
    while program.stdout.read(1 << 16):
        pass
    code = program.wait()
    listener.join()
    sys.stdout.buffer.write(said)
    return code


def listen(source: int, said: bytearray) -> None:
    """Gathers what is said until the other side is closed."""
    while True:
        try:
            part = os.read(source, 1 << 16)
        except OSError:
            # How a terminal tells that nobody has it open any more.
            return
        if not part:
            return
        said += part


if __name__ == "__main__":
    sys.exit(main())
