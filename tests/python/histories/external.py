"""HDF5's own tools on files of histories: h5dump and h5repack, of HDF5 1.10 where Debian has them."""

import os
import shutil
import subprocess
from pathlib import Path

import hdf5plugin
import numpy as np

from . import kinds
from .check import check
from .model import Dataset, Model, Settings

TOOLS = ("h5dump", "h5repack")


class ToolError(Exception):
    """A tool that must read the file does not."""


def missing() -> list[str]:
    """The tools that are not installed; Debian has them in `hdf5-tools`."""
    return [name for name in TOOLS if shutil.which(name) is None]


def check_tools(path: Path, model: Model) -> None:
    """h5dump reads what the model says, and so does everybody in what h5repack makes of the file.

    No HDF5 reads LZF without h5py's filter, which is no plugin that tools could load: values of hash tables and of
    datasets with this filter are left out.
    """
    _run("h5dump", "--header", "--properties", str(path))
    readable = {
        f"/_version_data/versions/{version_name}/{name}": dataset
        for version_name, version in model.versions.items()
        for name, dataset in version.datasets.items()
        if not _is_lzf(dataset.settings)
    }
    if readable:
        _run("h5dump", *(f"--dataset={name}" for name in readable), str(path))
    for name, dataset in readable.items():
        # Strings of variable length have no binary form.
        if dataset.settings.dtype != kinds.STRING:
            _check_dumped(path, name, dataset)
    if any(settings.dtype == kinds.STRING and _is_lzf(settings) for settings in model.settings.values()):
        # h5repack 1.10.8 dies of strings of variable length behind a filter that it lacks.
        return
    repacked = path.with_suffix(".repacked.h5")
    try:
        _run("h5repack", str(path), str(repacked))
        check(repacked, model)
    finally:
        repacked.unlink(missing_ok=True)


def _check_dumped(path: Path, name: str, dataset: Dataset) -> None:
    """h5dump gives a dataset's very elements, as they are stored."""
    dumped = path.with_suffix(".dumped")
    try:
        _run("h5dump", f"--dataset={name}", "--binary=FILE", f"--output={dumped}", str(path))
        found, values = dumped.read_bytes(), dataset.values
    finally:
        dumped.unlink(missing_ok=True)
    if len(found) != values.nbytes:
        raise ToolError(f"h5dump of {name}: {len(found)} bytes, expected {values.nbytes}")
    array = np.frombuffer(found, values.dtype).reshape(values.shape)
    if not kinds.same(array, values, dataset.settings.dtype):
        raise ToolError(f"h5dump of {name}: found {array!r}, expected {values!r}")


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
