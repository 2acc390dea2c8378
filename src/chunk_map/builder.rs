//! Mappings checked against the grid, one by one, and gathered into a map.

use super::error::{MapError, MappingFault};
use super::map::ChunkMap;
use crate::dims::{ChunkIndex, Dims, chunk_grid, element_count};

/// The grid of a version's dataset and the number of chunks that its `raw_data` has.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    shape: Dims,
    chunk_shape: Dims,
    grid: Dims,
    chunks: u64,
    raw_chunks: u64,
}

impl Geometry {
    pub(crate) fn new(
        shape: &[u64],
        chunk_shape: &[u64],
        raw_chunks: u64,
    ) -> Result<Self, MapError> {
        let grid = chunk_grid(shape, chunk_shape)?;
        let chunks = element_count(&grid)?;
        let (shape, chunk_shape) = (Dims::from_slice(shape), Dims::from_slice(chunk_shape));
        Ok(Self { shape, chunk_shape, grid, chunks, raw_chunks })
    }

    /// Number of chunks along each axis.
    pub(crate) fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Number of chunks of the grid.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// First element of a chunk.
    pub(super) fn start_of(&self, chunk: ChunkIndex) -> Dims {
        let coordinate = crate::dims::unravel(chunk.0, &self.grid);
        coordinate.iter().zip(&self.chunk_shape).map(|(index, chunk)| index * chunk).collect()
    }

    /// The chunk and the raw chunk of a mapping.
    #[inline]
    pub(super) fn check(
        &self,
        source_start: &[u64],
        virtual_start: &[u64],
        extent: &[u64],
    ) -> Result<(u64, u64), MapError> {
        let rank = self.shape.len();
        let fits =
            virtual_start.len() == rank && source_start.len() == rank && extent.len() == rank;
        if !fits || rank == 0 {
            return Err(fault(virtual_start, MappingFault::NotABlock));
        }
        // Without chunks nothing fits, and positions among those there would be may pass 64 bits.
        if self.chunks == 0 {
            return Err(self.misplaced(virtual_start, extent));
        }
        let mut chunk = 0;
        for axis in 0..rank {
            let (size, edge, start) =
                (self.shape[axis], self.chunk_shape[axis], virtual_start[axis]);
            let index = start / edge;
            // `start` is below `size`, so `size - start` is at least 1 where it is looked at.
            if start >= size || index * edge != start || extent[axis] != edge.min(size - start) {
                return Err(self.misplaced(virtual_start, extent));
            }
            chunk = chunk * self.grid[axis] + index;
        }
        let (rows, edge) = (source_start[0], self.chunk_shape[0]);
        let raw = rows / edge;
        if raw * edge != rows || source_start[1..].iter().any(|&start| start != 0) {
            let start = source_start.to_vec();
            return Err(fault(virtual_start, MappingFault::SourceStart { start }));
        }
        if raw >= self.raw_chunks {
            let chunks = self.raw_chunks;
            return Err(fault(virtual_start, MappingFault::SourceRange { raw, chunks }));
        }
        Ok((chunk, raw))
    }

    /// Why a mapping does not cover exactly a chunk.
    #[cold]
    fn misplaced(&self, start: &[u64], extent: &[u64]) -> MapError {
        let axes = || start.iter().zip(&self.shape).zip(&self.chunk_shape);
        let why = if axes().any(|((start, size), _)| start >= size) {
            MappingFault::OutsideShape { shape: self.shape.to_vec() }
        } else if axes().any(|((start, _), edge)| start % edge != 0) {
            MappingFault::Unaligned { chunk_shape: self.chunk_shape.to_vec() }
        } else {
            MappingFault::Extent {
                expected: axes().map(|((start, &size), &edge)| edge.min(size - start)).collect(),
                found: extent.to_vec(),
            }
        };
        fault(start, why)
    }
}

pub(super) fn fault(start: &[u64], fault: MappingFault) -> MapError {
    MapError::Mapping { start: start.to_vec(), fault }
}

/// Gathers (chunk, raw chunk) pairs of checked mappings.
pub(super) struct Builder<'g> {
    geometry: &'g Geometry,
    pairs: Vec<(u64, u64)>,
    sorted: bool,
}

impl<'g> Builder<'g> {
    /// `mappings`: how many are to come; the file has been shown to hold that many.
    pub(super) fn new(geometry: &'g Geometry, mappings: u64) -> Result<Self, MapError> {
        let mut pairs = Vec::new();
        let memory = MapError::Memory { chunks: mappings };
        match usize::try_from(mappings).map(|mappings| pairs.try_reserve_exact(mappings)) {
            Ok(Ok(())) => Ok(Self { geometry, pairs, sorted: true }),
            _ => Err(memory),
        }
    }

    #[inline]
    pub(super) fn add(
        &mut self,
        source_start: &[u64],
        virtual_start: &[u64],
        extent: &[u64],
    ) -> Result<(), MapError> {
        let pair = self.geometry.check(source_start, virtual_start, extent)?;
        // Lists are normally in row-major order, which leaves nothing to sort.
        self.sorted &= self.pairs.last().is_none_or(|last| last.0 < pair.0);
        self.pairs.push(pair);
        Ok(())
    }

    /// The map. Of several mappings of a chunk, the others go to `faulty`, and are left out unless it makes an error of
    /// them.
    pub(super) fn finish(
        mut self,
        mut faulty: impl FnMut(MapError) -> Result<(), MapError>,
    ) -> Result<ChunkMap, MapError> {
        if !self.sorted {
            self.pairs.sort_unstable();
            let mut outcome = Ok(());
            self.pairs.dedup_by(|later, first| {
                let twice = later.0 == first.0;
                if twice && outcome.is_ok() {
                    let start = self.geometry.start_of(ChunkIndex(first.0));
                    outcome = faulty(fault(&start, MappingFault::Duplicate));
                }
                twice
            });
            outcome?;
        }
        Ok(ChunkMap::from_sorted(self.pairs, self.geometry.chunks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry::new(&[25, 7], &[10, 4], 6).unwrap()
    }

    #[test]
    fn mappings_of_whole_and_edge_chunks_are_taken() {
        let geometry = geometry();
        let mut builder = Builder::new(&geometry, 3).unwrap();
        builder.add(&[50, 0], &[20, 4], &[5, 3]).unwrap();
        builder.add(&[0, 0], &[0, 0], &[10, 4]).unwrap();
        builder.add(&[10, 0], &[0, 4], &[10, 3]).unwrap();
        let map = builder.finish(Err).unwrap();
        let listed: Vec<_> = map.iter().map(|(chunk, raw)| (chunk.0, raw.0)).collect();
        assert_eq!(listed, [(0, 0), (1, 1), (5, 5)]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let geometry = geometry();
        let dims = <[u64]>::to_vec;
        for (source, start, extent, expected) in [
            ([0, 0], [5, 0], [10, 4], MappingFault::Unaligned { chunk_shape: dims(&[10, 4]) }),
            ([0, 0], [30, 0], [10, 4], MappingFault::OutsideShape { shape: dims(&[25, 7]) }),
            (
                [0, 0],
                [20, 4],
                [10, 3],
                MappingFault::Extent { expected: dims(&[5, 3]), found: dims(&[10, 3]) },
            ),
            ([5, 0], [0, 0], [10, 4], MappingFault::SourceStart { start: dims(&[5, 0]) }),
            ([0, 1], [0, 0], [10, 4], MappingFault::SourceStart { start: dims(&[0, 1]) }),
            ([60, 0], [0, 0], [10, 4], MappingFault::SourceRange { raw: 6, chunks: 6 }),
        ] {
            let mut builder = Builder::new(&geometry, 1).unwrap();
            match builder.add(&source, &start, &extent) {
                Err(MapError::Mapping { start: found, fault }) => {
                    assert_eq!((found.as_slice(), fault), (start.as_slice(), expected));
                }
                other => panic!("{expected:?} expected, {other:?} found"),
            }
        }
    }

    #[test]
    fn nothing_is_mapped_in_an_empty_shape_however_long_its_axes() {
        let geometry = Geometry::new(&[1 << 40, 1 << 40, 0], &[1, 1, 1], 6).unwrap();
        let start = [(1 << 40) - 1, 1, 0];
        assert!(matches!(
            geometry.check(&[0, 0, 0], &start, &[1, 1, 1]),
            Err(MapError::Mapping { fault: MappingFault::OutsideShape { .. }, .. })
        ));
    }

    #[test]
    fn two_mappings_of_one_chunk_are_refused() {
        let geometry = geometry();
        let mut builder = Builder::new(&geometry, 2).unwrap();
        builder.add(&[0, 0], &[10, 4], &[10, 3]).unwrap();
        builder.add(&[10, 0], &[10, 4], &[10, 3]).unwrap();
        assert!(matches!(
            builder.finish(Err),
            Err(MapError::Mapping { fault: MappingFault::Duplicate, .. })
        ));
    }
}
