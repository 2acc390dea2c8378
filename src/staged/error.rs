use std::fmt;

use crate::dims::{ChunkIndex, DimsError};
use crate::kernel::KernelError;
use crate::plan::PlanError;
use crate::selection::SelectionError;

/// An operation on a staged array that failed; `E` is the error of its base.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StagedError<E: std::error::Error + 'static> {
    /// The selection does not fit the array.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A shape or a chunk shape that cannot be used.
    #[error(transparent)]
    Dims(#[from] DimsError),
    /// A value whose shape cannot be broadcast to that of the selection.
    #[error(
        "could not broadcast input array from shape {} into shape {}",
        Tuple(value),
        Tuple(selection)
    )]
    Broadcast {
        /// Shape of the value in elements.
        value: Vec<u64>,
        /// Shape of the selection in elements.
        selection: Vec<u64>,
    },
    /// A value whose bytes do not make up its shape.
    #[error("the value has {found} bytes, its shape has {expected}")]
    ValueSize {
        /// Bytes of the value's shape.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// A single element of another size than the array's.
    #[error("an element of {found} bytes for an array whose elements have {expected}")]
    ElementSize {
        /// Bytes of an element.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A fill value without bytes.
    #[error("elements must have at least one byte")]
    EmptyElement,
    /// More memory than can be had.
    #[error("no memory for {bytes} bytes")]
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// Bytes that do not fit what they are given for.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The base could not bring a chunk.
    #[error(transparent)]
    Base(E),
    /// The base brought a chunk that has not the size of one.
    #[error("chunk {chunk} of the base has {found} bytes, a chunk has {expected}")]
    BaseChunkSize {
        /// The chunk in the base's grid.
        chunk: ChunkIndex,
        /// Bytes of a chunk.
        expected: u64,
        /// Bytes brought.
        found: u64,
    },
    /// The base brought a chunk twice, or one that was not asked for.
    #[error("the base brought chunk number {position} of {asked} more than once or unasked")]
    BaseChunkRepeated {
        /// Position among the chunks asked for.
        position: usize,
        /// Number of chunks asked for.
        asked: usize,
    },
    /// The base said that it was done before it had brought every chunk.
    #[error("the base did not bring chunk {chunk}")]
    BaseChunkMissing {
        /// The chunk in the base's grid.
        chunk: ChunkIndex,
    },
}

impl<E: std::error::Error + 'static> From<SelectionError> for StagedError<E> {
    fn from(error: SelectionError) -> Self {
        Self::Plan(error.into())
    }
}

/// A shape as Python prints a tuple.
struct Tuple<'s>(&'s [u64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, size) in self.0.iter().enumerate() {
            if axis > 0 {
                // NumPy leaves the space out in this message.
                f.write_str(",")?;
            }
            write!(f, "{size}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}
