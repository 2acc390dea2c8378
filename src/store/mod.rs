//! Versioned files: their format, versions, datasets, and reading them.

mod attribute;
mod chunks;
mod dataset;
mod describe;
mod element;
mod error;
mod file;
mod history;
mod library;
mod library_filters;
mod names;
mod narrow;
mod read;
mod read_strings;
mod storage;
mod timestamp;
mod version;

pub use attribute::{Attribute, AttributeValue};
pub use chunks::DatasetChunk;
pub use dataset::Dataset;
pub use describe::UnsupportedType;
pub use element::Element;
pub use error::{DataVersionReason, DatasetFault, Error, FormatFault, RawDataFault};
pub use file::{OpenOptions, VersionedFile};
pub use history::VersionInfo;
pub use storage::Fill;
pub use timestamp::parse_time;
pub use version::{Entry, EntryKind, Version};
