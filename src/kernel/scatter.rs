//! Writing: the elements of a buffer go to where a transfer has them in its chunk.

use super::KernelError;
use super::copy::{ToChunk, copy};
use super::geometry::Geometry;
use crate::dims::Dims;
use crate::plan::{Piece, Transfer};

/// Writes the transfer's elements from `buffer` to `chunk`, the bytes of the whole chunk.
///
/// `buffer_strides` are the distances in elements between neighbours in the buffer, one for each
/// piece: those of the transfer for a buffer in the shape of the selection, 0 on an axis along which
/// one element is meant for all (broadcasting). An element of the chunk that is selected more than once
/// gets the value of its last selection in the order of the buffer.
///
/// # Errors
/// [`KernelError::StrideCount`], [`KernelError::ChunkSize`] or [`KernelError::SourceSize`] if the
/// strides do not belong to the transfer, or a slice does not hold every element of it.
pub fn scatter(
    transfer: &Transfer<'_>,
    buffer: &[u8],
    buffer_strides: &[u64],
    chunk: &mut [u8],
    element_size: usize,
) -> Result<(), KernelError> {
    let pieces = transfer.pieces();
    if buffer_strides.len() != pieces.len() {
        return Err(KernelError::StrideCount {
            expected: pieces.len(),
            found: buffer_strides.len(),
        });
    }
    let needed = transfer.chunk_span();
    let found = elements(chunk, element_size);
    if needed.end > found {
        return Err(KernelError::ChunkSize { needed, found: 0..found });
    }
    let needed = pieces.iter().zip(buffer_strides).fold(1u64, |end, (piece, &stride)| {
        end.saturating_add(stride.saturating_mul(last_position(piece)))
    });
    let found = elements(buffer, element_size);
    if needed > found {
        return Err(KernelError::SourceSize { needed, found });
    }
    Geometry::with_buffer_strides(transfer, buffer_strides, |geometry| {
        // SAFETY: the highest chunk offset and the highest buffer position were just shown to lie inside
        // the two slices, and no offset or position is below 0. `chunk` is borrowed exclusively, so no
        // one else accesses it and `buffer` is not part of it; nothing is written to `buffer`.
        unsafe {
            copy::<ToChunk>(geometry, chunk.as_mut_ptr(), buffer.as_ptr().cast_mut(), element_size);
        }
    });
    Ok(())
}

/// Writes `element`, the bytes of one element, to every element of the transfer in `chunk`.
///
/// # Errors
/// [`KernelError::ChunkSize`] if `chunk` does not hold every element of the transfer.
pub fn scatter_scalar(
    transfer: &Transfer<'_>,
    element: &[u8],
    chunk: &mut [u8],
) -> Result<(), KernelError> {
    let nowhere = Dims::from_elem(0, transfer.pieces().len());
    scatter(transfer, element, &nowhere, chunk, element.len())
}

/// Whole elements in a slice; none have no bytes.
fn elements(bytes: &[u8], element_size: usize) -> u64 {
    bytes.len().checked_div(element_size).unwrap_or(0) as u64
}

/// The highest buffer position along the axis of a piece.
fn last_position(piece: &Piece<'_>) -> u64 {
    match *piece {
        Piece::Strided { position, reversed: true, .. } => position,
        Piece::Strided { position, count, .. } | Piece::Masked { position, count, .. } => {
            position + count - 1
        }
        Piece::Listed { positions, .. } => positions.iter().copied().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::{ReadPlan, Selection};

    /// Runs `test` with the only transfer of a selection of 4 x 6 elements in one chunk.
    fn with_transfer<R>(selection: &str, test: impl FnOnce(&Transfer<'_>) -> R) -> R {
        let arena = Bump::new();
        let selection: Selection = selection.parse().unwrap();
        let plan = ReadPlan::new(&selection, &[4, 6], &[4, 6], &arena).unwrap();
        assert_eq!(plan.len(), 1);
        test(&plan.transfers().advance().unwrap())
    }

    const KINDS: [&str; 3] =
        ["1:3, 1:3", "[2, 1], 2:0:-1", "1:3, [False,True,True,False,False,False]"];

    #[test]
    fn a_buffer_that_ends_before_the_last_element_is_refused() {
        let mut chunk = [0; 24];
        for selection in KINDS {
            with_transfer(selection, |transfer| {
                assert_eq!(scatter(transfer, &[1; 8], &[2, 1], &mut chunk, 1), Ok(()));
                assert_eq!(scatter(transfer, &[1; 2], &[0, 1], &mut chunk, 1), Ok(()));
                for (strides, needed) in
                    [([2, 1], 4), ([0, 3], 4), ([3, 0], 4), ([u64::MAX, 2], u64::MAX)]
                {
                    assert_eq!(
                        scatter(transfer, &[1; 3], &strides, &mut chunk, 1),
                        Err(KernelError::SourceSize { needed, found: 3 })
                    );
                }
                assert_eq!(
                    scatter_scalar(transfer, &[], &mut chunk),
                    Err(KernelError::ChunkSize { needed: 7..15, found: 0..0 })
                );
            });
        }
    }

    #[test]
    fn a_chunk_that_ends_before_the_last_element_is_refused() {
        for selection in KINDS {
            with_transfer(selection, |transfer| {
                let mut chunk = [0; 29];
                assert_eq!(scatter_scalar(transfer, &[5, 6], &mut [0; 30]), Ok(()));
                assert_eq!(
                    scatter_scalar(transfer, &[5, 6], &mut chunk),
                    Err(KernelError::ChunkSize { needed: 7..15, found: 0..14 })
                );
                assert_eq!(chunk, [0; 29]);
            });
        }
    }

    #[test]
    fn strides_of_another_rank_are_refused() {
        with_transfer("0", |transfer| {
            assert_eq!(
                scatter(transfer, &[1; 6], &[1], &mut [0; 24], 1),
                Err(KernelError::StrideCount { expected: 2, found: 1 })
            );
        });
    }
}
