//! h5strata: versioned arrays in HDF5 files, fast and safe.

pub mod dims;
