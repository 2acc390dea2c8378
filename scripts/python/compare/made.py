"""Files of versions that our own engine makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .build import Programs
from .cases import RebuildCase
from .protocol import Engine
from .rivals import OURS, engine_command


@contextmanager
def made_file(case: RebuildCase, programs: Programs, folder: Path) -> Iterator[Path]:
    """The file that a case writes anew; there is none before nor after."""
    path = folder / f"{case.slug}-original.h5"
    path.unlink(missing_ok=True)
    case.workload.prepare()
    print(f"making {path.name}", flush=True)
    try:
        with Engine(engine_command(OURS, programs)) as engine:
            engine.ask(case.workload.request(path) | {"threads": case.threads}, case.limit)
        yield path
    finally:
        path.unlink(missing_ok=True)
