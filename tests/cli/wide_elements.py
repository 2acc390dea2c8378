"""Writes a versioned file of few elements that take many bytes: their text is short, and they are read in several slabs.

    wide_elements.py FILE
"""

import sys

import h5py
import numpy as np
from versioned_hdf5 import VersionedHDF5File

#: Bytes of an element, which the fill value's message in the file must hold; the program's slabs are of 64 MiB.
ITEM = 1 << 15

#: More than two slabs.
SHAPE = (2400, 2)


def main() -> None:
    dtype = np.dtype({"names": ["x", "n"], "formats": ["<f8", "<i4"], "offsets": [0, ITEM - 4], "itemsize": ITEM})
    values = np.zeros(SHAPE, dtype)
    # Widths and the choice of an exponent depend on elements of different slabs.
    values["x"][0, 0], values["x"][2399, 1] = 0.125, 12345678.5
    values["n"][1, 0], values["n"][1900, 1] = 3, -1234567
    with h5py.File(sys.argv[1], "w") as file, VersionedHDF5File(file).stage_version("r0") as version:
        version.create_dataset("data", data=values, chunks=(800, 2), compression="gzip", compression_opts=1)


if __name__ == "__main__":
    main()
