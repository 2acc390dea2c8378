//! What verifying a file finds.

use std::fmt;
use std::sync::Arc;

use super::super::error::{DatasetFault, tuple};
use super::super::names::VERSIONS;
use super::fault::{ChunkFault, RowFault, VersionFault};
use crate::chunk_map::MapError;
use crate::codec::CodecError;
use crate::dims::RawChunk;
use crate::dtype::Dtype;

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something of a version cannot be read or is not what was committed, or a later commit would go wrong by it.
    Damage,
    /// All versions are whole: it costs space, or could not be looked at.
    Remark,
}

/// Something that is not as it should be.
///
/// Remarks tell of many chunks of one `raw_data` at once, damage of each by itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finding {
    /// Damage: which version is the current one is not said, or it does not exist.
    CurrentVersion {
        /// What is wrong.
        fault: VersionFault,
    },
    /// Damage: a version's group, or its time or parent, is not as the format says, or cannot be read.
    Version {
        /// The version.
        version: String,
        /// What is wrong.
        fault: VersionFault,
    },
    /// Damage: a version has a group, a link or an attribute that cannot be read, or a dataset without the attributes by
    /// which versioned-hdf5 knows it.
    Object {
        /// The version.
        version: Arc<str>,
        /// Path in it; empty for the version itself.
        path: String,
        /// What is wrong.
        fault: VersionFault,
    },
    /// Damage: a version's dataset cannot be opened, or its list of mappings cannot be decoded.
    Dataset {
        /// The version.
        version: Arc<str>,
        /// Path of the dataset.
        dataset: Arc<str>,
        /// What is wrong.
        fault: Box<DatasetFault>,
    },
    /// Damage: one mapping of a version's dataset does not fit. The others are looked at.
    Mapping {
        /// The version.
        version: Arc<str>,
        /// Path of the dataset.
        dataset: Arc<str>,
        /// The chunk that it begins in, by its coordinate in the grid of chunks.
        chunk: Vec<u64>,
        /// What is wrong.
        fault: MapError,
    },
    /// Damage: stored chunks cannot be found.
    RawData {
        /// Path of the `raw_data`.
        raw_data: String,
        /// What is wrong.
        fault: Box<DatasetFault>,
    },
    /// Damage: a hash table, or a part of it, cannot be read.
    HashTable {
        /// Path of the `raw_data` that it is of.
        raw_data: String,
        /// What is wrong.
        fault: Box<DatasetFault>,
    },
    /// Damage: a row of a hash table does not fit.
    Row {
        /// Path of the `raw_data` that the table is of.
        raw_data: String,
        /// The row, from 0.
        row: u64,
        /// What is wrong.
        fault: RowFault,
    },
    /// Damage: `largest_index` does not count a raw chunk that versions use: the next commit of versioned-hdf5 writes
    /// over it.
    LargestIndex {
        /// Path of the `raw_data`.
        raw_data: String,
        /// The number of rows it states.
        largest_index: u64,
        /// The last raw chunk that is used.
        last: RawChunk,
    },
    /// Damage: a stored chunk.
    Chunk {
        /// Path of the `raw_data`.
        raw_data: String,
        /// The chunk.
        raw: RawChunk,
        /// Where versions use it; nowhere if it is stored for nobody, and a later commit may use it.
        uses: Vec<ChunkUse>,
        /// What is wrong.
        fault: ChunkFault,
    },
    /// Remark: a version whose commit was not completed. It is no version to any reader.
    NotCommitted {
        /// Its name.
        version: String,
    },
    /// Remark: bytes behind the end that the file tells, as a stopped writer leaves them. The next one cuts them off.
    Tail {
        /// How many.
        bytes: u64,
    },
    /// Remark: the digests are of a recipe of older files and were not compared; chunks were read.
    OtherHashes {
        /// Number of the file's format.
        data_version: i64,
    },
    /// Remark: chunks that no version uses. They cost space, and a later commit may use them. Where a version cannot be
    /// looked at, it is not known what it uses, and nothing is told of.
    Orphans(StoredChunks),
    /// Remark: chunks that no version uses and no row tells of, as a stopped writer leaves them. The next commit writes over
    /// them.
    Leftovers(StoredChunks),
    /// Remark: chunks that hold what another one holds. They cost space.
    Duplicates(StoredChunks),
    /// Remark: chunks that versions use and whose digest is not kept, as in hash tables that versioned-hdf5 has rebuilt.
    /// They were read and could not be compared.
    WithoutDigest(StoredChunks),
    /// Remark: chunks that no version uses, so that it is not known how much of them is inside its bounds: the digest is not
    /// that of any part that versions have of other chunks.
    Unproven(StoredChunks),
    /// Remark: chunks whose digest is not that of what is stored, and need not be: of compounds with bytes between their
    /// fields, which are in the digest and do not always come to the file, and behind a filter that does not keep all of
    /// a value (scale-offset).
    Inexact(StoredChunks),
    /// Remark: edge chunks that hold something else than the fill value behind the edge, as older releases of
    /// versioned-hdf5 wrote them: values that nobody reads, also of versions that were deleted since.
    Padding(StoredChunks),
    /// Remark: chunks that need a filter that is not available. They could not be looked at.
    NoFilter {
        /// The chunks.
        chunks: StoredChunks,
        /// The filter.
        fault: CodecError,
    },
    /// Remark: elements that hold addresses in the file. The chunks were read and could not be compared.
    Pointers {
        /// Path of the `raw_data`.
        raw_data: String,
        /// Type of the elements.
        dtype: Dtype,
    },
}

/// Some of the stored chunks of a `raw_data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunks {
    /// Path of the `raw_data`.
    pub raw_data: String,
    /// How many.
    pub chunks: u64,
    /// Bytes they have in the file.
    pub bytes: u64,
    /// The first of them.
    pub first: RawChunk,
}

/// A place where versions have the same stored chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkUse {
    /// Path of the dataset.
    pub dataset: Arc<str>,
    /// Coordinate in the grid of chunks.
    pub chunk: Vec<u64>,
    /// The versions, the oldest first; of very many only the first ones.
    pub versions: Vec<Arc<str>>,
    /// Versions that are not listed.
    pub more_versions: u64,
}

impl Finding {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::CurrentVersion { .. }
            | Self::Version { .. }
            | Self::Object { .. }
            | Self::Dataset { .. }
            | Self::Mapping { .. }
            | Self::RawData { .. }
            | Self::HashTable { .. }
            | Self::Row { .. }
            | Self::LargestIndex { .. }
            | Self::Chunk { .. } => Severity::Damage,
            Self::NotCommitted { .. }
            | Self::Tail { .. }
            | Self::OtherHashes { .. }
            | Self::Orphans(_)
            | Self::Leftovers(_)
            | Self::Duplicates(_)
            | Self::WithoutDigest(_)
            | Self::Unproven(_)
            | Self::Inexact(_)
            | Self::Padding(_)
            | Self::NoFilter { .. }
            | Self::Pointers { .. } => Severity::Remark,
        }
    }
}

/// What is wrong and where, in one line without the file's name.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CurrentVersion { fault } => write!(f, "{VERSIONS}: {fault}"),
            Self::Version { version, fault } => write!(f, "version {version:?}: {fault}"),
            Self::Object { version, path, fault } if path.is_empty() => {
                write!(f, "version {version:?}: {fault}")
            }
            Self::Object { version, path, fault } => write!(f, "{version} of {path}: {fault}"),
            Self::Dataset { version, dataset, fault } => {
                write!(f, "{version} of {dataset}: {fault}")
            }
            Self::Mapping { version, dataset, chunk, fault } => {
                write!(f, "{version} of {dataset}: chunk {}: {fault}", tuple(chunk))
            }
            Self::RawData { raw_data, fault } => write!(f, "{raw_data}: {fault}"),
            Self::HashTable { raw_data, fault } => {
                write!(f, "the hash table of {raw_data}: {fault}")
            }
            Self::Row { raw_data, row, fault } => {
                write!(f, "row {row} of the hash table of {raw_data}: {fault}")
            }
            Self::LargestIndex { raw_data, largest_index, last } => write!(
                f,
                "the hash table of {raw_data}: largest_index is {largest_index}, and versions use raw chunk {last}: \
                 versioned-hdf5 would write over it"
            ),
            Self::Chunk { raw_data, raw, uses, fault } => chunk(f, raw_data, *raw, uses, fault),
            Self::NotCommitted { version } => {
                write!(f, "version {version:?} was never committed: its writer stopped half-way")
            }
            Self::Tail { bytes } => {
                write!(f, "{bytes} bytes behind the end of the file: the next writer cuts them off")
            }
            Self::OtherHashes { data_version } => write!(
                f,
                "data_version {data_version}: its digests are of an older recipe, and not compared"
            ),
            Self::Orphans(chunks) => write!(f, "{chunks} used by no version"),
            Self::Leftovers(chunks) => {
                write!(f, "{chunks} left by a stopped writer: the next commit writes over them")
            }
            Self::Duplicates(chunks) => write!(f, "{chunks} equal to others"),
            Self::WithoutDigest(chunks) => {
                write!(f, "{chunks} without a digest, and not compared")
            }
            Self::Unproven(chunks) => {
                write!(f, "{chunks} used by no version and of unknown extent, and not compared")
            }
            Self::Inexact(chunks) => {
                write!(f, "{chunks} whose digests may be of more than is stored, and not compared")
            }
            Self::Padding(chunks) => {
                write!(f, "{chunks} with something else than fill behind the edge of a dataset")
            }
            Self::NoFilter { chunks, fault } => write!(f, "{chunks} not looked at: {fault}"),
            Self::Pointers { raw_data, dtype } => write!(
                f,
                "{raw_data}: elements of type {dtype} hold addresses in the file, and are not compared"
            ),
        }
    }
}

fn chunk(
    f: &mut fmt::Formatter<'_>,
    raw_data: &str,
    raw: RawChunk,
    uses: &[ChunkUse],
    fault: &ChunkFault,
) -> fmt::Result {
    let Some((first, others)) = uses.split_first() else {
        return write!(
            f,
            "raw chunk {raw} of {raw_data}, which no version is known to use: {fault}"
        );
    };
    let (oldest, sharing) = match first.versions.split_first() {
        Some((oldest, sharing)) => (&**oldest, sharing),
        None => ("?", &[][..]),
    };
    let place = tuple(&first.chunk);
    write!(f, "{oldest} of {}: chunk {place}: {fault}", first.dataset)?;
    let shared = shared(sharing, first.more_versions);
    if !shared.is_empty() {
        let verb = if sharing.len() == 1 && first.more_versions == 0 { "shares" } else { "share" };
        write!(f, "; {shared} {verb} it")?;
    }
    for other in others {
        let versions = shared_by(other);
        write!(f, "; {versions} of {} have it as chunk {}", other.dataset, tuple(&other.chunk))?;
    }
    Ok(())
}

fn shared_by(place: &ChunkUse) -> String {
    shared(&place.versions, place.more_versions)
}

/// Names of versions, one after the other, but not very many.
fn shared(versions: &[Arc<str>], more: u64) -> String {
    const LISTED: usize = 8;
    let more = more + versions.len().saturating_sub(LISTED) as u64;
    let mut names: Vec<String> =
        versions.iter().take(LISTED).map(|version| version.to_string()).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, names)) => format!("{} and {last}", names.join(", ")),
        None => String::new(),
    }
}

impl fmt::Display for StoredChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { raw_data, chunks, bytes, first } = self;
        let plural = if *chunks == 1 { "" } else { "s" };
        write!(f, "{raw_data}: {chunks} chunk{plural} of {bytes} bytes, from raw chunk {first} on,")
    }
}
