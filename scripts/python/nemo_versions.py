"""Writes three monthly ocean-model snapshots as three versions of one file.

The snapshots are NetCDF-4 files (HDF5 inside) of the NEMO model, from the PyPI package iris-sample-data.
Each month becomes a version named for it; what does not change from month to month (the grid) is stored once.
"""

import argparse
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import h5py
from versioned_hdf5 import VersionedHDF5File

MAX_CHUNK = 64
"""Longest side of a chunk; the snapshots hold each variable in one chunk, which would show little."""


def snapshots() -> list[Path]:
    """The snapshot files in order of time."""
    folder = Path(str(files("iris_sample_data"))) / "sample_data" / "NEMO"
    return sorted(folder.glob("nemo_1m_*_grid-T.nc"))


def month(snapshot: Path) -> datetime:
    """The month of a snapshot, from the first of the two dates in its name."""
    dates = snapshot.stem.split("_")[2]
    return datetime.strptime(dates.split("-")[0], "%Y%m%d").replace(tzinfo=UTC)


def why_skipped(item: h5py.Dataset) -> str | None:
    """Why a dataset is not copied, or nothing if it is."""
    if item.attrs.get("CLASS") == b"DIMENSION_SCALE":
        return "dimension scale"
    if item.shape == ():
        return "scalar"
    if holds_references(item.dtype):
        return "references"
    return None


def holds_references(dtype: Any) -> bool:
    """Whether values of this type are, or contain, references into their own file."""
    if h5py.check_ref_dtype(dtype) is not None:
        return True
    element = h5py.check_vlen_dtype(dtype)
    if element is not None and not isinstance(element, type):
        return holds_references(element)
    return any(holds_references(dtype[name]) for name in dtype.names or ())


def copy_attributes(source: h5py.Dataset | h5py.File, target: Any) -> None:
    """Copies the attributes that mean something outside the file they come from."""
    for name in source.attrs:
        if not holds_references(source.attrs.get_id(name).dtype):
            target.attrs[name] = source.attrs[name]


def write_version(versioned: VersionedHDF5File, snapshot: Path) -> None:
    """Stages one snapshot as a version."""
    date = month(snapshot)
    with h5py.File(snapshot, "r") as source, versioned.stage_version(f"{date:%Y-%m}", timestamp=date) as group:
        print(f"{date:%Y-%m} from {snapshot.name}")
        skipped = {name: reason for name, item in source.items() if (reason := why_skipped(item))}
        for reason in dict.fromkeys(skipped.values()):
            print(f"  left out ({reason}):", ", ".join(name for name, why in skipped.items() if why == reason))
        for name, item in source.items():
            if name in skipped:
                continue
            if name in group:
                group[name][...] = item[...]
                continue
            target = group.create_dataset(
                name,
                data=item[...],
                chunks=tuple(min(size, MAX_CHUNK) for size in item.shape),
                fillvalue=item.fillvalue,
                compression="gzip",
                compression_opts=4,
                shuffle=True,
            )
            copy_attributes(item, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="the file to write")
    arguments = parser.parse_args()
    with h5py.File(arguments.file, "w") as file:
        versioned = VersionedHDF5File(file)
        for snapshot in snapshots():
            write_version(versioned, snapshot)


if __name__ == "__main__":
    main()
