//! Versioned files: their format, versions, datasets, and reading them.

mod attribute;
mod chunks;
mod commit;
mod dataset;
mod delete;
mod describe;
mod diff;
mod digest;
mod element;
mod error;
mod export;
mod file;
mod history;
mod layout;
mod library;
mod library_filters;
mod library_heaps;
mod names;
mod narrow;
mod open;
mod read;
mod read_strings;
mod rebuild;
mod recovery;
mod repack;
mod repair;
mod replace;
mod rewrite;
mod session;
mod stage;
mod stats;
mod storage;
mod timestamp;
mod upgrade;
mod verify;
mod version;
mod writer;

pub(crate) use attribute::AttributeSource;
pub use attribute::{Attribute, AttributeValue};
pub use chunks::DatasetChunk;
pub use commit::{CommitReport, DatasetReport};
pub use dataset::Dataset;
pub use delete::{DeleteOptions, DeleteReport, DeleteSelection};
pub use describe::UnsupportedType;
pub(crate) use describe::{description, dtype as describe_dtype};
pub use diff::{
    AttributeDiff, Blame, BlamedChunk, Change, ChangedChunk, ChangedRegion, DatasetDiff, EntryDiff,
    GroupDiff, ValueDiff, VersionDiff,
};
pub(crate) use digest::Trimmed;
pub use element::Element;
pub use error::{
    DataVersionReason, DatasetFault, Error, FormatFault, HashTableFault, PlainFault, RawDataFault,
};
pub use export::{ExportOptions, ExportReport};
pub(crate) use file::Direct;
pub use file::VersionedFile;
pub use history::VersionInfo;
pub use open::OpenOptions;
pub(crate) use open::{open_plain, plain_library_error};
pub use rebuild::RebuildReport;
pub use recovery::{RecoverOptions, RecoveryReport};
pub use repack::RepackOptions;
pub use repair::{Repair, RepairOptions, RepairReport};
pub use rewrite::{DatasetSettings, RewriteFault, RewriteOptions, RewriteReport, RewrittenDataset};
pub use stage::{
    BaseError, DatasetBuilder, Stage, StageFault, StageOptions, StagedDataset, StringSource,
};
pub(crate) use stage::{Settings, check_attribute, reserved_part};
pub use stats::{ChunkBytes, DatasetStats, Stats, StatsFault, StatsOptions, VersionStats};
pub use storage::Fill;
pub(crate) use storage::{check_fill_strings, filter as filter_of_library};
pub use timestamp::parse_time;
pub use upgrade::{UpgradeOptions, UpgradeReport, UpgradedTable};
pub use verify::{
    ChunkFault, ChunkUse, Finding, RowFault, Severity, StoredChunks, VerifyOptions, VerifyReport,
    VersionFault,
};
pub use version::{Entry, EntryKind, Version};
