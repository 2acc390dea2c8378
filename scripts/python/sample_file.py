"""Writes a small versioned file that touches the common cases: edge chunks, filters, strings, resizing, fill."""

import argparse
from pathlib import Path

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File


def write(path: Path) -> None:
    """Three versions of four datasets, each version with changes of its own."""
    with h5py.File(path, "w") as file:
        versioned = VersionedHDF5File(file)
        with versioned.stage_version("first") as group:
            group.create_dataset("grid", data=np.arange(23 * 17).reshape(23, 17), chunks=(5, 4))
            group.create_dataset(
                "sensors/temperature",
                data=np.linspace(-5.0, 30.0, 1000),
                chunks=(128,),
                compression="gzip",
                compression_opts=4,
                shuffle=True,
            )
            group.create_dataset("flags", data=np.arange(300) % 3 == 0, chunks=(64,))
            names = np.array([f"name {i} \u00e9\u4e16" for i in range(50)], dtype=object)
            group.create_dataset("names", data=names, dtype=h5py.string_dtype(), chunks=(16,))
        with versioned.stage_version("second") as group:
            group["grid"].resize((30, 17))
            group["grid"][4:9, ::3] = -1
            group["names"][7] = ""
        with versioned.stage_version("third") as group:
            group["sensors/temperature"].resize((640,))
            group["flags"][:] = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    write(parser.parse_args().file)


if __name__ == "__main__":
    main()
