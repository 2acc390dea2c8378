//! What can be wrong with a list of mappings.

use std::fmt;

use crate::dims::DimsError;
use crate::ondisk::OndiskError;

/// A list of mappings that cannot be used. Offsets are in bytes from the start of the block.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VdsBlockError {
    /// The block cannot be read from the file.
    #[error(transparent)]
    Ondisk(#[from] OndiskError),
    /// A shape and a chunk shape that do not belong together.
    #[error(transparent)]
    Dims(#[from] DimsError),
    /// The block is too short for its header and checksum.
    #[error("the list of mappings has {len} bytes, less than a header and a checksum")]
    TooShort {
        /// Size of the block in bytes.
        len: u64,
    },
    /// A block version that is not 0 or 1.
    #[error("unknown version {found} of the list of mappings")]
    Version {
        /// The version number.
        found: u8,
    },
    /// More entries than the block has room for.
    #[error("{entries} mappings cannot stand in {len} bytes")]
    EntryCount {
        /// The stored number of entries.
        entries: u64,
        /// Size of the block in bytes.
        len: u64,
    },
    /// Bytes are left behind the last entry.
    #[error("the mappings end at byte {offset}, {left} bytes before the checksum")]
    TrailingBytes {
        /// Where the last entry ends.
        offset: usize,
        /// Bytes up to the checksum.
        left: usize,
    },
    /// The stored checksum is not that of the bytes.
    #[error("checksum {stored:#010x} is stored for the mappings, the bytes give {computed:#010x}")]
    Checksum {
        /// The checksum in the block.
        stored: u32,
        /// The checksum of the bytes in the block.
        computed: u32,
    },
    /// One entry is damaged, or maps something else than a plain block.
    #[error("mapping {entry} of the list cannot be used")]
    Entry {
        /// The entry, from 0.
        entry: u64,
        /// What is wrong.
        #[source]
        fault: EntryFault,
    },
}

impl VdsBlockError {
    /// Whether the block is valid and libhdf5 can say more about it.
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::Entry { fault: EntryFault::Unsupported(_), .. }
                | Self::Ondisk(OndiskError::Unsupported { .. })
        )
    }
}

/// What is wrong with one entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// The block ends inside the entry.
    #[error("{needed} bytes are needed, {available} are left")]
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes left.
        available: usize,
    },
    /// Unknown bits in the flags.
    #[error("unknown flags {found:#04x}")]
    Flags {
        /// The flags.
        found: u8,
    },
    /// The name is that of an entry which is not an earlier one.
    #[error("the name of mapping {found} is not known yet")]
    NameReference {
        /// The entry referred to, from 0.
        found: u64,
    },
    /// A `%` in a name with something else than `b` or `%` behind it.
    #[error("a name has an unknown format specifier")]
    NameFormat,
    /// A field of a selection that cannot be right.
    #[error("{field} of a selection cannot be {value}")]
    Selection {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// Valid, and not a plain block mapped to an equal one.
    #[error("{0}")]
    Unsupported(UnsupportedMapping),
}

/// Why a valid mapping is not one of a plain block to an equal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsupportedMapping {
    /// A selection of nothing.
    NoneSelected,
    /// A selection of single points.
    PointsSelected,
    /// A selection of the whole extent, whatever it is.
    AllSelected,
    /// A hyperslab of several blocks or none.
    BlockCount,
    /// A hyperslab with gaps.
    Strided,
    /// A hyperslab without end.
    Unlimited,
    /// A name with `%b`, a family of sources.
    NamePattern,
    /// A selection of another rank than the dataset's.
    Rank,
    /// Source and virtual block differ in extent.
    Extents,
}

impl fmt::Display for UnsupportedMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoneSelected => "it selects nothing",
            Self::PointsSelected => "it selects points",
            Self::AllSelected => "it selects the whole extent",
            Self::BlockCount => "it does not select exactly one block",
            Self::Strided => "its selection has gaps",
            Self::Unlimited => "its selection is unlimited",
            Self::NamePattern => "its source is a name pattern",
            Self::Rank => "the rank of its selection is not the dataset's",
            Self::Extents => "its source and its virtual block differ in extent",
        })
    }
}

impl From<UnsupportedMapping> for EntryFault {
    fn from(why: UnsupportedMapping) -> Self {
        Self::Unsupported(why)
    }
}
