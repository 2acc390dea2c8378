"""Memory that is at hand before a run."""

import mmap
from pathlib import Path

MOST_OF_FREE = 0.5
"""Part of the available memory that is touched at most."""


def touch_memory(size: int) -> None:
    """Uses so many bytes of memory and lets go of them. A virtual machine whose host has taken back what it did not use
    gets it again at a fraction of the speed of memory: the next run would pay for that, not for its own work."""
    size = min(size, int(available_memory() * MOST_OF_FREE))
    if size < mmap.PAGESIZE:
        return
    with mmap.mmap(-1, size) as memory:
        for at in range(0, size, mmap.PAGESIZE):
            memory[at] = 1


def available_memory() -> int:
    """Bytes that can be had without swapping; 0 where the system does not tell."""
    try:
        with Path("/proc/meminfo").open() as lines:
            return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return 0
