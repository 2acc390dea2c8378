//! h5strata: versioned arrays in HDF5 files, fast and safe.

pub mod codec;
pub mod dims;
pub mod kernel;
pub mod plan;
pub mod selection;

pub use plan::ReadPlan;
pub use selection::Selection;
