//! Plain HDF5 and NetCDF-4 files as the content of a version.
//!
//! ```text
//! file ──► walk ──► groups, datasets, attributes ──► Stage::import ──► commit brings the chunks
//!              └──► what no version can have: NotCarried, with its reason
//! ```
//!
//! [`Snapshot::open`] lists a file and reads no values. [`Stage::import`](crate::Stage::import) stages all of it; chunks
//! are brought when the stage is committed, few at a time: stored chunks of the chunk shape that is asked for by
//! positional reads and decoded on all cores, everything else through `H5Dread`.

mod attributes;
mod base;
mod dataset;
mod file;
mod import;
mod not_carried;
mod opened;
mod progress;
mod strings;
mod walk;

pub(crate) use attributes::unreadable as left_behind;
pub use base::SnapshotError;
pub use dataset::SnapshotDataset;
pub use file::Snapshot;
pub use import::{ImportOptions, ImportReport};
pub use not_carried::{NotCarried, Reason};
pub use progress::{OnProgress, Progress};
