use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::rewrite::RewriteFault;
use super::stage::StageFault;
use crate::atomic::{Belonging, JournalError, LockError};
use crate::chunk_map::MapError;
use crate::codec::CodecError;
use crate::dtype::Dtype;
use crate::kernel::KernelError;
use crate::ondisk::OndiskError;
use crate::plan::PlanError;
use crate::raw::{ReadError, ReadFault, StringFault};
use crate::snapshot::NotCarried;

/// Whose journal it is, and what to do.
fn of_whom(belonging: Belonging) -> &'static str {
    match belonging {
        Belonging::Moved => {
            "was written for this content in another place: if both were copied or restored together, \
             `h5strata recover --moved` applies it"
        }
        _ => {
            "belongs to another file, which this one has taken the place of: remove the journal (its name ends \
             in .h5strata-journal) if that is what you want"
        }
    }
}

/// What can go wrong with a versioned file. Every variant names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system would not open or read the file.
    #[error("{}: {source}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not HDF5.
    #[error("{}: not an HDF5 file", .file.display())]
    NotHdf5 {
        /// The file.
        file: PathBuf,
    },
    /// The file is shorter than its superblock says.
    #[error("{}: the file is truncated: it ends before its HDF5 structures do", .file.display())]
    Truncated {
        /// The file.
        file: PathBuf,
    },
    /// Another process has a plain file, which libhdf5 opens by itself, open for writing.
    #[error(
        "{}: another process has the file open for writing (HDF5 file locking; see \
         HDF5_USE_FILE_LOCKING)", .file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// The file is marked as open for writing.
    #[error(
        "{}: the last writer of the file has not closed it (`h5clear -s` removes the mark)",
        .file.display()
    )]
    NotClosed {
        /// The file.
        file: PathBuf,
    },
    /// The file is HDF5 but holds no versions.
    #[error("{}: not a versioned file: it has no group /_version_data/versions", .file.display())]
    NotVersioned {
        /// The file.
        file: PathBuf,
    },
    /// The file is of a format that is not read.
    #[error("{}: data_version {found}: {reason}", .file.display())]
    DataVersion {
        /// The file.
        file: PathBuf,
        /// Number of the format.
        found: i64,
        /// Why it is not read.
        reason: DataVersionReason,
    },
    /// A part of the format is missing or of another kind than the format says.
    #[error("{}: {object}: {fault}", .file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// Path of the object.
        object: String,
        /// What is wrong.
        fault: FormatFault,
    },
    /// The strings of an attribute cannot be read.
    #[error("{}: {object}: attribute {attribute:?}: {fault}", .file.display())]
    Attribute {
        /// The file.
        file: PathBuf,
        /// Path of the object.
        object: String,
        /// Name of the attribute.
        attribute: String,
        /// What is wrong.
        #[source]
        fault: Box<StringFault>,
    },
    /// The file was opened for reading.
    #[error("{}: the file was opened for reading only", .file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// Another stage of the same file is not committed yet.
    #[error("{}: another version is being made: commit or drop its stage first", .file.display())]
    StageOpen {
        /// The file.
        file: PathBuf,
    },
    /// A commit through this handle, or a clone of it, has failed in a way that only opening the file anew tells the
    /// outcome of, or puts right.
    #[error("{}: a commit has failed at writing: open the file anew", .file.display())]
    Broken {
        /// The file.
        file: PathBuf,
    },
    /// Through another handle the file was replaced by a new one: versions were deleted from it, or it was repacked.
    /// This handle goes on showing the old one.
    #[error("{}: another file has taken its place since it was opened: open it anew", .file.display())]
    Replaced {
        /// The file.
        file: PathBuf,
    },
    /// A new file that was to take the place of another does not show what it has to: it was thrown away.
    #[error("{}: {object}: what was written is not what was read; everything is as it was", .file.display())]
    Differs {
        /// Name of the file that it was to be.
        file: PathBuf,
        /// Path of the object that differs.
        object: String,
    },
    /// Somebody else has the file open, or has changed it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A commit has failed at writing, or the journal of a stopped one cannot be used. The file is the old one, unless
    /// the error says that the commit is complete in its journal. The handle takes no more commits: the file has to be
    /// opened anew.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A complete journal beside the file was not written for it.
    #[error("{}: the journal beside it {}", .file.display(), of_whom(*.belonging))]
    OtherJournal {
        /// The file.
        file: PathBuf,
        /// Whose journal it is.
        belonging: Belonging,
    },
    /// A part of the file is not what HDF5 says it is.
    #[error("{}: {object}: {source}", .file.display())]
    Structure {
        /// The file.
        file: PathBuf,
        /// Path of the object.
        object: String,
        /// What is wrong.
        source: OndiskError,
    },
    /// A new version cannot have what was asked for.
    #[error("{}: version {version:?}{}: {fault}", .file.display(), of_object(.path))]
    Stage {
        /// The file.
        file: PathBuf,
        /// The version that is being made.
        version: String,
        /// Path of the object; empty for the version itself.
        path: String,
        /// What is wrong.
        #[source]
        fault: Box<StageFault>,
    },
    /// The file has no version yet.
    #[error("{}: the file has no version yet", .file.display())]
    NoVersions {
        /// The file.
        file: PathBuf,
    },
    /// There is no such version.
    #[error("{}: no version {version:?}{}", .file.display(), suggest(.nearest, .known))]
    UnknownVersion {
        /// The file.
        file: PathBuf,
        /// The name asked for.
        version: String,
        /// The name that is most like it.
        nearest: Option<String>,
        /// Names of all versions.
        known: Vec<String>,
    },
    /// The version's commit was not completed.
    #[error("{}: version {version:?} was never committed: its writer stopped half-way", .file.display())]
    NotCommitted {
        /// The file.
        file: PathBuf,
        /// The version.
        version: String,
    },
    /// Versions are compared that are of two files, or of one that was opened twice.
    #[error("{}: not compared with a version of {}: only versions of one open file can be", .file.display(), .other.display())]
    OtherFile {
        /// The file.
        file: PathBuf,
        /// The file of the other version.
        other: PathBuf,
    },
    /// The history does not go back that far.
    #[error("{}: {back} versions back from the current one is before the first: it has {ancestors} ancestors",
        .file.display())]
    TooFarBack {
        /// The file.
        file: PathBuf,
        /// How far back was asked.
        back: u64,
        /// Ancestors of the current version.
        ancestors: u64,
    },
    /// No version is that old.
    #[error("{}: no version at or before {time}: the first is of {first}", .file.display())]
    BeforeFirst {
        /// The file.
        file: PathBuf,
        /// The time asked for.
        time: DateTime<Utc>,
        /// Time of the first version.
        first: DateTime<Utc>,
    },
    /// The version has no such object.
    #[error("{}: version {version:?} has no {object:?}{}", .file.display(), suggest(.nearest, .known))]
    UnknownObject {
        /// The file.
        file: PathBuf,
        /// The version.
        version: String,
        /// The path asked for.
        object: String,
        /// The dataset whose path is most like it.
        nearest: Option<String>,
        /// Paths of all datasets of the version.
        known: Vec<String>,
    },
    /// The object is a group where a dataset is needed, or the other way round.
    #[error("{}: version {version:?}: {object:?} is not a {expected}", .file.display())]
    WrongKind {
        /// The file.
        file: PathBuf,
        /// The version.
        version: String,
        /// Path of the object.
        object: String,
        /// What was needed.
        expected: &'static str,
    },
    /// A dataset of a version cannot be opened or read.
    #[error("{}: version {version:?}, dataset {dataset:?}: {fault}", .file.display())]
    Dataset {
        /// The file.
        file: PathBuf,
        /// The version.
        version: String,
        /// Path of the dataset in the version.
        dataset: String,
        /// What is wrong.
        #[source]
        fault: Box<DatasetFault>,
    },
    /// A dataset cannot be given the settings that were asked for.
    #[error("{}: dataset {dataset:?}: {fault}", .file.display())]
    Rewrite {
        /// The file.
        file: PathBuf,
        /// Path of the dataset.
        dataset: String,
        /// What is wrong.
        #[source]
        fault: Box<RewriteFault>,
    },
    /// The stored chunks of a dataset, or their hash table, cannot be read or written.
    #[error("{}: {raw_data:?}: {fault}", .file.display())]
    Storage {
        /// The file.
        file: PathBuf,
        /// Path of the stored chunks.
        raw_data: String,
        /// What is wrong.
        #[source]
        fault: Box<DatasetFault>,
    },
    /// Something cannot be carried to another file, and everything had to be.
    #[error("{}: {}", .file.display(), all(.not_carried))]
    NotCarried {
        /// The file that it is in.
        file: PathBuf,
        /// What cannot be carried.
        not_carried: Vec<NotCarried>,
    },
    /// A plain HDF5 file has no such group.
    #[error("{}: no group {group:?}", .file.display())]
    NoGroup {
        /// The file.
        file: PathBuf,
        /// Path of the group.
        group: String,
    },
    /// A plain HDF5 file with more objects than are listed: groups that hold each other.
    #[error("{}: it holds more than {most} objects", .file.display())]
    TooManyObjects {
        /// The file.
        file: PathBuf,
        /// The most that are listed.
        most: usize,
    },
    /// A dataset of a plain HDF5 file cannot be read or written.
    #[error("{}: dataset {dataset:?}: {fault}", .file.display())]
    PlainDataset {
        /// The file.
        file: PathBuf,
        /// Path of the dataset.
        dataset: String,
        /// What is wrong.
        #[source]
        fault: PlainFault,
    },
    /// libhdf5 failed.
    #[error("{}: {object}: {source}", .file.display())]
    Library {
        /// The file.
        file: PathBuf,
        /// Path of the object at hand.
        object: String,
        /// The error stack.
        source: h5strata_ffi::Error,
    },
    /// The threads asked for could not be started.
    #[error("{}: the threads cannot be started: {source}", .file.display())]
    Threads {
        /// The file.
        file: PathBuf,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
}

/// What is wrong with a dataset of a plain HDF5 file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlainFault {
    /// The fill value is a string that cannot be read.
    #[error("fill value: {0}")]
    FillValue(#[source] Box<StringFault>),
    /// libhdf5 has not created it with the filters that its chunks have.
    #[error("libhdf5 creates it without the filter {filter}")]
    Filter {
        /// The filter.
        filter: String,
    },
}

/// Why a format is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataVersionReason {
    /// Format 1, of which no new file is made.
    #[error("its hash tables are of an older recipe, and it has to be upgraded first")]
    OldHashes,
    /// Formats 2 and 3.
    #[error(
        "its hash tables of variable-length strings are known to be wrong, so that versions made \
         later may hold chunks of other data; if that is accepted it can be opened read-only, or \
         upgraded with new hash tables"
    )]
    WrongHashes,
    /// A number above the newest known format.
    #[error("the file was made by a newer version of the format than {NEWEST} and cannot be read")]
    TooNew,
    /// A number that was never given.
    #[error("there is no such format")]
    Unknown,
}

const NEWEST: i64 = super::names::NEWEST_DATA_VERSION;

/// What is wrong with a part of the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatFault {
    /// An attribute is missing.
    #[error("the attribute {name:?} is missing")]
    MissingAttribute {
        /// Name of the attribute.
        name: &'static str,
    },
    /// An attribute of another type or value than the format says.
    #[error("the attribute {name:?} is not {expected}")]
    Attribute {
        /// Name of the attribute.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A timestamp that is no time.
    #[error("the timestamp {text:?} is not a time")]
    Timestamp {
        /// The text.
        text: String,
    },
    /// A version names a parent that does not exist.
    #[error("its parent {parent:?} does not exist")]
    DanglingParent {
        /// Name of the parent.
        parent: String,
    },
    /// A version is its own ancestor.
    #[error("it is its own ancestor")]
    CyclicParents,
    /// Something else than a group, where a version should be.
    #[error("it is not a group")]
    NotAGroup,
    /// More groups and datasets than any version has: groups that hold each other.
    #[error("it holds more than {most} groups and datasets")]
    TooManyEntries {
        /// The most that are listed.
        most: usize,
    },
    /// The current version does not exist.
    #[error("the current version {version:?} does not exist")]
    DanglingCurrent {
        /// Its name.
        version: String,
    },
}

/// What is wrong with a hash table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HashTableFault {
    /// Rows of another type.
    #[error("its rows are not {{hash: u8[32], shape: i64[2]}}")]
    Type,
    /// A number of rows that cannot be.
    #[error("largest_index is {largest_index}, and it does not have as many rows")]
    LargestIndex {
        /// The number it states.
        largest_index: i64,
    },
    /// A number of rows of another type.
    #[error("largest_index is not a little-endian integer of 8 bytes")]
    LargestIndexType,
    /// A row whose chunk is not in `raw_data`.
    #[error("row {row} is of no stored chunk")]
    Row {
        /// The row, from 0.
        row: u64,
    },
    /// Far fewer rows than chunks.
    #[error("{rows} stored chunks have no row")]
    Missing {
        /// How many.
        rows: u64,
    },
}

/// What is wrong with a dataset of a version, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetFault {
    /// The selection does not fit.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The list of mappings cannot be used.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The stored chunks are missing.
    #[error("its stored chunks are missing: there is no dataset {raw_data:?}")]
    MissingRawData {
        /// Where they should be.
        raw_data: String,
    },
    /// The stored chunks are not laid out as the format says.
    #[error("{raw_data:?} cannot hold its chunks: {fault}")]
    RawData {
        /// Path of the dataset.
        raw_data: String,
        /// What is wrong.
        fault: RawDataFault,
    },
    /// A chunk could not be brought to where it is stored.
    #[error(transparent)]
    Stage(Box<StageFault>),
    /// A chunk could not be encoded.
    #[error("chunk {}: {error}", tuple(.coordinate))]
    Encode {
        /// The chunk's coordinate in the grid of chunks.
        coordinate: Vec<u64>,
        /// Why.
        error: CodecError,
    },
    /// Another version of the dataset cannot be looked at.
    #[error("{0}")]
    OtherVersion(#[source] Box<Error>),
    /// The digests of the stored chunks are not laid out as the format says.
    #[error("{path:?} is no hash table: {fault}")]
    HashTable {
        /// Path of the table.
        path: String,
        /// What is wrong.
        fault: HashTableFault,
    },
    /// The index of the stored chunks could not be read.
    #[error("the index of its stored chunks cannot be read: {0}")]
    Index(#[source] ReadFault),
    /// A stored chunk could not be read.
    #[error("stored chunk {raw}: {fault}")]
    StoredChunk {
        /// Its number among those of the dataset.
        raw: u64,
        /// What went wrong.
        #[source]
        fault: ReadFault,
    },
    /// A chunk could not be read.
    #[error("chunk {}: {}", tuple(.coordinate), .error.fault)]
    Chunk {
        /// The chunk's coordinate in the grid of chunks.
        coordinate: Vec<u64>,
        /// What went wrong.
        #[source]
        error: ReadError,
    },
    /// The buffer's size is not that of the result.
    #[error(transparent)]
    Buffer(#[from] KernelError),
    /// The elements are of another type than was asked for.
    #[error("elements of type {found} cannot be read as {expected}")]
    Type {
        /// The Rust type asked for.
        expected: &'static str,
        /// The dataset's type.
        found: Dtype,
    },
    /// The elements point to bytes kept elsewhere and cannot be read as bytes.
    #[error("elements of type {found} hold addresses in the file and cannot be read as bytes")]
    Pointers {
        /// The dataset's type.
        found: Dtype,
    },
    /// A string cannot be read from the global heap.
    #[error("string {element} of the selection: {fault}")]
    String {
        /// Position in the result, from 0 in C order.
        element: u64,
        /// What went wrong.
        #[source]
        fault: StringFault,
    },
    /// The strings of an attribute of the format cannot be read.
    #[error("attribute {name:?}: {fault}")]
    Attribute {
        /// Name of the attribute.
        name: &'static str,
        /// What is wrong.
        #[source]
        fault: StringFault,
    },
    /// The fill value of the stored chunks is a string that cannot be read.
    #[error("{raw_data:?}: fill value: {fault}")]
    FillValue {
        /// Path of the stored chunks.
        raw_data: String,
        /// What is wrong.
        #[source]
        fault: StringFault,
    },
    /// A part of the file is not what HDF5 says it is, or cannot be read now.
    #[error(transparent)]
    Structure(#[from] OndiskError),
    /// Memory for the result cannot be had.
    #[error("no memory for a result of {bytes} bytes")]
    Memory {
        /// Bytes of the result.
        bytes: u64,
    },
    /// The shape of the result does not fit this machine.
    #[error("a result of shape {shape:?} does not fit this machine")]
    Shape {
        /// Shape of the result in elements.
        shape: Vec<u64>,
    },
    /// libhdf5 failed.
    #[error(transparent)]
    Library(#[from] h5strata_ffi::Error),
}

/// Why a dataset cannot hold stored chunks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawDataFault {
    /// It is not chunked.
    #[error("it is not chunked")]
    NotChunked,
    /// Its shape is not one chunk wide.
    #[error("its shape {shape:?} is not a stack of chunks of shape {chunk_shape:?}")]
    Shape {
        /// Its shape in elements.
        shape: Vec<u64>,
        /// Shape of its chunks.
        chunk_shape: Vec<u64>,
    },
    /// Its rank is not that of the version's dataset.
    #[error("it has {found} axes, the version's dataset has {expected}")]
    Rank {
        /// Axes of the version's dataset.
        expected: usize,
        /// Axes of the stored chunks.
        found: usize,
    },
    /// Its elements are of another type than those of the version's dataset.
    #[error("its elements have the type {found}, those of the version's dataset {expected}")]
    Type {
        /// Type of the version's dataset.
        expected: Dtype,
        /// Type of the stored chunks.
        found: Dtype,
    },
    /// A chunk does not fit memory.
    #[error("its chunks of shape {chunk_shape:?} are too large for this machine")]
    ChunkSize {
        /// Shape of its chunks in elements.
        chunk_shape: Vec<u64>,
    },
    /// It is not where the format has stored chunks.
    #[error("it is not below /_version_data under the name of its dataset")]
    Place,
    /// Its fill value is not one element.
    #[error("its fill value has {found} bytes, an element has {expected}")]
    FillSize {
        /// Bytes of an element.
        expected: usize,
        /// Bytes of the fill value.
        found: usize,
    },
}

/// `: did you mean "x"?`, or what there is.
fn suggest(nearest: &Option<String>, known: &[String]) -> String {
    const LISTED: usize = 8;
    match (nearest, known) {
        (Some(nearest), _) => format!(": did you mean {nearest:?}?"),
        (None, []) => String::new(),
        (None, known) => {
            let more = if known.len() > LISTED { ", ..." } else { "" };
            format!(": there are {}{more}", known[..known.len().min(LISTED)].join(", "))
        }
    }
}

/// What is left behind, one after the other.
fn all(not_carried: &[NotCarried]) -> String {
    const LISTED: usize = 8;
    let mut listed: Vec<String> =
        not_carried.iter().take(LISTED).map(|one| one.to_string()).collect();
    if let Some(more) = not_carried.len().checked_sub(LISTED).filter(|more| *more > 0) {
        listed.push(format!("and {more} more"));
    }
    listed.join("; ")
}

/// A coordinate as Python writes it.
pub(super) fn tuple(coordinate: &[u64]) -> String {
    let axes: Vec<String> = coordinate.iter().map(u64::to_string).collect();
    format!("({})", axes.join(", "))
}

/// The name most like `name`, if any is alike enough to be a slip.
pub(super) fn nearest(name: &str, known: &[String]) -> Option<String> {
    const ALIKE: f64 = 0.75;
    known
        .iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.clone())
}

impl From<StageFault> for DatasetFault {
    fn from(fault: StageFault) -> Self {
        Self::Stage(Box::new(fault))
    }
}

impl DatasetFault {
    /// Of another version of the dataset.
    pub(super) fn other(error: Error) -> Self {
        Self::OtherVersion(Box::new(error))
    }
}

/// `: object`, or nothing for the version itself.
fn of_object(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(": {path:?}") }
}
