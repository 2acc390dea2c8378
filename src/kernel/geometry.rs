//! A transfer reduced to the loops that are really needed.

use crate::dims::PerAxis;
use crate::plan::{Piece, Transfer};

/// One loop of a copy. Steps are in elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loop<'t> {
    Strided { count: usize, chunk_step: usize, buffer_step: isize },
    Listed { offsets: &'t [u64], chunk_step: usize, positions: &'t [u64], buffer_step: usize },
    Masked { mask: &'t [bool], chunk_step: usize, buffer_step: usize },
}

/// Where a copy begins, in elements, and its loops, the outermost first. The start in the chunk is
/// relative to the bytes at hand and wraps below 0, see [`Geometry::rebase`].
#[derive(Debug)]
pub(super) struct Geometry<'t> {
    pub(super) chunk_start: usize,
    pub(super) buffer_start: usize,
    pub(super) loops: PerAxis<Loop<'t>>,
}

impl<'t> Geometry<'t> {
    /// Axes with one element become part of the start, and an axis that continues the one inside
    /// it becomes one loop with it.
    ///
    /// All numbers are positions in a buffer or a chunk that exist, so they fit `usize` and `isize`.
    ///
    /// It is lent, for room for the loops of all axes is much to copy a transfer.
    pub(super) fn of<R>(transfer: &Transfer<'t>, lend: impl FnOnce(&mut Self) -> R) -> R {
        Self::with_buffer_strides(transfer, transfer.buffer_strides(), lend)
    }

    /// Lends the geometry in a buffer that has other distances between neighbours, 0 where one element
    /// stands for a whole axis.
    pub(super) fn with_buffer_strides<R>(
        transfer: &Transfer<'t>,
        buffer_strides: &[u64],
        lend: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let mut geometry = Self { chunk_start: 0, buffer_start: 0, loops: PerAxis::new() };
        geometry.add_axes(transfer, buffer_strides);
        lend(&mut geometry)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "positions of elements in memory, which has at most isize::MAX bytes"
    )]
    fn add_axes(&mut self, transfer: &Transfer<'t>, buffer_strides: &[u64]) {
        let strides = transfer.chunk_strides().iter().zip(buffer_strides);
        for (piece, (&in_chunk, &in_buffer)) in transfer.pieces().iter().zip(strides) {
            let (in_chunk, in_buffer) = (in_chunk as usize, in_buffer as usize);
            match *piece {
                Piece::Strided { offset, stride, count, position, reversed } => {
                    self.chunk_start += offset as usize * in_chunk;
                    self.buffer_start += position as usize * in_buffer;
                    let step = in_buffer as isize;
                    self.push(Loop::Strided {
                        count: count as usize,
                        chunk_step: stride as usize * in_chunk,
                        buffer_step: if reversed { -step } else { step },
                    });
                }
                Piece::Listed { offsets, positions } => self.loops.push(Loop::Listed {
                    offsets,
                    chunk_step: in_chunk,
                    positions,
                    buffer_step: in_buffer,
                }),
                Piece::Masked { offset, mask, position, .. } => {
                    self.chunk_start += offset as usize * in_chunk;
                    self.buffer_start += position as usize * in_buffer;
                    self.loops.push(Loop::Masked {
                        mask,
                        chunk_step: in_chunk,
                        buffer_step: in_buffer,
                    });
                }
            }
        }
    }

    /// Counts chunk offsets from the element `first` of the chunk.
    pub(super) fn rebase(&mut self, first: usize) {
        self.chunk_start = self.chunk_start.wrapping_sub(first);
    }

    fn push(&mut self, inner: Loop<'t>) {
        let Loop::Strided { count, chunk_step, buffer_step } = inner else {
            return;
        };
        if count == 1 {
            return;
        }
        if let Some(Loop::Strided { count: outer, chunk_step: over, buffer_step: across }) =
            self.loops.last_mut()
        {
            // Both factors are positions in memory, which fit isize.
            let buffer_extent = buffer_step.wrapping_mul(count.cast_signed());
            if *over == chunk_step * count && *across == buffer_extent {
                *outer *= count;
                (*over, *across) = (chunk_step, buffer_step);
                return;
            }
        }
        self.loops.push(inner);
    }

    /// The elements as one run, if they lie one after the other both in the chunk and in the buffer.
    pub(super) fn run(&self) -> Option<Run> {
        let count = match self.loops.as_slice() {
            [] => 1,
            &[Loop::Strided { count, chunk_step: 1, buffer_step: 1 }] => count,
            _ => return None,
        };
        Some(Run { chunk: self.chunk_start, buffer: self.buffer_start, count })
    }
}

/// Elements that lie one after the other both in a chunk and in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first element in the chunk, in elements.
    pub chunk: usize,
    /// Position of the first element in the buffer, in elements.
    pub buffer: usize,
    /// Number of elements.
    pub count: usize,
}

impl Run {
    /// The run of a transfer, if it is one.
    pub fn of(transfer: &Transfer<'_>) -> Option<Self> {
        Geometry::of(transfer, |geometry| geometry.run())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadPlan, Selection};

    #[test]
    fn a_step_beyond_the_axis_is_no_distance() {
        let arena = bumpalo::Bump::new();
        for slice in ["3:4:9223372036854775807", "3:2:-9223372036854775808"] {
            let selection: Selection = slice.parse().unwrap();
            let plan = ReadPlan::new(&selection, &[10, 100], &[10, 100], &arena).unwrap();
            let mut transfers = plan.transfers();
            let run = Run::of(&transfers.advance().unwrap());
            assert_eq!(run, Some(Run { chunk: 300, buffer: 0, count: 100 }), "{slice}");
        }
    }
}
