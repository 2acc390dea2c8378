use std::ops::Range;

use super::axis::{AxisCursor, AxisPlan};
use super::read_plan::ReadPlan;
use super::transfer::{Piece, Transfer};
use crate::dims::{ChunkIndex, PerAxis};

/// An odometer over the transfers of a plan.
///
/// It lends each transfer until the next step, which is why it is no `Iterator`: the pieces of
/// the axes that stand still are kept, not made again.
#[derive(Clone, Debug)]
pub struct Transfers<'t, 'p> {
    plan: &'t ReadPlan<'p>,
    /// The last axis, the one that moves with every step; none for rank 0.
    inner: Option<(&'t AxisPlan<'p>, AxisCursor)>,
    /// The axes before it.
    outer: PerAxis<AxisCursor>,
    /// Row-major position of the chunk whose last coordinate is 0.
    outer_chunk: u64,
    pieces: PerAxis<Piece<'p>>,
    /// Whether the pieces are those of a transfer that was already lent.
    lent: bool,
    remaining: u64,
}

impl<'t, 'p> Transfers<'t, 'p> {
    pub(super) fn new(plan: &'t ReadPlan<'p>, range: Range<u64>) -> Self {
        let mut transfers = Self {
            plan,
            inner: None,
            outer: PerAxis::new(),
            outer_chunk: 0,
            pieces: PerAxis::new(),
            lent: false,
            remaining: range.end.saturating_sub(range.start),
        };
        if transfers.remaining > 0 {
            transfers.seek(range.start);
        }
        transfers
    }

    /// Number of transfers still to come.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The next transfer, lent until the following call.
    #[inline]
    pub fn advance(&mut self) -> Option<Transfer<'_>> {
        self.remaining = self.remaining.checked_sub(1)?;
        let pieces = self.pieces.as_mut_slice();
        let mut inner_chunk = 0;
        // Rank 0 has no axis and a single transfer.
        if let (Some((axis, cursor)), [outer @ .., piece]) = (&mut self.inner, &mut *pieces) {
            if self.lent && !axis.advance(cursor, piece) {
                axis.restart(cursor, piece);
                turn_outer(self.plan, &mut self.outer, outer);
                self.outer_chunk = outer_chunk(self.plan, &self.outer);
            }
            inner_chunk = cursor.chunk;
        }
        self.lent = true;
        Some(Transfer {
            chunk: ChunkIndex(self.outer_chunk + inner_chunk),
            pieces,
            strides: &self.plan.strides,
        })
    }

    /// Places the odometer on the transfer `number`, in mixed radix of the touched chunks.
    fn seek(&mut self, mut number: u64) {
        for axis in self.plan.axes.iter().rev() {
            let (cursor, piece) = axis.seek(number % axis.touched());
            number /= axis.touched();
            self.pieces.push(piece);
            match self.inner {
                None => self.inner = Some((axis, cursor)),
                Some(_) => self.outer.push(cursor),
            }
        }
        self.outer.reverse();
        self.pieces.reverse();
        self.outer_chunk = outer_chunk(self.plan, &self.outer);
    }
}

/// Turns the outer axes: the last one that can move does, those after it start again.
#[inline(never)]
fn turn_outer<'p>(plan: &ReadPlan<'p>, cursors: &mut [AxisCursor], pieces: &mut [Piece<'p>]) {
    for ((axis, cursor), piece) in plan.axes.iter().zip(cursors).zip(pieces).rev() {
        if axis.advance(cursor, piece) {
            break;
        }
        axis.restart(cursor, piece);
    }
}

fn outer_chunk(plan: &ReadPlan<'_>, cursors: &[AxisCursor]) -> u64 {
    cursors.iter().zip(&plan.grid_strides).map(|(cursor, stride)| cursor.chunk * stride).sum()
}
