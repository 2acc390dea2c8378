use crate::kernel::{KernelError, Run, scatter, scatter_scalar};
use crate::plan::Transfer;

/// What a write writes.
pub(super) enum Source<'v> {
    /// The bytes of one element, for every selected one.
    Element(&'v [u8]),
    /// An array of the selection's shape, in C order.
    Array(&'v [u8]),
    /// An array that is repeated along some axes.
    Broadcast {
        value: &'v [u8],
        /// Distances in elements between neighbours along each axis of the plan, 0 where it is repeated.
        strides: &'v [u64],
    },
}

impl<'v> Source<'v> {
    /// Writes the elements of a transfer to the bytes of its chunk.
    pub(super) fn put(
        &self,
        transfer: &Transfer<'_>,
        chunk: &mut [u8],
        element_size: usize,
    ) -> Result<(), KernelError> {
        match self {
            Self::Element(element) => scatter_scalar(transfer, element, chunk),
            Self::Array(value) => {
                scatter(transfer, value, transfer.buffer_strides(), chunk, element_size)
            }
            Self::Broadcast { value, strides } => {
                scatter(transfer, value, strides, chunk, element_size)
            }
        }
    }

    /// The bytes of the transfer's whole chunk, if they lie in one piece.
    pub(super) fn whole_chunk(
        &self,
        transfer: &Transfer<'_>,
        element_size: usize,
        chunk_bytes: usize,
    ) -> Option<&'v [u8]> {
        let Self::Array(value) = self else {
            return None;
        };
        let run = Run::of(transfer)?;
        let whole = run.chunk == 0 && run.count * element_size == chunk_bytes;
        if whole { value.get(run.buffer * element_size..)?.get(..chunk_bytes) } else { None }
    }
}
