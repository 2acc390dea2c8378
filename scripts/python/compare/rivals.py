"""The engines of the comparison and how each is given a case."""

import sys
from pathlib import Path
from typing import Any

from .build import Programs
from .cases import DeleteCase, DiffCase, ReadCase, RepackCase, WriteCase
from .plan_file import write_plan
from .stores import DATASET, RAW_DATASET

OURS = "h5strata"
VERSIONED = "versioned-hdf5"
VERSIONED_R = "versioned-hdf5 r"
VERSIONED_RW = "versioned-hdf5 r+"
VERSIONED_PLANNER = "versioned-hdf5 planner"
H5PY = "h5py"
VDS_READ = "C H5Dread of the VDS"
CHUNK_READ = "C H5Dread per chunk"
DIRECT_CHUNK = "C H5Dread_chunk"
PREAD_FLOOR = "pread floor"
MEMCPY_FLOOR = "memcpy floor"
PWRITE_FLOOR = "pwrite floor"
SHA_FLOOR = "SHA-256 floor"
PLAIN_COMMIT = "C commit, plain driver and fsync"
COPY = "cp and fsync"
H5REPACK = "h5repack and fsync"
OBJECT_COPY = "C H5Ocopy and fsync"
OURS_SYNCED = "h5strata, synced"
"""As ours, with every commit on the disk before it returns."""

COMMANDS = {COPY: "cp", H5REPACK: "h5repack"}
"""Programs of the system that copy one file to another."""

PROCESS_ENGINE = [sys.executable, "-m", "compare.process_engine"]
"""How to start the engine that runs other programs."""

PACKAGE_MODES = (VERSIONED_R, VERSIONED_RW)
"""The two ways to open a file with the Python package; its better mode is the faster of them."""

C_PROGRAMS = {
    VDS_READ: "vds_read",
    CHUNK_READ: "chunk_read",
    DIRECT_CHUNK: "direct_chunk",
    PREAD_FLOOR: "pread_floor",
    MEMCPY_FLOOR: "memcpy_floor",
    PWRITE_FLOOR: "pwrite_floor",
    PLAIN_COMMIT: "plain_commit",
    OBJECT_COPY: "object_copy",
}


def engine_command(engine: str, programs: Programs) -> list[str]:
    """How to start an engine that takes its cases as requests."""
    if engine in (OURS, OURS_SYNCED):
        return [str(programs.engine)]
    if engine in COMMANDS:
        return PROCESS_ENGINE
    return [sys.executable, "-m", "compare.python_engine", "r+" if engine == VERSIONED_RW else "r"]


def read_request(engine: str, case: ReadCase, folder: Path) -> dict[str, Any]:
    """The request by which an engine reads a case."""
    store = case.store
    request: dict[str, Any] = {"op": "read", "threads": case.threads, "path": "auto"}
    if engine != H5PY:
        request |= {"file": str(store.versioned), "version": store.current, "dataset": DATASET}
    elif case.raw_index is not None:
        request |= {"file": str(store.versioned), "version": None, "dataset": RAW_DATASET}
        return request | {"selection": str(case.raw_index())}
    else:
        request |= {"file": str(store.plain), "version": None, "dataset": DATASET}
    return request | case.selection.request(folder, case.slug)


def diff_request(case: DiffCase) -> dict[str, Any]:
    """The request by which an engine finds what changed."""
    store, newest = case.store, len(case.store.changes)
    versions = {"old": f"v{newest - 1}", "new": store.current}
    return {"op": "diff", "file": str(store.versioned), "dataset": DATASET, "threads": case.threads} | versions


def c_command(engine: str, case: ReadCase, folder: Path, programs: Programs) -> list[str]:
    """The command line of a C program for a case; what it needs beforehand is written to `folder`."""
    store = case.store
    command = [str(programs.c_folder / C_PROGRAMS[engine]), "--threads", str(case.threads)]
    if engine == MEMCPY_FLOOR:
        return [*command, "--bytes", str(case.expected().nbytes)]
    command += ["--file", str(store.versioned)]
    if engine == PREAD_FLOOR:
        plan = folder / f"{case.slug}.plan"
        write_plan(store, case.selection, plan)
        return [*command, "--plan", str(plan)]
    command += ["--virtual", store.virtual_dataset, "--raw", RAW_DATASET]
    if case.uncached:
        command += ["--uncached", "1"]
    return command + case.selection.c_arguments(store.values.shape, folder, case.slug)


def write_request(engine: str, case: WriteCase, target: Path) -> dict[str, Any]:
    """The request by which an engine writes a case to a new file."""
    workload = case.workload
    if engine == SHA_FLOOR:
        return {"op": "digest", "values": str(workload.only.values_file), "piece": workload.chunk_bytes}
    request = workload.request(target) | {"threads": case.threads}
    if engine in (OURS, OURS_SYNCED):
        return request | {"synced": case.synced or engine == OURS_SYNCED}
    return request | {"versioned": engine != H5PY, "grows": workload.grows}


def write_command(engine: str, case: WriteCase, target: Path, programs: Programs) -> list[str]:
    """The command line of a C program that writes a case, or as much as its first version has."""
    workload = case.workload
    command = [str(programs.c_folder / C_PROGRAMS[engine]), "--file", str(target)]
    command += ["--bytes", str(workload.first_bytes), "--piece", str(workload.chunk_bytes)]
    if engine == PWRITE_FLOOR:
        return command
    series = workload.only
    return [*command, "--values", str(series.values_file), "--commits", str(len(series.steps) - 1)]


def delete_request(engine: str, case: DeleteCase, target: Path) -> dict[str, Any]:
    """The request by which an engine deletes versions of a file."""
    synced = case.synced or engine == OURS_SYNCED
    return {"op": "delete", "file": str(target), "versions": case.doomed, "threads": case.threads, "synced": synced}


def repack_request(engine: str, case: RepackCase, source: Path, target: Path) -> dict[str, Any]:
    """The request by which an engine copies a file, or has a program do so."""
    if engine in COMMANDS:
        return {"op": "run", "command": [COMMANDS[engine], str(source), str(target)], "sync": str(target)}
    synced = case.synced or engine == OURS_SYNCED
    return {"op": "repack", "file": str(source), "out": str(target), "threads": case.threads, "synced": synced}


def repack_command(engine: str, source: Path, target: Path, programs: Programs) -> list[str]:
    """The command line of a C program that copies a file."""
    return [str(programs.c_folder / C_PROGRAMS[engine]), "--file", str(source), "--out", str(target)]
