//! In which order the chunks of a new grid are brought, and which of them together.
//!
//! A *cell* is a box of new chunks that old chunks are read for together: where the grids let it, one whose bounds are
//! those of old chunks too, so that each of these is decoded once. A *block* is a box of neighbouring cells, as many as
//! are read at once where most of them are wanted. Chunks go block by block, in each cell by cell.

use std::ops::Range;

use crate::dims::{ChunkIndex, Dims, DimsError, byte_count, chunk_grid, ravel, unravel};

/// Bytes of a cell up to which its bounds are those of old chunks, and from which on it is kept until all of its chunks
/// were brought.
const CELL_BYTES: u64 = 4 << 20;

/// Bytes of a cell of several chunks: where that would be more, old chunks are decoded for several cells.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of a block of several cells.
const BLOCK_BYTES: u64 = 4 << 20;

/// The boxes of a grid of new chunks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    shape: Dims,
    chunk: Dims,
    grid: Dims,
    /// In chunks.
    cell: Dims,
    /// In chunks; whole cells.
    block: Dims,
    is_large: bool,
}

/// A box of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: Dims,
    pub(super) shape: Dims,
}

impl Blocks {
    /// Those of an array of `shape` whose chunks are `old` and become `new`; `element_size`: bytes of an old element.
    pub(super) fn new(
        shape: &[u64],
        old: &[u64],
        new: &[u64],
        element_size: usize,
    ) -> Result<Self, DimsError> {
        let grid = chunk_grid(shape, new)?;
        // No axis of a box is longer than the array.
        let cell = |edge: fn(u64, u64) -> u64| -> Dims {
            let edges = old.iter().zip(new).zip(&grid);
            edges
                .map(|((&old, &new), &most)| (edge(old, new) / new).clamp(1, most.max(1)))
                .collect()
        };
        let bytes = |chunks: &[u64]| {
            let edges: Dims = chunks.iter().zip(new).map(|(&a, &b)| a.saturating_mul(b)).collect();
            byte_count(&edges, element_size).unwrap_or(u64::MAX)
        };
        let mut cell_shape = cell(least_common);
        if bytes(&cell_shape) > CELL_BYTES {
            cell_shape = cell(longer);
        }
        while bytes(&cell_shape) > MOST_BYTES
            && let Some(longest) = cell_shape.iter_mut().max().filter(|axis| **axis > 1)
        {
            *longest = longest.div_ceil(2);
        }
        let is_large = bytes(&cell_shape) > CELL_BYTES;
        let mut block = cell_shape.clone();
        for axis in (0..block.len()).rev() {
            let room = (BLOCK_BYTES / bytes(&block).max(1)).max(1);
            let (edge, most) = (block[axis].max(1), grid[axis].max(1).div_ceil(block[axis].max(1)));
            block[axis] = edge.saturating_mul(room.min(most));
            if room < most {
                break;
            }
        }
        let (shape, chunk) = (Dims::from_slice(shape), Dims::from_slice(new));
        Ok(Self { shape, chunk, grid, cell: cell_shape, block, is_large })
    }

    /// The grid of new chunks.
    pub(super) fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Puts chunks in order.
    pub(super) fn sort(&self, chunks: &mut [ChunkIndex]) {
        chunks.sort_by_cached_key(|&chunk| (self.place(chunk), chunk));
    }

    /// The chunks, which are in order, that are read together: each a range of them, and what is read for it.
    pub(super) fn groups(&self, chunks: &[ChunkIndex]) -> Vec<(Range<usize>, Region)> {
        let places: Vec<(u64, u64)> = chunks.iter().map(|&chunk| self.place(chunk)).collect();
        let mut groups = Vec::new();
        for block in runs(0..chunks.len(), |at| places.get(at).map(|place| place.0)) {
            let wanted = chunks.get(block.clone()).unwrap_or_default();
            let is_dense = !self.is_large && {
                let around = self.bounds(wanted);
                let count = around.iter().map(|axis| axis.end - axis.start).product::<u64>();
                count <= 2 * wanted.len() as u64
            };
            if is_dense {
                groups.push((block, self.region(&self.bounds(wanted))));
                continue;
            }
            for cell in runs(block, |at| places.get(at).map(|place| place.1)) {
                let wanted = chunks.get(cell.clone()).unwrap_or_default();
                let bounds = if self.is_large { self.cell_of(wanted) } else { self.bounds(wanted) };
                groups.push((cell, self.region(&bounds)));
            }
        }
        groups
    }

    /// Whether a cell may be asked for several times, and should be kept.
    pub(super) fn are_large(&self) -> bool {
        self.is_large
    }

    /// The elements of a chunk that are inside the bounds.
    pub(super) fn chunk(&self, chunk: ChunkIndex) -> Region {
        self.region(&self.bounds(&[chunk]))
    }

    /// Position of a chunk's block, and of its cell in the block.
    fn place(&self, chunk: ChunkIndex) -> (u64, u64) {
        let coordinate = unravel(chunk.0, &self.grid);
        let along = |count: &dyn Fn(usize) -> u64, at: &dyn Fn(usize) -> u64| -> u64 {
            let counts: Dims = (0..coordinate.len()).map(count).collect();
            let at: Dims = (0..coordinate.len()).map(at).collect();
            ravel(&at, &counts).unwrap_or(u64::MAX)
        };
        let (block, cell) = (&self.block, &self.cell);
        let in_block = along(&|axis| self.grid[axis].div_ceil(block[axis]), &|axis| {
            coordinate[axis] / block[axis]
        });
        let in_cell = along(&|axis| block[axis].div_ceil(cell[axis]), &|axis| {
            coordinate[axis] % block[axis] / cell[axis]
        });
        (in_block, in_cell)
    }

    /// The least box of chunks around some.
    fn bounds(&self, chunks: &[ChunkIndex]) -> Vec<Range<u64>> {
        let mut bounds: Vec<Range<u64>> = Vec::new();
        for chunk in chunks {
            let coordinate = unravel(chunk.0, &self.grid);
            if bounds.is_empty() {
                bounds = coordinate.iter().map(|&at| at..at + 1).collect();
            }
            for (bounds, at) in bounds.iter_mut().zip(coordinate) {
                *bounds = bounds.start.min(at)..bounds.end.max(at + 1);
            }
        }
        bounds
    }

    /// The chunks of the cell that the first of some is in.
    fn cell_of(&self, chunks: &[ChunkIndex]) -> Vec<Range<u64>> {
        let Some(chunk) = chunks.first() else { return self.bounds(chunks) };
        let edges = self.grid.iter().zip(self.block.iter().zip(&self.cell));
        let axis = |(at, (&most, (&block, &cell))): (u64, (&u64, (&u64, &u64)))| {
            let start = at - at % block % cell;
            // A cell ends with its block.
            start..(start + cell).min(at - at % block + block).min(most)
        };
        unravel(chunk.0, &self.grid).into_iter().zip(edges).map(axis).collect()
    }

    /// The elements of a box of chunks.
    fn region(&self, chunks: &[Range<u64>]) -> Region {
        let edges = chunks.iter().zip(self.chunk.iter().zip(&self.shape));
        let axes = edges.map(|(chunks, (&edge, &most))| {
            let [start, end] =
                [chunks.start, chunks.end].map(|at| at.saturating_mul(edge).min(most));
            (start, end.saturating_sub(start))
        });
        let (start, shape) = axes.unzip();
        Region { start, shape }
    }
}

/// The parts of a range that have one key each.
fn runs<K: PartialEq>(range: Range<usize>, key: impl Fn(usize) -> K) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in range {
        match runs.last_mut() {
            Some(run) if key(run.start) == key(at) => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// A multiple of both, the least.
fn least_common(old: u64, new: u64) -> u64 {
    let (mut a, mut b) = (old, new);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (old / a.max(1)).saturating_mul(new)
}

/// As long as the longer of both, in whole new chunks.
fn longer(old: u64, new: u64) -> u64 {
    old.max(new).div_ceil(new).saturating_mul(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(blocks: &Blocks) -> Vec<ChunkIndex> {
        let mut chunks: Vec<ChunkIndex> =
            (0..blocks.grid().iter().product()).map(ChunkIndex).collect();
        blocks.sort(&mut chunks);
        chunks
    }

    #[test]
    fn every_wanted_chunk_is_in_the_region_of_its_group_and_in_one_group() {
        for (shape, old, new, element_size) in [
            (&[100, 90][..], &[10, 20][..], &[15, 8][..], 8),
            (&[100, 90], &[100, 1], &[1, 90], 8),
            (&[7, 5, 9], &[2, 2, 2], &[3, 3, 4], 1 << 16),
            (&[3000, 2000], &[3000, 1000], &[7, 9], 8),
            (&[1000], &[64], &[64], 1),
            (&[5, 4], &[8, 8], &[2, 16], 4),
        ] {
            let blocks = Blocks::new(shape, old, new, element_size).unwrap();
            let chunks = all(&blocks);
            for step in [1, 2, 7] {
                let wanted: Vec<ChunkIndex> = chunks.iter().copied().step_by(step).collect();
                let groups = blocks.groups(&wanted);
                let ranges: Vec<usize> =
                    groups.iter().flat_map(|(range, _)| range.clone()).collect();
                assert!(ranges.iter().copied().eq(0..wanted.len()), "{shape:?}");
                for (range, region) in &groups {
                    for &chunk in &wanted[range.clone()] {
                        let inside = blocks.chunk(chunk);
                        for axis in 0..shape.len() {
                            assert!(inside.shape[axis] > 0);
                            assert!(inside.start[axis] >= region.start[axis], "{shape:?} {chunk}");
                            let end = region.start[axis] + region.shape[axis];
                            assert!(inside.start[axis] + inside.shape[axis] <= end);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn no_old_chunk_is_read_for_two_groups_where_the_grids_allow_it() {
        let (shape, old, new) = ([400, 300], [100, 50], [20, 75]);
        let blocks = Blocks::new(&shape, &old, &new, 8).unwrap();
        let regions = blocks.groups(&all(&blocks));
        let mut read = std::collections::HashSet::new();
        for (_, Region { start, shape }) in regions {
            for row in start[0] / old[0]..(start[0] + shape[0]).div_ceil(old[0]) {
                for column in start[1] / old[1]..(start[1] + shape[1]).div_ceil(old[1]) {
                    assert!(read.insert((row, column)), "({row}, {column}) is read twice");
                }
            }
        }
        assert_eq!(read.len(), 24);
    }

    #[test]
    fn rows_that_become_columns_are_read_in_parts_that_fit_in_memory() {
        let blocks = Blocks::new(&[20_000, 20_000], &[1, 20_000], &[20_000, 1], 8).unwrap();
        let wanted: Vec<ChunkIndex> = (0..20_000).map(ChunkIndex).collect();
        let groups = blocks.groups(&wanted);
        assert!((2..100).contains(&groups.len()), "{}", groups.len());
        for (_, region) in groups {
            let bytes = byte_count(&region.shape, 8).unwrap();
            assert!(bytes <= MOST_BYTES, "{bytes} bytes");
        }
    }

    #[test]
    fn few_chunks_of_a_block_are_read_one_by_one() {
        let blocks = Blocks::new(&[1000, 1000], &[10, 10], &[10, 10], 1).unwrap();
        let wanted = [ChunkIndex(0), ChunkIndex(99), ChunkIndex(9999)];
        let groups = blocks.groups(&wanted);
        assert_eq!(groups.len(), 3);
        assert!(groups.iter().all(|(_, region)| region.shape[..] == [10, 10]));
    }
}
