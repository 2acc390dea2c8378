//! h5strata: versioned arrays in HDF5 files, fast and safe.

pub mod chunk_map;
pub mod codec;
pub mod dims;
pub mod dtype;
pub mod kernel;
pub mod ondisk;
pub mod plan;
pub mod raw;
pub mod selection;
pub mod store;

pub use dtype::Dtype;
pub use plan::ReadPlan;
pub use raw::RawPath;
pub use selection::Selection;
pub use store::{Dataset, Error, OpenOptions, Version, VersionedFile};
