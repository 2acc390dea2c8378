use std::sync::Arc;

use super::array::{Result, Staged, push};
use super::chunk::NoMemory;
use super::view::Loaded;
use super::{Base, StagedArray};
use crate::dims::{ChunkIndex, Dims, DimsError, PerAxis, ravel, unravel};

impl<B: Base> StagedArray<B> {
    /// Gives the array another shape in elements, of the same rank; axes may grow and shrink at once.
    /// Elements that are added hold fill, also where a shrink cut something off before.
    ///
    /// Chunks of the base at the edge whose extent changes are read and become staged.
    ///
    /// # Errors
    /// [`StagedError::Dims`](super::StagedError::Dims) if the shape has another rank or is too large,
    /// [`StagedError::Base`](super::StagedError::Base) if the base fails,
    /// [`StagedError::Memory`](super::StagedError::Memory); the array is unchanged then.
    pub fn resize(&mut self, shape: &[u64]) -> Result<(), B> {
        if shape.len() != self.shape.len() {
            let (expected, found) = (self.shape.len(), shape.len());
            return Err(DimsError::RankMismatch { expected, found }.into());
        }
        let grid = self.format.grid(shape)?;
        let change = Change::new(&self.shape, shape, &self.format.shape);
        // All that can fail, and changes no value.
        let loaded = self.load_edges(&change, &grid)?;
        let cut: Vec<ChunkIndex> = self
            .staged
            .keys()
            .copied()
            .filter(|chunk| {
                let coordinate = unravel(chunk.0, &self.grid);
                change.shrinks(&coordinate) && ravel(&coordinate, &grid).is_some()
            })
            .collect();
        self.unshare(cut.iter().copied())?;

        self.clear_tails(&cut, shape);
        if grid != self.grid {
            self.rekey(&grid);
        }
        self.shape = shape.into();
        if let Some(view) = &mut self.base {
            for (visible, &chunks) in view.visible.iter_mut().zip(&grid) {
                *visible = chunks.min(*visible);
            }
        }
        self.grid = grid;
        self.insert(loaded.into_iter());
        Ok(())
    }

    /// The chunks of the base whose extent changes, by their positions in the new grid.
    fn load_edges(&self, change: &Change, grid: &[u64]) -> Result<Vec<(ChunkIndex, Loaded)>, B> {
        let Some(view) = &self.base else {
            return Ok(Vec::new());
        };
        let kept: Dims = view.visible.iter().zip(grid).map(|(&a, &b)| a.min(b)).collect();
        let (mut chunks, mut positions) = (Vec::new(), Vec::new());
        change.for_each_edge(&kept, &mut |coordinate| {
            let staged =
                self.chunk_at(coordinate).is_some_and(|chunk| self.staged.contains_key(&chunk));
            if let (false, Some(chunk), Some(position)) =
                (staged, ravel(coordinate, grid), view.position(coordinate))
            {
                push(&mut chunks, ChunkIndex(chunk))?;
                push(&mut positions, position)?;
            }
            Ok::<_, NoMemory>(())
        })?;
        let loaded = view.load(&positions, &self.format, |number, bytes| {
            let coordinate = unravel(chunks[number].0, grid);
            self.trimmed(bytes, &self.format.extent(&coordinate, &change.common))
        })?;
        Ok(chunks.into_iter().zip(loaded).collect())
    }

    /// Makes what staged chunks hold beyond `shape` fill. The chunks are this array's own.
    fn clear_tails(&mut self, chunks: &[ChunkIndex], shape: &[u64]) {
        let staged = Arc::make_mut(&mut self.staged);
        for chunk in chunks {
            let extent = self.format.extent_at(chunk.0, &self.grid, shape);
            if let Some(buffer) = staged.get_mut(chunk) {
                self.format.clear_beyond(&extent, &mut Arc::make_mut(buffer)[..]);
            }
        }
    }

    /// Gives every staged chunk its position in another grid, and drops those outside of it.
    fn rekey(&mut self, grid: &[u64]) {
        let staged = std::mem::take(Arc::make_mut(&mut self.staged));
        let staged: Staged = staged
            .into_iter()
            .filter_map(|(chunk, buffer)| {
                let position = ravel(&unravel(chunk.0, &self.grid), grid)?;
                Some((ChunkIndex(position), buffer))
            })
            .collect();
        self.staged = Arc::new(staged);
    }
}

/// Which chunks a resize changes the extent of.
struct Change {
    /// Along each axis the elements that are there before and after.
    common: Dims,
    /// Along each axis the one chunk whose extent changes and that is there before and after, if any.
    edge: PerAxis<Option<Edge>>,
}

struct Edge {
    chunk: u64,
    shrinks: bool,
}

impl Change {
    fn new(old: &[u64], new: &[u64], chunk_shape: &[u64]) -> Self {
        let common: Dims = old.iter().zip(new).map(|(&old, &new)| old.min(new)).collect();
        let edge = (0..old.len())
            .map(|axis| {
                let (inside, chunk) = (common[axis], chunk_shape[axis]);
                // An end between chunks cuts none.
                (old[axis] != new[axis] && inside % chunk != 0)
                    .then(|| Edge { chunk: inside / chunk, shrinks: new[axis] < old[axis] })
            })
            .collect();
        Self { common, edge }
    }

    /// Whether the chunk at a coordinate loses elements and keeps some.
    fn shrinks(&self, coordinate: &[u64]) -> bool {
        coordinate.iter().zip(&self.edge).any(|(&index, edge)| {
            edge.as_ref().is_some_and(|edge| edge.shrinks && edge.chunk == index)
        })
    }

    /// Calls `visit(coordinate)` in row-major order for each chunk in a box from the origin whose extent
    /// changes. Costs nothing for the others.
    fn for_each_edge<E>(
        &self,
        end: &[u64],
        visit: &mut impl FnMut(&[u64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if end.contains(&0) {
            return Ok(());
        }
        self.turn(end, &mut Dims::new(), false, visit)
    }

    /// Goes on from the first axes of a coordinate; `hit` is whether one of them is at an edge.
    fn turn<E>(
        &self,
        end: &[u64],
        coordinate: &mut Dims,
        hit: bool,
        visit: &mut impl FnMut(&[u64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let axis = coordinate.len();
        if axis == end.len() {
            return if hit { visit(coordinate) } else { Ok(()) };
        }
        let edge = self.edge[axis].as_ref().map(|edge| edge.chunk);
        let later = (axis + 1..end.len())
            .any(|axis| self.edge[axis].as_ref().is_some_and(|edge| edge.chunk < end[axis]));
        let indices = match edge {
            _ if hit || later => 0..end[axis],
            Some(edge) if edge < end[axis] => edge..edge + 1,
            _ => return Ok(()),
        };
        for index in indices {
            coordinate.push(index);
            self.turn(end, coordinate, hit || edge == Some(index), visit)?;
            coordinate.pop();
        }
        Ok(())
    }
}
