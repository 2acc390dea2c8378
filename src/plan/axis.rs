//! One axis of a plan: which chunks it touches, and the piece of each.

use super::group::Group;
use super::transfer::Piece;

/// The touched chunks of one axis, in rising order.
#[derive(Clone, Debug)]
pub(super) enum AxisPlan<'p> {
    Strided(StridedAxis),
    Grouped(&'p [Group<'p>]),
}

/// An integer or a slice, turned so that elements rise along the axis.
#[derive(Clone, Debug)]
pub(super) struct StridedAxis {
    /// Lowest selected element.
    first: u64,
    /// Distance between selected elements; above 0.
    step: u64,
    /// Number of selected elements.
    count: u64,
    /// Elements of a chunk along the axis.
    chunk: u64,
    /// Number of touched chunks.
    touched: u64,
    /// Whether the selection walks backwards.
    reversed: bool,
}

impl StridedAxis {
    pub(super) fn new(start: u64, step: i64, count: u64, chunk: u64) -> Self {
        let reversed = step < 0 && count > 1;
        // A single element has no next one, and a step beyond the axis may be of any size.
        let step = if count > 1 { step.unsigned_abs() } else { 1 };
        // The steps from the first to the last element stay inside the axis.
        let extent = if count == 0 { 0 } else { step.saturating_mul(count - 1) };
        let first = if reversed { start - extent } else { start };
        let touched = match count {
            0 => 0,
            _ if step <= chunk => (first + extent) / chunk - first / chunk + 1,
            _ => count,
        };
        Self { first, step, count, chunk, touched, reversed }
    }

    /// Position among the selected elements of the first one in the `nth` touched chunk.
    fn ordinal(&self, nth: u64) -> u64 {
        if self.step > self.chunk {
            return nth;
        }
        if nth == 0 {
            return 0;
        }
        let chunk_start = (self.first / self.chunk + nth) * self.chunk;
        (chunk_start - self.first).div_ceil(self.step)
    }

    /// The piece that begins at `offset` in its chunk, where `rest` selected elements are left.
    fn piece(&self, rest: u64, offset: u64) -> Piece<'static> {
        let count = self.count_from(offset).min(rest);
        let position = if self.reversed { rest - 1 } else { self.count - rest };
        Piece::Strided { offset, stride: self.step, count, position, reversed: self.reversed }
    }
}

/// A place among the touched chunks of one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisCursor {
    /// Touched chunks after this one.
    left: u64,
    /// The chunk along the axis.
    pub(super) chunk: u64,
}

impl<'p> AxisPlan<'p> {
    /// Number of touched chunks.
    pub(super) fn touched(&self) -> u64 {
        match self {
            Self::Strided(axis) => axis.touched,
            Self::Grouped(groups) => groups.len() as u64,
        }
    }

    /// A cursor at the `nth` touched chunk, which must exist, and the piece there.
    pub(super) fn seek(&self, nth: u64) -> (AxisCursor, Piece<'p>) {
        let left = self.touched() - nth - 1;
        match self {
            Self::Strided(axis) => {
                let ordinal = axis.ordinal(nth);
                let element = axis.first + ordinal * axis.step;
                let chunk = element / axis.chunk;
                let piece = axis.piece(axis.count - ordinal, element - chunk * axis.chunk);
                (AxisCursor { left, chunk }, piece)
            }
            Self::Grouped(groups) => {
                let group = groups[groups.len() - 1 - usize::try_from(left).unwrap_or(0)];
                (AxisCursor { left, chunk: group.chunk }, group.piece)
            }
        }
    }

    /// Goes back from the last touched chunk to the first.
    #[inline]
    pub(super) fn restart(&self, cursor: &mut AxisCursor, piece: &mut Piece<'p>) {
        // A single touched chunk is both, and nothing has to be worked out again.
        if self.touched() > 1 {
            (*cursor, *piece) = self.seek(0);
        }
    }

    /// Moves to the next touched chunk; `false` after the last one.
    #[inline]
    pub(super) fn advance(&self, cursor: &mut AxisCursor, piece: &mut Piece<'p>) -> bool {
        if cursor.left == 0 {
            return false;
        }
        match self {
            Self::Strided(axis) => {
                cursor.left -= 1;
                axis.advance(&mut cursor.chunk, piece);
            }
            Self::Grouped(_) => (*cursor, *piece) = self.seek(self.touched() - cursor.left),
        }
        true
    }
}

impl StridedAxis {
    /// Moves the piece to the next touched chunk. Only what changes is written: this is the inner
    /// loop of every plan of slices.
    #[inline]
    fn advance(&self, chunk: &mut u64, piece: &mut Piece<'_>) {
        let Piece::Strided { offset, count, position, .. } = piece else {
            return;
        };
        *chunk += 1;
        // Distance from the start of the next chunk to the next selected element.
        *offset = *offset + *count * self.step - self.chunk;
        if *offset >= self.chunk {
            *chunk += *offset / self.chunk;
            *offset %= self.chunk;
        }
        let rest = if self.reversed {
            *position -= *count;
            *position + 1
        } else {
            *position += *count;
            self.count - *position
        };
        *count = self.count_from(*offset).min(rest);
    }

    /// Number of elements, `step` apart, from an offset to the end of its chunk.
    #[inline]
    fn count_from(&self, offset: u64) -> u64 {
        let room = self.chunk - offset;
        if self.step == 1 { room } else { (room - 1) / self.step + 1 }
    }
}
