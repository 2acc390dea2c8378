use std::ops::ControlFlow;

use rayon::prelude::*;

use super::chunk::{ChunkFormat, NoMemory};
use super::{Base, BaseChunk};
use crate::dims::{ChunkIndex, Dims, DimsError, byte_count, unravel};
use crate::kernel::{KernelError, scatter};
use crate::plan::{PlanError, ReadPlan};
use crate::selection::Selection;

/// An array in memory as the [`Base`] of a staged array. `M` holds its elements in C order, like
/// `Vec<u8>` or `Arc<[u8]>`; they are copied when a chunk is asked for, never before.
#[derive(Clone, Debug)]
pub struct MemoryBase<M = Vec<u8>> {
    shape: Dims,
    grid: Dims,
    format: ChunkFormat,
    /// Whether the elements of each whole chunk stand one after the other in the array.
    in_one_piece: bool,
    elements: M,
}

/// An array in memory that cannot be cut into chunks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryBaseError {
    /// The shape and the chunk shape do not belong together, or are too large.
    #[error(transparent)]
    Dims(#[from] DimsError),
    /// The bytes do not make up the shape.
    #[error("{found} bytes for a shape of {expected}")]
    Size {
        /// Bytes of the shape.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// Elements without bytes.
    #[error("elements must have at least one byte")]
    EmptyElement,
    /// The array cannot be cut into chunks.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A chunk could not be put together.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A chunk that the array does not have.
    #[error("there is no chunk {chunk}")]
    NoChunk {
        /// The chunk asked for.
        chunk: ChunkIndex,
    },
    /// More memory than can be had.
    #[error("no memory for a chunk of {bytes} bytes")]
    Memory {
        /// Bytes of a chunk.
        bytes: u64,
    },
}

impl From<NoMemory> for MemoryBaseError {
    fn from(NoMemory { bytes }: NoMemory) -> Self {
        Self::Memory { bytes }
    }
}

impl<M: AsRef<[u8]> + Send + Sync> MemoryBase<M> {
    /// Takes an array of `shape` whose elements have `element_size` bytes, to be brought in chunks of
    /// `chunk_shape`; shapes are in elements.
    ///
    /// # Errors
    /// [`MemoryBaseError::Dims`], [`MemoryBaseError::EmptyElement`] or [`MemoryBaseError::Size`] if the
    /// shapes, the element size and the bytes do not belong together.
    pub fn new(
        shape: &[u64],
        chunk_shape: &[u64],
        element_size: usize,
        elements: M,
    ) -> Result<Self, MemoryBaseError> {
        if element_size == 0 {
            return Err(MemoryBaseError::EmptyElement);
        }
        let format = ChunkFormat::new(chunk_shape, &vec![0; element_size])?;
        let grid = format.grid(shape)?;
        let (expected, found) = (byte_count(shape, element_size)?, elements.as_ref().len() as u64);
        if expected != found {
            return Err(MemoryBaseError::Size { expected, found });
        }
        let in_one_piece = in_one_piece(shape, chunk_shape);
        Ok(Self { shape: shape.into(), grid, format, in_one_piece, elements })
    }

    /// The elements of a chunk in C order where they are kept, if they stand there one after the other and none of
    /// the chunk is beyond the shape.
    pub(crate) fn in_place(&self, chunk: ChunkIndex) -> Option<&[u8]> {
        if !self.in_one_piece || chunk.0 >= self.grid.iter().product() {
            return None;
        }
        let coordinate = unravel(chunk.0, &self.grid);
        if self.format.extent(&coordinate, &self.shape) != self.format.shape {
            return None;
        }
        let axes = coordinate.iter().zip(&self.format.shape).zip(&self.shape);
        let first = axes.fold(0, |first, ((index, chunk), size)| first * size + index * chunk);
        let start = usize::try_from(first).ok()?.checked_mul(self.format.element_size())?;
        self.elements.as_ref().get(start..)?.get(..self.format.bytes)
    }

    /// Puts the elements of one chunk into `buffer`, which has the bytes of a chunk.
    fn gather(
        &self,
        plan: &ReadPlan<'_>,
        chunk: ChunkIndex,
        buffer: &mut [u8],
    ) -> Result<(), MemoryBaseError> {
        // The plan is of the whole array: every chunk has its transfer, in order.
        let mut transfers = plan.transfers_in(chunk.0..chunk.0.saturating_add(1));
        let transfer = transfers.advance().ok_or(MemoryBaseError::NoChunk { chunk })?;
        let strides = transfer.buffer_strides();
        let element_size = self.format.element_size();
        Ok(scatter(&transfer, self.elements.as_ref(), strides, buffer, element_size)?)
    }
}

impl<M: AsRef<[u8]> + Send + Sync> Base for MemoryBase<M> {
    type Error = MemoryBaseError;

    fn shape(&self) -> &[u64] {
        &self.shape
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.format.shape
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), MemoryBaseError> {
        let arena = bumpalo::Bump::new();
        let everything = Selection::all();
        let plan = ReadPlan::new(&everything, &self.shape, &self.format.shape, &arena)?;
        let result = chunks.par_iter().enumerate().try_for_each_init(
            || self.format.filled(),
            |buffer, (position, &chunk)| {
                let buffer = match buffer {
                    Ok(buffer) => buffer,
                    Err(no_memory) => return ControlFlow::Break(Err((*no_memory).into())),
                };
                match self.gather(&plan, chunk, buffer) {
                    Ok(()) => visit(position, BaseChunk::Bytes(buffer)).map_break(Ok),
                    Err(error) => ControlFlow::Break(Err(error)),
                }
            },
        );
        match result {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(result) => result,
        }
    }
}

/// Whether the elements of a whole chunk stand one after the other in an array in C order: all of every axis but
/// one, before which there are only axes of which a chunk has one index.
fn in_one_piece(shape: &[u64], chunk_shape: &[u64]) -> bool {
    let ones = chunk_shape.iter().take_while(|&&chunk| chunk == 1).count();
    let inner = shape.iter().zip(chunk_shape).skip(ones + 1);
    inner.into_iter().all(|(size, chunk)| size == chunk)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::dims::chunk_grid;

    #[test]
    fn a_chunk_in_place_is_the_chunk_that_a_visit_brings() {
        for (shape, chunk_shape, in_place) in [
            (&[10][..], &[4][..], 2),
            (&[8], &[4], 2),
            (&[6, 3], &[2, 3], 3),
            (&[7, 3], &[2, 3], 3),
            (&[4, 6], &[1, 2], 12),
            (&[4, 6], &[1, 4], 4),
            (&[3, 4, 5], &[1, 2, 5], 6),
            (&[4, 6], &[2, 3], 0),
            (&[4, 6], &[2, 8], 0),
            (&[3, 4, 5], &[1, 2, 4], 0),
            (&[0], &[4], 0),
        ] {
            let bytes = byte_count(shape, 2).unwrap();
            let elements: Vec<u8> = (0..bytes).map(|byte| u8::try_from(byte).unwrap()).collect();
            let base = MemoryBase::new(shape, chunk_shape, 2, elements).unwrap();
            let chunks = chunk_grid(shape, chunk_shape).unwrap().iter().product();
            let chunks: Vec<ChunkIndex> = (0..chunks).map(ChunkIndex).collect();
            let found = Mutex::new(0);
            base.visit(&chunks, &|position, chunk| {
                if let Some(bytes) = base.in_place(chunks[position]) {
                    assert_eq!(chunk, BaseChunk::Bytes(bytes));
                    *found.lock().unwrap() += 1;
                }
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(*found.lock().unwrap(), in_place, "{shape:?} in {chunk_shape:?}");
            assert_eq!(base.in_place(ChunkIndex(chunks.len() as u64)), None);
        }
    }
}
