"""Writes a plain HDF5 file of which a version cannot have everything.

    odd_snapshot.py FILE

`data` is an array of three numbers; `scalar` has no axes, and the attribute `to` of `data` refers to it.
"""

import sys

import h5py
import numpy as np


def main() -> None:
    with h5py.File(sys.argv[1], "w") as file:
        file["data"] = np.arange(3)
        file["scalar"] = 1.5
        file["data"].attrs["to"] = file["scalar"].ref


if __name__ == "__main__":
    main()
