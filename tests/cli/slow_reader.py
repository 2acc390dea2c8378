"""Runs a program whose output nobody takes for a while, so that it is slow on every machine.

    slow_reader.py terminal|pipe COMMAND...

The program's standard error is a terminal or a pipe. Prints what the program wrote to it, and ends with its exit code.
"""

import sys
import time

from listening import Listened

#: Seconds that the output is left in its pipe; the program shows how far it is after half a second.
PAUSE = 1.0


def main() -> int:
    listened = Listened(sys.argv[1], sys.argv[2:])
    output = listened.program.stdout
    assert output is not None
    # From its first output on, the program has begun to count the time.
    output.read(1)
    time.sleep(PAUSE)
    while output.read(1 << 16):
        pass
    code, said = listened.end()
    sys.stdout.buffer.write(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
