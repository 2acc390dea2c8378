"""Runs a program that writes to a file, and stops it for a while once it has begun: it is slow on any machine.

    slow_writer.py terminal|pipe FILE COMMAND...

The program's standard error is a terminal or a pipe. Prints what the program wrote to it, and ends with its exit code.
"""

import signal
import sys
import time
from pathlib import Path

from listening import Listened

#: Bytes that the file has grown by when the program is stopped: some chunks.
BEGUN = 1 << 20

#: Seconds for which it is stopped; the program shows how far it is after half a second.
PAUSE = 1.0


def main() -> int:
    kind, name, *command = sys.argv[1:]
    path = Path(name)
    before = path.stat().st_size
    listened = Listened(kind, command)
    program = listened.program
    while program.poll() is None and path.stat().st_size < before + BEGUN:
        time.sleep(0.001)
    program.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE)
    program.send_signal(signal.SIGCONT)
    assert program.stdout is not None
    program.stdout.read()
    code, said = listened.end()
    sys.stdout.buffer.write(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
