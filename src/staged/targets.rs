use std::sync::Arc;

use super::array::{Result, push};
use super::source::Source;
use super::{Base, ChunkState, StagedArray};
use crate::dims::ChunkIndex;
use crate::plan::{Piece, ReadPlan, Transfer};

/// The transfers of a write, sorted by what their chunks need. In rising order.
#[derive(Default)]
pub(super) struct Targets {
    /// Chunks of which nothing is kept but fill.
    pub(super) fresh: Vec<Fresh>,
    /// Chunks of which a part is kept that stands in the base.
    pub(super) partial: Vec<Target>,
    /// The position in the base of each of `partial`.
    pub(super) positions: Vec<ChunkIndex>,
    /// Staged chunks.
    pub(super) in_place: Vec<Target>,
}

/// A transfer by its number, and its chunk.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) number: u64,
    pub(super) chunk: ChunkIndex,
}

/// A chunk that gets a new buffer.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    pub(super) number: u64,
    pub(super) chunk: ChunkIndex,
    /// Whether every element inside the bounds is written.
    pub(super) whole: bool,
}

impl<B: Base> StagedArray<B> {
    /// Sorts the transfers of a write.
    pub(super) fn targets(&self, plan: &ReadPlan<'_>, source: &Source<'_>) -> Result<Targets, B> {
        let mut targets = Targets::default();
        let mut transfers = plan.transfers();
        for number in 0..plan.len() {
            let Some(transfer) = transfers.advance() else {
                break;
            };
            let chunk = transfer.chunk();
            let extent = self.format.extent_at(chunk.0, &self.grid, &self.shape);
            let whole = covers(&transfer, &extent);
            match self.state(chunk) {
                ChunkState::Staged(_) if !whole || self.reuses(chunk, source) => {
                    push(&mut targets.in_place, Target { number, chunk })?;
                }
                ChunkState::Base(position) if !whole => {
                    push(&mut targets.partial, Target { number, chunk })?;
                    push(&mut targets.positions, position)?;
                }
                _ => push(&mut targets.fresh, Fresh { number, chunk, whole })?,
            }
        }
        Ok(targets)
    }

    /// Whether the buffer of a staged chunk that is covered wholly is written to again: not if it belongs to
    /// another array too, nor for a single element, of which all such chunks share one buffer.
    fn reuses(&self, chunk: ChunkIndex, source: &Source<'_>) -> bool {
        let own = Arc::strong_count(&self.staged) == 1
            && self.staged.get(&chunk).is_some_and(|b| Arc::strong_count(b) == 1);
        own && !matches!(source, Source::Element(_))
    }
}

/// Whether a transfer holds every element of its chunk inside the bounds, of which there are `extent`
/// along each axis.
fn covers(transfer: &Transfer<'_>, extent: &[u64]) -> bool {
    match transfer.pieces() {
        pieces if pieces.len() == extent.len() => {
            pieces.iter().zip(extent).all(|(piece, &inside)| has_distinct(piece, inside))
        }
        // Points: one piece over all axes.
        [piece] => has_distinct(piece, extent.iter().product()),
        _ => false,
    }
}

/// Whether a piece names at least `count` elements, repeats left out.
fn has_distinct(piece: &Piece<'_>, count: u64) -> bool {
    if piece.count() < count {
        return false;
    }
    match piece {
        Piece::Strided { .. } | Piece::Masked { .. } => true,
        // Offsets rise, so repeats are neighbours.
        Piece::Listed { offsets, .. } => offsets.chunk_by(|a, b| a == b).count() as u64 >= count,
    }
}
