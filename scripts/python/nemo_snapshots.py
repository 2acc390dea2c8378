"""Tells where three monthly ocean-model snapshots are: a line each, the month and the file.

The snapshots are NetCDF-4 files (HDF5 inside) of the NEMO model, from the PyPI package iris-sample-data.
"""

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path


def snapshots() -> list[Path]:
    """The snapshot files in order of time."""
    folder = Path(str(files("iris_sample_data"))) / "sample_data" / "NEMO"
    return sorted(folder.glob("nemo_1m_*_grid-T.nc"))


def month(snapshot: Path) -> datetime:
    """The month of a snapshot, from the first of the two dates in its name."""
    dates = snapshot.stem.split("_")[2]
    return datetime.strptime(dates.split("-")[0], "%Y%m%d").replace(tzinfo=UTC)


if __name__ == "__main__":
    for path in snapshots():
        print(f"{month(path):%Y-%m}", path)
