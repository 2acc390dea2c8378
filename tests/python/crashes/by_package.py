"""One commit by versioned-hdf5, to be killed: python -m crashes.by_package COMMIT FILE"""

import sys
from pathlib import Path

import h5py
from versioned_hdf5 import VersionedHDF5File

from histories import package

from .commits import COMMITS


def main(name: str, path: Path) -> None:
    step = COMMITS[name].step
    if step is not None:
        package.apply(path, [step])
        return
    with h5py.File(path, "x") as file:
        VersionedHDF5File(file)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
