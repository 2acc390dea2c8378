"""Runs a program and prints how many bytes it had in memory at once, at most.

    peak_memory.py COMMAND...

Ends with the program's exit code. Its output goes to standard error.
"""

import os
import subprocess
import sys

#: Bytes of what the system counts in.
UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> int:
    # What this process holds until the program takes its place counts too, so it must be little.
    program = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
    _, status, used = os.wait4(program.pid, 0)
    print(used.ru_maxrss * UNIT)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
