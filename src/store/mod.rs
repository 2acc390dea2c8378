//! Versioned files: their format, versions, datasets, and reading them.

mod attribute;
mod chunks;
mod commit;
mod dataset;
mod describe;
mod digest;
mod element;
mod error;
mod file;
mod history;
mod layout;
mod library;
mod library_filters;
mod names;
mod narrow;
mod read;
mod read_strings;
mod stage;
mod storage;
mod timestamp;
mod version;
mod writer;

pub use attribute::{Attribute, AttributeValue};
pub use chunks::DatasetChunk;
pub use commit::{CommitReport, DatasetReport};
pub use dataset::Dataset;
pub use describe::UnsupportedType;
pub use element::Element;
pub use error::{
    DataVersionReason, DatasetFault, Error, FormatFault, HashTableFault, RawDataFault,
};
pub use file::{OpenOptions, VersionedFile};
pub use history::VersionInfo;
pub use stage::{BaseError, DatasetBuilder, Stage, StageFault, StageOptions, StagedDataset};
pub use storage::Fill;
pub use timestamp::parse_time;
pub use version::{Entry, EntryKind, Version};
