//! The copy kernel: moves the elements of a transfer between a chunk and the buffer.
//!
//! Besides `ffi` this is the only place with unsafe code, for two reasons: several threads write
//! disjoint elements of one buffer, and the inner loops run without bounds checks. Both rest on
//! the guarantees that the [`plan`](crate::plan) module states ("Once", "Inside"); what a caller
//! brings (the buffer, the chunk's bytes) is checked here, against the slice itself.

mod copy;
mod destination;
mod geometry;
mod scatter;

pub use copy::for_each_element;
pub use destination::{Batch, Destination, HandOut, NumberedDestination, Slot};
pub use geometry::Run;
pub use scatter::{scatter, scatter_scalar};

/// Bytes that do not fit the transfer they are given for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The buffer's length is not that of the result.
    #[error("the buffer has {found} bytes, the result has {expected}")]
    BufferSize {
        /// Bytes of the result.
        expected: u64,
        /// Bytes of the buffer.
        found: u64,
    },
    /// The chunk's bytes end before the last selected element.
    #[error("the chunk's bytes cover elements {}..{}, the selection needs {}..{}",
        found.start, found.end, needed.start, needed.end)]
    ChunkSize {
        /// Elements of the chunk that the transfer needs.
        needed: std::ops::Range<u64>,
        /// Elements of the chunk that were given.
        found: std::ops::Range<u64>,
    },
    /// A fill value whose size is not that of an element.
    #[error("a fill value of {found} bytes for elements of {expected}")]
    FillSize {
        /// Bytes of an element.
        expected: usize,
        /// Bytes of the fill value.
        found: usize,
    },
    /// The buffer ends before the last element that is to be written from it.
    #[error("the buffer has {found} elements, the selection needs {needed}")]
    SourceSize {
        /// Elements of the buffer that the transfer needs.
        needed: u64,
        /// Elements of the buffer.
        found: u64,
    },
    /// Distances in the buffer for another number of axes than the transfer has.
    #[error("{found} buffer strides for {expected} axes")]
    StrideCount {
        /// Pieces of the transfer.
        expected: usize,
        /// Strides given.
        found: usize,
    },
    /// More memory than can be had.
    #[error("no memory for {bytes} bytes of bookkeeping")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
}
