"""Writes a versioned file of few elements of many bytes: their text is short, and they are read in several slabs.

wide_elements.py FILE
"""

import sys

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File

#: Bytes of an element; the program's slabs are of 64 MiB.
ITEM = 1 << 13

#: More than two slabs, and more text than a pipe and the program's buffer hold.
SHAPE = (9600, 2)


def main() -> None:
    dtype = np.dtype({"names": ["x", "n"], "formats": ["<f8", "<i4"], "offsets": [0, ITEM - 4], "itemsize": ITEM})
    values = np.zeros(SHAPE, dtype)
    # Widths and the choice of an exponent depend on elements of different slabs.
    values["x"][0, 0], values["x"][9599, 1] = 0.125, 12345678.5
    values["n"][1, 0], values["n"][7000, 1] = 3, -1234567
    with h5py.File(sys.argv[1], "w") as file, VersionedHDF5File(file).stage_version("r0") as version:
        version.create_dataset("data", data=values, chunks=(3200, 2), compression="gzip", compression_opts=1)


if __name__ == "__main__":
    main()
