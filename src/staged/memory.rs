use std::ops::ControlFlow;

use rayon::prelude::*;

use super::chunk::{ChunkFormat, NoMemory};
use super::{Base, BaseChunk};
use crate::dims::{ChunkIndex, Dims, DimsError, byte_count};
use crate::kernel::{KernelError, scatter};
use crate::plan::{PlanError, ReadPlan};
use crate::selection::Selection;

/// An array in memory as the [`Base`] of a staged array. `M` holds its elements in C order, like
/// `Vec<u8>` or `Arc<[u8]>`; they are copied when a chunk is asked for, never before.
#[derive(Clone, Debug)]
pub struct MemoryBase<M = Vec<u8>> {
    shape: Dims,
    format: ChunkFormat,
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
        format.grid(shape)?;
        let (expected, found) = (byte_count(shape, element_size)?, elements.as_ref().len() as u64);
        if expected != found {
            return Err(MemoryBaseError::Size { expected, found });
        }
        Ok(Self { shape: shape.into(), format, elements })
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
