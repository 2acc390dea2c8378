"""HDF5's own tools on files of histories: h5dump and h5repack, of HDF5 1.10 where Debian has them."""

import os
import shutil
import subprocess
from pathlib import Path

import hdf5plugin

from . import kinds
from .check import check
from .model import Model, Settings

TOOLS = ("h5dump", "h5repack")


class ToolError(Exception):
    """A tool that must read the file does not."""


def missing() -> list[str]:
    """The tools that are not installed; Debian has them in `hdf5-tools`."""
    return [name for name in TOOLS if shutil.which(name) is None]


def check_tools(path: Path, model: Model) -> None:
    """h5dump reads everything, and what h5repack makes of the file still holds what the model says.

    No HDF5 reads LZF without h5py's filter, which is no plugin that tools could load: values of hash tables and of
    datasets with this filter are left out.
    """
    _run("h5dump", "--header", "--properties", str(path))
    readable = [
        f"--dataset=/_version_data/versions/{version_name}/{name}"
        for version_name, version in model.versions.items()
        for name, dataset in version.datasets.items()
        if not _is_lzf(dataset.settings)
    ]
    if readable:
        _run("h5dump", *readable, str(path))
    if any(settings.dtype == kinds.STRING and _is_lzf(settings) for settings in model.settings.values()):
        # h5repack 1.10.8 dies of strings of variable length behind a filter that it lacks.
        return
    repacked = path.with_suffix(".repacked.h5")
    try:
        _run("h5repack", str(path), str(repacked))
        check(repacked, model)
    finally:
        repacked.unlink(missing_ok=True)


def _is_lzf(settings: Settings) -> bool:
    changed = settings.keywords or {}
    return changed.get("compression") == "lzf" or ("lzf" in settings.filters and "compression" not in changed)


def _run(tool: str, *arguments: str) -> None:
    done = subprocess.run(
        [tool, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=os.environ | {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH},
    )
    if done.returncode != 0:
        raise ToolError(f"{tool} {' '.join(arguments)}: exit code {done.returncode}: {done.stderr.strip()[:2000]}")
