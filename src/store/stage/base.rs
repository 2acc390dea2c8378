//! Where the chunks of a staged dataset come from that nobody has changed.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::Trimmed;
use super::super::element::Elements;
use super::super::error::Error;
use super::strings::{EMPTY, HANDLE, StringArena};
use crate::dims::{ChunkIndex, unravel};
use crate::raw::Threads;
use crate::selection::{AxisSelection, Selection};
use crate::staged::{Base, BaseChunk, MemoryBase, MemoryBaseError};

/// What is called with each chunk: its position among those asked for, and what it holds.
type Visit<'v> = dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync + 'v;

/// Why a chunk that a version starts from cannot be brought.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BaseError(Box<dyn std::error::Error + Send + Sync>);

impl BaseError {
    /// Of a chunk source of any kind.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

impl From<Error> for BaseError {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}

impl From<MemoryBaseError> for BaseError {
    fn from(error: MemoryBaseError) -> Self {
        Self::new(error)
    }
}

/// What a staged dataset starts from.
pub(in crate::store) enum StageBase {
    /// The dataset of an older version, whose stored chunks may be used as they are.
    Stored(DatasetBase),
    /// An array in memory.
    Memory(Box<MemoryBase<Elements>>),
    /// Anything else that has chunks, all of which will be stored.
    Source(Arc<dyn Base<Error = BaseError>>),
}

impl Base for StageBase {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        match self {
            Self::Stored(base) => base.shape(),
            Self::Memory(base) => base.shape(),
            Self::Source(base) => base.shape(),
        }
    }

    fn chunk_shape(&self) -> &[u64] {
        match self {
            Self::Stored(base) => base.chunk_shape(),
            Self::Memory(base) => base.chunk_shape(),
            Self::Source(base) => base.chunk_shape(),
        }
    }

    fn visit(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        match self {
            Self::Stored(base) => base.visit(chunks, visit),
            Self::Memory(base) => base.visit(chunks, visit).map_err(BaseError::from),
            Self::Source(base) => base.visit(chunks, visit),
        }
    }
}

/// The chunks of a committed dataset; strings of variable length are handles into `strings`.
pub(in crate::store) struct DatasetBase {
    pub(in crate::store) dataset: Dataset,
    pub(in crate::store) strings: Option<Arc<StringArena>>,
}

impl Base for DatasetBase {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        self.dataset.shape()
    }

    fn chunk_shape(&self) -> &[u64] {
        self.dataset.chunk_shape()
    }

    fn visit(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        let map = self.dataset.chunk_map()?;
        let one = |(position, &chunk): (usize, &ChunkIndex)| {
            if map.get(chunk).is_none() {
                return visit(position, BaseChunk::Fill).map_break(Ok);
            }
            match self.chunk(chunk) {
                Ok(bytes) => visit(position, BaseChunk::Bytes(&bytes)).map_break(Ok),
                Err(error) => ControlFlow::Break(Err(error.into())),
            }
        };
        let threads = self.dataset.inner.version.file.threads();
        let result = threads.install(|| match (&self.strings, threads) {
            // Handles are given in the order of the chunks, and files are the same whatever the threads did.
            (Some(_), _) | (_, Threads::One) => chunks.iter().enumerate().try_for_each(one),
            _ => chunks.par_iter().enumerate().try_for_each(one),
        });
        match result {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(result) => result,
        }
    }
}

impl DatasetBase {
    /// The elements of a chunk, or the handles of its strings, in the shape of a whole chunk.
    fn chunk(&self, chunk: ChunkIndex) -> Result<Vec<u8>, Error> {
        let dataset = &self.dataset;
        let coordinate = unravel(chunk.0, dataset.chunk_grid());
        let trimmed = Trimmed::new(&coordinate, dataset.shape(), dataset.chunk_shape());
        let selection = box_selection(&coordinate, dataset.chunk_shape(), &trimmed.shape);
        let (element_size, inside) = match &self.strings {
            None => (dataset.inner.storage.raw.element_size(), dataset.read_bytes(&selection)?.0),
            Some(arena) => {
                let strings = dataset.read_byte_strings(selection)?;
                let mut arena = arena.write();
                (HANDLE, strings.iter().flat_map(|string| arena.add(string)).collect())
            }
        };
        if trimmed.is_whole() {
            return Ok(inside);
        }
        let filler = match &self.strings {
            None => dataset.fill_value().as_bytes(),
            Some(_) => &EMPTY,
        };
        Ok(trimmed.spread(&inside, element_size, filler))
    }
}

/// Selects the elements of a chunk that are inside the bounds. Chunks of datasets that exist end below `i64::MAX`.
fn box_selection(coordinate: &[u64], chunk_shape: &[u64], inside: &[u64]) -> Selection {
    let bound = |value: u64| i64::try_from(value).ok();
    let axes = coordinate.iter().zip(chunk_shape).zip(inside).map(|((&at, &chunk), &count)| {
        let start = at.saturating_mul(chunk);
        let stop = start.saturating_add(count);
        AxisSelection::Slice { start: bound(start), stop: bound(stop), step: 1 }
    });
    Selection::axes(axes)
}
