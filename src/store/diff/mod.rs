//! What differs between versions, and which version wrote what, by the lists of mappings alone.
//!
//! Versions share the chunks that are stored (format-v4.md, "raw_data"): where two map a chunk to the same stored one and
//! have the same part of it inside their bounds, its values are the same. That they differ elsewhere is not said: values
//! are looked at on demand alone, and of the changed chunks alone.

mod attributes;
mod blame;
mod dataset;
mod grids;
mod regions;
mod values;
mod version;

pub use attributes::AttributeDiff;
pub use blame::{Blame, BlamedChunk};
pub use dataset::{Change, ChangedChunk, DatasetDiff};
pub use regions::ChangedRegion;
pub use values::ValueDiff;
pub use version::{EntryDiff, GroupDiff, VersionDiff};
