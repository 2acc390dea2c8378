use crate::codec::CodecError;
use crate::dims::{ChunkIndex, RawChunk};
use crate::kernel::KernelError;
use crate::ondisk::OndiskError;

/// A chunk that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("chunk {chunk}: {fault}")]
pub struct ReadError {
    /// The chunk in the version's grid.
    pub chunk: ChunkIndex,
    /// The stored chunk it is mapped to, if any.
    pub raw: Option<RawChunk>,
    /// What went wrong.
    #[source]
    pub fault: ReadFault,
}

impl ReadError {
    /// A fill value that could not be written.
    pub(super) fn fill(chunk: ChunkIndex, fault: KernelError) -> Self {
        Self { chunk, raw: None, fault: fault.into() }
    }
}

/// Tells of which chunk a fault is.
pub(super) fn at(chunk: ChunkIndex, raw: RawChunk) -> impl FnOnce(ReadFault) -> ReadError {
    move |fault| ReadError { chunk, raw: Some(raw), fault }
}

/// Why a chunk could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// The file ends before the chunk does, or the system could not read it.
    #[error(transparent)]
    Bytes(#[from] OndiskError),
    /// An unfiltered chunk whose stored size is not that of a chunk.
    #[error("{found} bytes are stored, a chunk has {expected}")]
    StoredSize {
        /// Bytes of a chunk.
        expected: u64,
        /// Bytes stored.
        found: u64,
    },
    /// A chunk address whose end does not fit 64 bits.
    #[error("the stored chunk at address {address} with {size} bytes ends beyond 64 bits")]
    Address {
        /// Bytes from the start of the file.
        address: u64,
        /// Bytes stored.
        size: u64,
    },
    /// A stored chunk that ends beyond the end of the file.
    #[error("the stored chunk ends at byte {end}, the file at byte {size}")]
    Beyond {
        /// One past the chunk's last byte.
        end: u64,
        /// Bytes of the file.
        size: u64,
    },
    /// The filters could not be undone.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The chunk's bytes do not cover what is needed of it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// libhdf5 could not read the chunk.
    #[error(transparent)]
    Library(#[from] h5strata_ffi::Error),
    /// More memory than can be had.
    #[error("no memory for a chunk of {bytes} bytes")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The look-ahead and the buffer disagree about what lies in one piece.
    #[error("transfers that were seen in one piece are not")]
    Run,
}
