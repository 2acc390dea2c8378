"""Versioned HDF5 files for the interop tests, and what plain h5py reads from them."""
