//! Chunks whose stored chunk is known, because an earlier version has the same values there.

use std::collections::VecDeque;
use std::sync::Arc;

use super::blocks::Blocks;
use crate::chunk_map::ChunkMap;
use crate::dims::{ChunkIndex, Dims, RawChunk, ravel, unravel};

/// Versions that are remembered: mostly a version's parent is the one before it, or one of a few branches.
const REMEMBERED: usize = 4;

/// Chunks from which on it is looked for those that were collected twice.
const FEW: usize = 1 << 16;

/// A version of a dataset that was rewritten.
pub(super) struct Known {
    pub(super) version: String,
    pub(super) grids: Grids,
    /// Its stored chunks as they were.
    pub(super) old: Arc<ChunkMap>,
    /// As they are.
    pub(super) new: ChunkMap,
}

/// The shape of a version's dataset and its grids of old and of new chunks.
#[derive(Clone, Debug)]
pub(super) struct Grids {
    pub(super) shape: Dims,
    pub(super) old_chunk: Dims,
    pub(super) old: Dims,
    pub(super) new_chunk: Dims,
    pub(super) new: Dims,
}

/// The versions that were rewritten last.
#[derive(Default)]
pub(super) struct Recent {
    versions: VecDeque<Known>,
}

/// What a version's chunks are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// Those that are stored already.
    pub(super) known: Vec<(ChunkIndex, RawChunk)>,
    /// Those that have to be brought.
    pub(super) wanted: Vec<ChunkIndex>,
}

impl Recent {
    pub(super) fn remember(&mut self, known: Known) {
        self.versions.truncate(REMEMBERED - 1);
        self.versions.push_front(known);
    }

    /// The version that another is best compared with: its parent, if that is remembered.
    fn best(&self, parent: Option<&str>) -> Option<&Known> {
        let is_parent = |known: &&Known| Some(known.version.as_str()) == parent;
        self.versions.iter().find(is_parent).or(self.versions.front())
    }

    /// Which chunks of a version are known, and which have to be brought. `old`: its stored chunks as they are so far.
    pub(super) fn split(
        &self,
        parent: Option<&str>,
        grids: &Grids,
        old: &ChunkMap,
        blocks: &Blocks,
    ) -> Split {
        let best = self.best(parent);
        if let Some(best) = best.filter(|best| best.grids.shape == grids.shape && *best.old == *old)
        {
            return Split { known: best.new.iter().collect(), wanted: Vec::new() };
        }
        let mut split = Split::default();
        for chunk in grids.stored(old) {
            match best {
                Some(best) if best.is_same(grids, old, chunk) => {
                    let known = best.grids.index(&unravel(chunk.0, &grids.new));
                    let raw = known.and_then(|known| best.new.get(known));
                    split.known.extend(raw.map(|raw| (chunk, raw)));
                }
                _ => split.wanted.push(chunk),
            }
        }
        blocks.sort(&mut split.wanted);
        split
    }
}

impl Known {
    /// Whether a new chunk of another version has the values of the one in its place in this.
    fn is_same(&self, grids: &Grids, old: &ChunkMap, chunk: ChunkIndex) -> bool {
        let coordinate = unravel(chunk.0, &grids.new);
        if grids.inside(&coordinate) != self.grids.inside(&coordinate) {
            return false;
        }
        grids.old_of(&coordinate).all(|at| {
            let raw = |grid: &[u64], map: &ChunkMap| {
                ravel(&at, grid).and_then(|index| map.get(ChunkIndex(index)))
            };
            raw(&grids.old, old) == raw(&self.grids.old, &self.old)
        })
    }
}

impl Grids {
    /// The new chunks behind which something may be stored, in rising order.
    fn stored(&self, old: &ChunkMap) -> Vec<ChunkIndex> {
        if self.old_chunk == self.new_chunk {
            return old.iter().map(|(chunk, _)| chunk).collect();
        }
        let (mut stored, mut limit) = (Vec::new(), FEW);
        for (chunk, _) in old.iter() {
            let coordinate = unravel(chunk.0, &self.old);
            let new = overlapped(&coordinate, &self.old_chunk, &self.new_chunk, &self.shape);
            stored.extend(new.filter_map(|at| self.index(&at)));
            // Neighbours share new chunks: what is collected stays about as long as what it comes to.
            if stored.len() >= limit {
                stored.sort_unstable();
                stored.dedup();
                limit = limit.max(2 * stored.len());
            }
        }
        stored.sort_unstable();
        stored.dedup();
        stored
    }

    /// The new chunk at a coordinate.
    fn index(&self, coordinate: &[u64]) -> Option<ChunkIndex> {
        ravel(coordinate, &self.new).map(ChunkIndex)
    }

    /// Shape of the part of a new chunk that is inside the bounds.
    fn inside(&self, coordinate: &[u64]) -> Dims {
        let edges = coordinate.iter().zip(&self.new_chunk).zip(&self.shape);
        edges
            .map(|((&at, &edge), &most)| most.saturating_sub(at.saturating_mul(edge)).min(edge))
            .collect()
    }

    /// Coordinates of the old chunks that a new one overlaps.
    fn old_of(&self, coordinate: &[u64]) -> impl Iterator<Item = Dims> {
        overlapped(coordinate, &self.new_chunk, &self.old_chunk, &self.shape)
    }
}

/// Coordinates of the chunks of a shape that one of another shape overlaps inside the bounds.
fn overlapped(
    coordinate: &[u64],
    from: &[u64],
    to: &[u64],
    shape: &[u64],
) -> impl Iterator<Item = Dims> + use<> {
    let edges = coordinate.iter().zip(from).zip(to.iter().zip(shape));
    let (first, counts): (Dims, Dims) = edges
        .map(|((&at, &from), (&to, &most))| {
            let start = at.saturating_mul(from);
            let end = start.saturating_add(from).min(most);
            let first = start / to;
            (first, end.div_ceil(to).saturating_sub(first))
        })
        .unzip();
    (0..counts.iter().product()).map(move |position| {
        let offset = unravel(position, &counts);
        first.iter().zip(offset).map(|(first, offset)| first + offset).collect()
    })
}
