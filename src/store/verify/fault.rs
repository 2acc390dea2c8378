//! What is wrong with single pieces.

use super::super::error::{DatasetFault, Error, FormatFault};
use crate::dims::RawChunk;
use crate::raw::{ReadFault, StringFault};

/// What is wrong with a version, or with an object in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VersionFault {
    /// It is not as the format says.
    #[error(transparent)]
    Format(FormatFault),
    /// libhdf5 cannot read it.
    #[error(transparent)]
    Library(h5strata_ffi::Error),
    /// An attribute cannot be read.
    #[error("attribute {attribute:?}: {fault}")]
    Attribute {
        /// Name of the attribute.
        attribute: String,
        /// What is wrong.
        #[source]
        fault: Box<StringFault>,
    },
    /// It cannot be read for another reason.
    #[error("{0}")]
    Unreadable(#[source] Box<Error>),
}

impl From<Error> for VersionFault {
    fn from(error: Error) -> Self {
        match error {
            Error::Format { fault, .. } => Self::Format(fault),
            Error::Library { source, .. } => Self::Library(source),
            Error::Attribute { attribute, fault, .. } => Self::Attribute { attribute, fault },
            error => Self::Unreadable(Box::new(error)),
        }
    }
}

/// What is wrong with a row of a hash table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// No chunk begins where it says.
    #[error("no chunk begins at element {start}")]
    Start {
        /// Where it says that its chunk begins, in elements along axis 0.
        start: i64,
    },
    /// Its chunk is behind the last.
    #[error("it is of raw chunk {raw}, raw_data has {chunks}")]
    Range {
        /// Its chunk.
        raw: RawChunk,
        /// Chunks that `raw_data` has.
        chunks: u64,
    },
    /// It ends before it begins, or behind its chunk.
    #[error("it ends at element {stop} of a chunk that begins at {start}")]
    Stop {
        /// Where it says that its chunk begins, in elements along axis 0.
        start: i64,
        /// Where it says that it ends.
        stop: i64,
    },
    /// A row before it says something else of its chunk.
    #[error("another row of raw chunk {raw} says something else")]
    Conflict {
        /// Its chunk.
        raw: RawChunk,
    },
    /// It ends elsewhere than the part of its chunk that versions have inside their bounds.
    #[error(
        "it says that raw chunk {raw} has {found} rows of elements, versions have {expected} of it"
    )]
    Extent {
        /// Its chunk.
        raw: RawChunk,
        /// Elements along axis 0 that versions have.
        expected: u64,
        /// Elements along axis 0 that the row has.
        found: u64,
    },
}

/// What is wrong with a stored chunk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkFault {
    /// It cannot be read, or its filters cannot be undone.
    #[error("unreadable: {0}")]
    Unreadable(#[source] ReadFault),
    /// One of its strings cannot be read.
    #[error("string {element} is unreadable: {fault}")]
    String {
        /// Position among the chunk's elements inside the bounds, from 0 in C order.
        element: u64,
        /// What is wrong.
        #[source]
        fault: StringFault,
    },
    /// Its strings cannot be read at all.
    #[error("unreadable: {0}")]
    Strings(#[source] Box<DatasetFault>),
    /// It holds something else than the digest in its row is of.
    #[error("its values are not those that its row in the hash table is the digest of")]
    Digest {
        /// The row's digest.
        expected: [u8; 32],
        /// The digest of its values.
        found: [u8; 32],
    },
    /// It is not stored, so that it reads as fill, and its row is of something else.
    #[error(
        "it is not in the file, and reads as fill, which is not what its row in the hash table is the digest of"
    )]
    Missing,
    /// It lies where another one does.
    #[error("it has bytes of the file in common with raw chunk {other}")]
    Overlap {
        /// The other.
        other: RawChunk,
    },
}
