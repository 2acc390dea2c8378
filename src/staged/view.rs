use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::chunk::{ChunkFormat, reserve};
use super::{Base, BaseChunk, StagedError};
use crate::dims::{ChunkIndex, Dims, DimsError, ravel};

/// The part of a base that a staged array still stands on: a box of chunks from the origin.
#[derive(Debug)]
pub(super) struct BaseView<B> {
    pub(super) base: Arc<B>,
    /// Chunks along each axis of the base.
    pub(super) grid: Dims,
    /// Chunks along each axis that no resize has cut off.
    pub(super) visible: Dims,
}

impl<B> Clone for BaseView<B> {
    fn clone(&self) -> Self {
        Self {
            base: Arc::clone(&self.base),
            grid: self.grid.clone(),
            visible: self.visible.clone(),
        }
    }
}

/// The buffer of a chunk that came from the base; `None` where the base has fill.
pub(super) type Loaded = Option<Arc<Vec<u8>>>;

impl<B: Base> BaseView<B> {
    pub(super) fn new(base: Arc<B>, format: &ChunkFormat) -> Result<Self, DimsError> {
        let grid = format.grid(base.shape())?;
        Ok(Self { visible: grid.clone(), grid, base })
    }

    /// The position in the base's grid of the chunk at a coordinate, if it is visible.
    pub(super) fn position(&self, coordinate: &[u64]) -> Option<ChunkIndex> {
        let visible = coordinate.iter().zip(&self.visible).all(|(index, &end)| *index < end);
        if visible { ravel(coordinate, &self.grid).map(ChunkIndex) } else { None }
    }

    /// Has the base bring `chunks`, strictly rising positions in its grid, and calls
    /// `take(position in chunks, chunk)` exactly once for each of them.
    pub(super) fn visit(
        &self,
        chunks: &[ChunkIndex],
        format: &ChunkFormat,
        take: impl Fn(usize, BaseChunk<'_>) -> Result<(), StagedError<B::Error>> + Sync,
    ) -> Result<(), StagedError<B::Error>> {
        if chunks.is_empty() {
            return Ok(());
        }
        let mut taken = reserve(chunks.len())?;
        taken.resize_with(chunks.len(), || AtomicBool::new(false));
        let first_failure = Mutex::new(None);
        let visited = self.base.visit(chunks, &|position, chunk| {
            let checked = check(chunks, &taken, position, chunk, format.bytes);
            match checked.and_then(|()| take(position, chunk)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    let mut first = first_failure.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(failure);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(failure) = first_failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        visited.map_err(StagedError::Base)?;
        match taken.iter().position(|taken| !taken.load(Ordering::Relaxed)) {
            Some(missing) => Err(StagedError::BaseChunkMissing { chunk: chunks[missing] }),
            None => Ok(()),
        }
    }

    /// Has the base bring `chunks`, as [`visit`](Self::visit) does, and keeps what `make` makes of
    /// each, in the order of `chunks`.
    pub(super) fn load(
        &self,
        chunks: &[ChunkIndex],
        format: &ChunkFormat,
        make: impl Fn(usize, BaseChunk<'_>) -> Result<Option<Vec<u8>>, StagedError<B::Error>> + Sync,
    ) -> Result<Vec<Loaded>, StagedError<B::Error>> {
        let mut loaded = reserve(chunks.len())?;
        loaded.resize_with(chunks.len(), OnceLock::new);
        self.visit(chunks, format, |position, chunk| {
            let buffer = make(position, chunk)?.map(Arc::new);
            // `visit` calls once for each position.
            loaded[position].get_or_init(|| buffer);
            Ok(())
        })?;
        Ok(loaded.into_iter().map(|buffer| buffer.into_inner().flatten()).collect())
    }
}

/// Refuses a chunk that was not asked for, comes again, or has not the size of one.
fn check<E: std::error::Error + 'static>(
    chunks: &[ChunkIndex],
    taken: &[AtomicBool],
    position: usize,
    chunk: BaseChunk<'_>,
    chunk_bytes: usize,
) -> Result<(), StagedError<E>> {
    let asked = chunks.len();
    let (Some(&index), Some(taken)) = (chunks.get(position), taken.get(position)) else {
        return Err(StagedError::BaseChunkRepeated { position, asked });
    };
    if taken.swap(true, Ordering::Relaxed) {
        return Err(StagedError::BaseChunkRepeated { position, asked });
    }
    match chunk {
        BaseChunk::Bytes(bytes) if bytes.len() != chunk_bytes => Err(StagedError::BaseChunkSize {
            chunk: index,
            expected: chunk_bytes as u64,
            found: bytes.len() as u64,
        }),
        _ => Ok(()),
    }
}
