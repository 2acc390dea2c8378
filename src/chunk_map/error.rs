use super::vds_block::VdsBlockError;
use crate::dims::DimsError;
use crate::ondisk::OndiskError;

/// A list of mappings that does not describe a grid of stored chunks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The file's structures cannot be read.
    #[error(transparent)]
    Ondisk(#[from] OndiskError),
    /// The list of mappings cannot be decoded.
    #[error(transparent)]
    Block(#[from] VdsBlockError),
    /// libhdf5 cannot list the mappings.
    #[error(transparent)]
    Library(#[from] h5strata_ffi::Error),
    /// The shape and the chunk shape do not make a grid.
    #[error(transparent)]
    Dims(#[from] DimsError),
    /// The dataset is not virtual and holds data of its own.
    #[error("the dataset is {found} and not a virtual dataset over stored chunks")]
    NotVirtual {
        /// Its layout.
        found: &'static str,
    },
    /// The dataset has no axes.
    #[error("the dataset is scalar or null: only arrays are versioned")]
    NotAnArray,
    /// One mapping does not fit.
    #[error("mapping of the elements from {start:?} on: {fault}")]
    Mapping {
        /// First element of the mapping in the version's dataset.
        start: Vec<u64>,
        /// Why it does not fit.
        fault: MappingFault,
    },
    /// The list holds more mappings than memory can.
    #[error("no memory for a map of {chunks} chunks")]
    Memory {
        /// Chunks of the map.
        chunks: u64,
    },
}

/// Why a mapping is not one of a chunk to a stored chunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingFault {
    /// It does not begin where a chunk does.
    #[error("it does not begin at a chunk of shape {chunk_shape:?}")]
    Unaligned {
        /// Shape of a chunk in elements.
        chunk_shape: Vec<u64>,
    },
    /// It begins outside the dataset.
    #[error("it begins outside the shape {shape:?}")]
    OutsideShape {
        /// Shape of the dataset in elements.
        shape: Vec<u64>,
    },
    /// It is not as large as the chunk's part of the dataset.
    #[error("it has the extent {found:?}, its chunk has {expected:?}")]
    Extent {
        /// Extent of the chunk inside the dataset, in elements.
        expected: Vec<u64>,
        /// Extent of the mapping.
        found: Vec<u64>,
    },
    /// Its source does not begin where a stored chunk does.
    #[error("its source begins at {start:?}, where no stored chunk does")]
    SourceStart {
        /// First element in the source.
        start: Vec<u64>,
    },
    /// Its source lies outside `raw_data`.
    #[error("its source is raw chunk {raw}, raw_data has {chunks}")]
    SourceRange {
        /// Position of the stored chunk.
        raw: u64,
        /// Chunks that `raw_data` has.
        chunks: u64,
    },
    /// Its source is another file.
    #[error("its source is the file {file:?}: only '.', the same file, is supported")]
    ForeignFile {
        /// Name of the source file.
        file: String,
    },
    /// Its source is not the dataset that the other mappings name.
    #[error("its source is {found:?}, that of the others is {expected:?}")]
    OtherSource {
        /// Path of the first mapping's source.
        expected: String,
        /// Path of this one's.
        found: String,
    },
    /// Another mapping covers the same chunk.
    #[error("another mapping covers the same chunk")]
    Duplicate,
    /// It is not a block of elements mapped to an equal block.
    #[error("it does not map one block of elements to an equal one")]
    NotABlock,
}
