//! Why stored bytes could not be decoded, or chunk bytes not encoded.

use super::filter::known_name;

/// A chunk that cannot be taken through its filter pipeline.
///
/// `filter` is the registered HDF5 id of the filter that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// A filter that this program does not have was applied to the chunk.
    #[error("filter {} is not supported", describe(*.id, .name))]
    UnknownFilter {
        /// The registered id.
        id: u16,
        /// The name stored in the file, else the registered name, else empty.
        name: String,
    },
    /// A filter that only libhdf5 can undo was applied to the chunk.
    #[error("filter {} is only available through libhdf5", describe(*.id, ""))]
    NeedsLibrary {
        /// The registered id.
        id: u16,
    },
    /// A filter that can be undone here, but not applied.
    #[error("filter {} cannot be applied, only undone", describe(*.id, ""))]
    NoEncoder {
        /// The registered id.
        id: u16,
    },
    /// A filter that no chunk may go without, on strings of variable length (`H5Z_ignore_filters`).
    #[error("filter {} cannot be applied to values of variable length", describe(*.id, ""))]
    VariableLength {
        /// The registered id.
        id: u16,
    },
    /// A chunk of 4 GiB or more, which HDF5 has no room for.
    #[error("chunks of {elements} elements of {element_size} bytes, 4 GiB or more")]
    ChunkTooLarge {
        /// Elements of a chunk.
        elements: u64,
        /// Bytes of an element.
        element_size: usize,
    },
    /// More filters than a filter mask has bits (`H5Z_MAX_NFILTERS`).
    #[error("a pipeline of {count} filters, above the limit of 32")]
    TooManyFilters {
        /// The number of filters of the pipeline.
        count: usize,
    },
    /// The checksum stored with the chunk is not that of its bytes.
    #[error("filter {}: checksum {expected:#010x} stored, {found:#010x} computed", describe(*.filter, ""))]
    Checksum {
        /// The filter that found it.
        filter: u16,
        /// The checksum stored with the chunk.
        expected: u32,
        /// The checksum of the bytes.
        found: u32,
    },
    /// The stored bytes are not what the filter writes.
    #[error("filter {}: {reason}", describe(*.filter, ""))]
    Corrupt {
        /// The filter that found it.
        filter: u16,
        /// What is wrong.
        reason: Corruption,
    },
    /// The stored bytes decode to more bytes than the chunk can have.
    #[error("filter {}: more than {limit} bytes", describe(*.filter, ""))]
    TooLong {
        /// The filter that found it.
        filter: u16,
        /// The most bytes this stage may give.
        limit: usize,
    },
    /// The stored bytes decode to a number of bytes that is not the chunk's.
    #[error("filter {}: {found} bytes where the chunk has {expected}", describe(*.filter, ""))]
    Length {
        /// The filter that gave the bytes.
        filter: u16,
        /// The number of bytes needed.
        expected: usize,
        /// The number of bytes found.
        found: usize,
    },
    /// A buffer given by the caller, or a chunk stored without any filter, has not the chunk's
    /// size.
    #[error("{found} bytes where the chunk has {expected}")]
    ChunkLength {
        /// The number of bytes of a chunk.
        expected: usize,
        /// The number of bytes found.
        found: usize,
    },
    /// The parameters stored with the dataset make no sense to the filter.
    #[error("filter {}: {reason}", describe(*.filter, ""))]
    BadParams {
        /// The filter.
        filter: u16,
        /// What is wrong.
        reason: BadParams,
    },
    /// A filter could not encode the chunk.
    #[error("filter {}: the chunk cannot be encoded", describe(*.filter, ""))]
    Encode {
        /// The filter.
        filter: u16,
    },
    /// The memory for a stage of the pipeline could not be had.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// The number of bytes asked for.
        bytes: usize,
    },
}

/// How encoded bytes break the rules of their format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corruption {
    /// The bytes end inside an item.
    #[error("the stored bytes end too early")]
    Truncated,
    /// A header field has a value that cannot be.
    #[error("a header field is out of range")]
    Header,
    /// A back reference points before the start of the output.
    #[error("a back reference points before the start")]
    Reference,
    /// A compressed stream is refused by its decompressor.
    #[error("the compressed stream is damaged")]
    Stream,
    /// A version or codec of the format that is not known.
    #[error("an unknown variant of the format")]
    Variant,
}

/// What is wrong with the parameters of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadParams {
    /// Fewer parameters than the filter needs.
    #[error("{found} parameters where {expected} are needed")]
    Missing {
        /// The number needed.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A parameter is outside of what the filter allows.
    #[error("parameter {index} has the value {value}")]
    Value {
        /// Position of the parameter, from 0.
        index: usize,
        /// Its value.
        value: u32,
    },
}

/// What a single filter reports; the pipeline adds which filter it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// See [`Corruption`].
    Corrupt(Corruption),
    /// The output does not fit the room given.
    TooLong,
    /// See [`CodecError::Checksum`].
    Checksum { expected: u32, found: u32 },
    /// Encoding failed.
    Encode,
    /// See [`CodecError::OutOfMemory`].
    OutOfMemory { bytes: usize },
}

impl From<Corruption> for Fault {
    fn from(reason: Corruption) -> Self {
        Fault::Corrupt(reason)
    }
}

impl Fault {
    /// The error of a filter whose output was limited to `limit` bytes.
    pub(super) fn in_filter(self, filter: u16, limit: usize) -> CodecError {
        match self {
            Fault::Corrupt(reason) => CodecError::Corrupt { filter, reason },
            Fault::TooLong => CodecError::TooLong { filter, limit },
            Fault::Checksum { expected, found } => CodecError::Checksum { filter, expected, found },
            Fault::Encode => CodecError::Encode { filter },
            Fault::OutOfMemory { bytes } => CodecError::OutOfMemory { bytes },
        }
    }
}

/// A filter as messages name it: the id, with its stored or registered name where there is one.
fn describe(id: u16, stored_name: &str) -> String {
    match (stored_name, known_name(id)) {
        ("", None) => id.to_string(),
        ("", Some(name)) | (name, _) => format!("{id} ({name})"),
    }
}
