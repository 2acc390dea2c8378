//! What the versions use of a `raw_data`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::chunk_map::ChunkMap;
use crate::dims::{Dims, RawChunk, unravel};

/// Raw chunks whose uses are kept together.
const PAGE: u64 = PAGE_CHUNKS as u64;
const PAGE_CHUNKS: usize = 64;

/// Which raw chunks versions use, and what part of each they have inside their bounds.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Chunks that there were when the versions were looked at; 0 where no version was.
    pub(super) raw_chunks: u64,
    /// The parts that occur.
    pub(super) extents: Extents,
    /// For each raw chunk the number of its extent, and one more; 0 where it is not used. By pages: files may name chunks
    /// far behind all others.
    pages: HashMap<u64, Box<[u32; PAGE_CHUNKS]>>,
    /// Other extents of raw chunks that have more than one.
    others: HashMap<u64, BTreeSet<u32>>,
    /// The datasets whose lists were decoded: version and path, the oldest version first.
    pub(super) users: Vec<(Arc<str>, Arc<str>)>,
}

/// Parts of chunks, each with a number.
#[derive(Debug, Default)]
pub(super) struct Extents {
    numbers: HashMap<Box<[u64]>, u32>,
    shapes: Vec<Box<[u64]>>,
}

impl Extents {
    fn number(&mut self, shape: &[u64]) -> u32 {
        if let Some(&number) = self.numbers.get(shape) {
            return number;
        }
        // There are fewer edges than numbers: each takes a dataset, and that many bytes of the file.
        let number = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX - 1);
        self.numbers.insert(shape.into(), number);
        self.shapes.push(shape.into());
        number
    }

    /// All shapes, by their numbers.
    pub(super) fn shapes(&self) -> &[Box<[u64]>] {
        &self.shapes
    }
}

impl Usage {
    /// Counts what the map of one dataset uses. `shape` is the dataset's, `grid` that of its chunks.
    pub(super) fn add(&mut self, map: &ChunkMap, shape: &[u64], grid: &[u64], chunk_shape: &[u64]) {
        // Of most chunks all is inside.
        let whole_grid: Dims =
            shape.iter().zip(chunk_shape).map(|(&axis, &chunk)| axis / chunk.max(1)).collect();
        let whole = self.extents.number(chunk_shape);
        for (chunk, raw) in map.iter() {
            let coordinate = unravel(chunk.0, grid);
            let is_whole = coordinate.iter().zip(&whole_grid).all(|(at, whole)| at < whole);
            let extent = if is_whole {
                whole
            } else {
                let axes = coordinate.iter().zip(shape).zip(chunk_shape);
                let inside: Dims = axes
                    .map(|((at, axis), &chunk)| axis.saturating_sub(at * chunk).min(chunk))
                    .collect();
                self.extents.number(&inside)
            };
            self.use_chunk(raw, extent);
        }
    }

    fn use_chunk(&mut self, raw: RawChunk, extent: u32) {
        let page = self.pages.entry(raw.0 / PAGE).or_insert_with(|| Box::new([0; PAGE_CHUNKS]));
        let Some(known) = usize::try_from(raw.0 % PAGE).ok().and_then(|at| page.get_mut(at)) else {
            return;
        };
        match known.checked_sub(1) {
            None => *known = extent + 1,
            Some(same) if same == extent => {}
            Some(_) => {
                self.others.entry(raw.0).or_default().insert(extent);
            }
        }
    }

    /// Whether a version uses a raw chunk.
    pub(super) fn is_used(&self, raw: RawChunk) -> bool {
        self.first(raw).is_some()
    }

    /// The numbers of the extents that versions have of a raw chunk: none of one that is not used, mostly one.
    pub(super) fn extents_of(&self, raw: RawChunk) -> impl Iterator<Item = u32> + '_ {
        let others = self.others.get(&raw.0).into_iter().flatten().copied();
        self.first(raw).into_iter().chain(others)
    }

    fn first(&self, raw: RawChunk) -> Option<u32> {
        let at = usize::try_from(raw.0 % PAGE).ok()?;
        self.pages.get(&(raw.0 / PAGE))?.get(at)?.checked_sub(1)
    }

    /// The raw chunks that versions use, in rising order.
    pub(super) fn used(&self) -> impl Iterator<Item = RawChunk> + '_ {
        let mut pages: Vec<u64> = self.pages.keys().copied().collect();
        pages.sort_unstable();
        let chunks = pages.into_iter().flat_map(|page| (page * PAGE..).take(PAGE_CHUNKS));
        chunks.map(RawChunk).filter(|&raw| self.is_used(raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::ChunkIndex;

    #[test]
    fn chunks_are_used_with_the_parts_that_versions_have_inside_their_bounds() {
        let map = |raws: &[u64]| {
            let chunks = (0..).map(ChunkIndex).zip(raws.iter().map(|&raw| Some(RawChunk(raw))));
            ChunkMap::of(chunks, raws.len() as u64)
        };
        let mut usage = Usage::default();
        usage.add(&map(&[7, 70_000, 1, 3]), &[3, 5], &[2, 2], &[2, 4]);
        usage.add(&map(&[7, 1]), &[2, 7], &[1, 2], &[2, 4]);
        let used: Vec<u64> = usage.used().map(|raw| raw.0).collect();
        assert_eq!(used, [1, 3, 7, 70_000]);
        let extents = |raw| {
            let shapes = usage.extents.shapes();
            usage.extents_of(RawChunk(raw)).map(|at| shapes[at as usize].to_vec()).collect()
        };
        let found: [Vec<Vec<u64>>; 5] = [0, 1, 3, 7, 70_000].map(extents);
        let expected: [&[&[u64]]; 5] =
            [&[], &[&[1, 4], &[2, 3]], &[&[1, 1]], &[&[2, 4]], &[&[2, 1]]];
        assert_eq!(found, expected.map(|list| list.iter().map(|e| e.to_vec()).collect::<Vec<_>>()));
    }
}
