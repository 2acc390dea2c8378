"""Other programs as engines: each request runs one, and tells its time and its memory. See protocol.py.

This imports little: to the kernel the memory of a process is at least that of the process which has started it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

TIED = ("setpriv", "--pdeathsig", "KILL", "--")
"""Lets a program end with this engine, should that be ended."""


def run(command: list[str], sync: str | None) -> dict[str, Any]:
    """Runs a program, and waits until the file that it writes is on the disk."""
    with tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*TIED, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()
            return {"error": f"{command[0]} has ended with status {process.returncode}: {said}"}
    if sync is not None:
        written = os.open(sync, os.O_RDWR)
        os.fsync(written)
        os.close(written)
    return {"seconds": time.perf_counter() - start, "peak_bytes": usage.ru_maxrss * 1024}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(run(request["command"], request["sync"])), flush=True)


if __name__ == "__main__":
    main()
