//! Where the chunks of a staged dataset come from that nobody has changed.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::Trimmed;
use super::super::element::Elements;
use super::super::error::Error;
use super::strings::{EMPTY, HANDLE, StringArena};
use crate::dims::{ChunkIndex, Dims, DimsError, chunk_grid, unravel};
use crate::memory::zeroed;
use crate::selection::{AxisSelection, Selection};
use crate::staged::{Base, BaseChunk, MemoryBase, MemoryBaseError, StagedError, Wanted};

/// Bytes of chunks that are read before they are visited, unless the threads need more to have one chunk each.
const WINDOW: usize = 4 << 20;

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

/// Where strings of variable length come from, chunk by chunk: what [`Base`] is for elements of fixed size.
///
/// What it holds must not change while it is staged.
pub trait StringSource: Send + Sync {
    /// Shape in elements.
    fn shape(&self) -> &[u64];

    /// Shape of a chunk in elements.
    fn chunk_shape(&self) -> &[u64];

    /// The chunks that may hold a string that is not empty, strictly rising; `None` if that is not known.
    ///
    /// # Errors
    /// [`BaseError`] if it cannot be found out.
    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        Ok(None)
    }

    /// The strings of one chunk that are inside the shape, in C order; `None` if all of them are empty. Chunks are
    /// row-major positions in the grid, and are asked for one after the other.
    ///
    /// # Errors
    /// [`BaseError`] if the chunk cannot be brought.
    fn strings(&self, chunk: ChunkIndex) -> Result<Option<Vec<Vec<u8>>>, BaseError>;
}

/// What a staged dataset starts from.
pub(in crate::store) enum StageBase {
    /// The dataset of an older version, whose stored chunks may be used as they are.
    Stored(DatasetBase),
    /// An array in memory.
    Memory(Box<MemoryBase<Elements>>),
    /// Anything else that has chunks, all of which will be stored.
    Source(Arc<dyn Base<Error = BaseError>>),
    /// The same for strings of variable length.
    Strings(Box<StringBase>),
}

impl StageBase {
    /// The elements of a whole chunk where they are kept, if they are in memory and stand there one after the other.
    pub(in crate::store) fn in_place(&self, chunk: ChunkIndex) -> Option<&[u8]> {
        match self {
            Self::Memory(base) => base.in_place(chunk),
            Self::Stored(_) | Self::Source(_) | Self::Strings(_) => None,
        }
    }
}

impl Base for StageBase {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        match self {
            Self::Stored(base) => base.shape(),
            Self::Memory(base) => base.shape(),
            Self::Source(base) => base.shape(),
            Self::Strings(base) => base.source.shape(),
        }
    }

    fn chunk_shape(&self) -> &[u64] {
        match self {
            Self::Stored(base) => base.chunk_shape(),
            Self::Memory(base) => base.chunk_shape(),
            Self::Source(base) => base.chunk_shape(),
            Self::Strings(base) => base.source.chunk_shape(),
        }
    }

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        match self {
            Self::Stored(base) => base.stored(),
            Self::Memory(_) => Ok(None),
            Self::Source(base) => base.stored(),
            Self::Strings(base) => base.source.stored(),
        }
    }

    fn fetch(&self, wanted: &Wanted<'_, '_>) -> Option<Result<(), BaseError>> {
        match self {
            Self::Stored(base) => base.fetch(wanted),
            Self::Source(base) => base.fetch(wanted),
            Self::Memory(_) | Self::Strings(_) => None,
        }
    }

    fn visit(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        match self {
            Self::Stored(base) => base.visit(chunks, visit),
            Self::Memory(base) => base.visit(chunks, visit).map_err(BaseError::from),
            Self::Source(base) => base.visit(chunks, visit),
            Self::Strings(base) => base.visit(chunks, visit),
        }
    }
}

/// Strings that a source brings, as handles into `strings`.
pub(in crate::store) struct StringBase {
    source: Arc<dyn StringSource>,
    grid: Dims,
    strings: Arc<StringArena>,
}

impl StringBase {
    pub(in crate::store) fn new(
        source: Arc<dyn StringSource>,
        strings: Arc<StringArena>,
    ) -> Result<Self, DimsError> {
        let grid = chunk_grid(source.shape(), source.chunk_shape())?;
        Ok(Self { source, grid, strings })
    }

    /// One chunk after the other: handles are given in their order.
    fn visit(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        for (position, &chunk) in chunks.iter().enumerate() {
            let visited = match self.source.strings(chunk)? {
                Some(strings) => visit(position, BaseChunk::Bytes(&self.handles(chunk, &strings))),
                None => visit(position, BaseChunk::Fill),
            };
            if visited.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The handles of a chunk's strings, in the shape of a whole chunk.
    fn handles(&self, chunk: ChunkIndex, strings: &[Vec<u8>]) -> Vec<u8> {
        let coordinate = unravel(chunk.0, &self.grid);
        let trimmed = Trimmed::new(&coordinate, self.source.shape(), self.source.chunk_shape());
        let mut arena = self.strings.write();
        let inside: Vec<u8> = strings.iter().flat_map(|string| arena.add(string)).collect();
        trimmed.spread(&inside, HANDLE, &EMPTY)
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

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        Ok(Some(self.dataset.chunk_map()?.iter().map(|(chunk, _)| chunk).collect()))
    }

    fn fetch(&self, wanted: &Wanted<'_, '_>) -> Option<Result<(), BaseError>> {
        // Strings are read as what they refer to.
        let is_stored_as_read = self.strings.is_none();
        is_stored_as_read
            .then(|| self.dataset.fetch_wanted(wanted))
            .flatten()
            .map(|fetched| fetched.map_err(BaseError::from))
    }

    fn visit(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        match &self.strings {
            Some(arena) => self.visit_strings(arena, chunks, visit),
            None => self.visit_elements(chunks, visit),
        }
    }
}

impl DatasetBase {
    /// A window of chunks after the other, each read and then visited on all threads.
    fn visit_elements(&self, chunks: &[ChunkIndex], visit: &Visit<'_>) -> Result<(), BaseError> {
        let dataset = &self.dataset;
        let map = dataset.inner.map_of_chunks(chunks).map_err(dataset.inner.error())?;
        let threads = dataset.inner.version.file.threads();
        let chunk_bytes = dataset.inner.storage.raw.chunk_bytes();
        let in_window = (WINDOW / chunk_bytes.max(1)).max(threads.count()).min(chunks.len());
        let bytes = in_window.saturating_mul(chunk_bytes);
        let mut window = zeroed::<u8>(bytes).ok_or_else(|| {
            BaseError::new(StagedError::<BaseError>::Memory { bytes: bytes as u64 })
        })?;
        for (number, part) in chunks.chunks(in_window.max(1)).enumerate() {
            let window = window.get_mut(..part.len() * chunk_bytes).unwrap_or_default();
            let fetched = dataset.inner.fetch_chunks(&map, part, window);
            fetched.map_err(dataset.inner.error())?;
            let one = |(position, (bytes, &chunk)): (usize, (&[u8], &ChunkIndex))| {
                let is_stored = map.get(chunk).is_some();
                let chunk = if is_stored { BaseChunk::Bytes(bytes) } else { BaseChunk::Fill };
                visit(number * in_window + position, chunk)
            };
            let visited = if threads.are_worth(window.len()) {
                let chunks = window.par_chunks_exact(chunk_bytes).zip(part).enumerate();
                threads.install(|| chunks.try_for_each(one))
            } else {
                window.chunks_exact(chunk_bytes).zip(part).enumerate().try_for_each(one)
            };
            if visited.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// One chunk after the other: handles are given in their order, and files are the same whatever the threads did.
    fn visit_strings(
        &self,
        arena: &StringArena,
        chunks: &[ChunkIndex],
        visit: &Visit<'_>,
    ) -> Result<(), BaseError> {
        let map = self.dataset.chunk_map()?;
        for (position, &chunk) in chunks.iter().enumerate() {
            let visited = match map.get(chunk) {
                Some(_) => visit(position, BaseChunk::Bytes(&self.handles(arena, chunk)?)),
                None => visit(position, BaseChunk::Fill),
            };
            if visited.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The handles of a chunk's strings, in the shape of a whole chunk.
    fn handles(&self, arena: &StringArena, chunk: ChunkIndex) -> Result<Vec<u8>, Error> {
        let dataset = &self.dataset;
        let coordinate = unravel(chunk.0, dataset.chunk_grid());
        let trimmed = Trimmed::new(&coordinate, dataset.shape(), dataset.chunk_shape());
        let selection = box_selection(&coordinate, dataset.chunk_shape(), &trimmed.shape);
        let strings = dataset.read_byte_strings(selection)?;
        let mut arena = arena.write();
        let inside: Vec<u8> = strings.iter().flat_map(|string| arena.add(string)).collect();
        Ok(if trimmed.is_whole() { inside } else { trimmed.spread(&inside, HANDLE, &EMPTY) })
    }
}

/// Selects the elements of a chunk that are inside the bounds. Chunks of datasets that exist end below `i64::MAX`.
pub(in crate::store) fn box_selection(
    coordinate: &[u64],
    chunk_shape: &[u64],
    inside: &[u64],
) -> Selection {
    let bound = |value: u64| i64::try_from(value).ok();
    let axes = coordinate.iter().zip(chunk_shape).zip(inside).map(|((&at, &chunk), &count)| {
        let start = at.saturating_mul(chunk);
        let stop = start.saturating_add(count);
        AxisSelection::Slice { start: bound(start), stop: bound(stop), step: 1 }
    });
    Selection::axes(axes)
}
