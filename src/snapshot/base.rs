//! The chunks of a dataset of fixed-size elements, in the chunk shape that a stage asks for.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::dataset::SnapshotDataset;
use super::opened::{Buffers, Opened, Way};
use super::progress::{OnProgress, Progress};
use crate::codec::Pipeline;
use crate::dims::{ChunkIndex, Dims, DimsError, byte_count, chunk_grid, element_count, unravel};
use crate::raw::ReadFault;
use crate::staged::{Base, BaseChunk};
use crate::store::{BaseError, Fill, Trimmed};

/// A chunk of a plain file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {dataset:?}{}: {fault}", .file.display(), of_chunk(.chunk.as_deref()))]
pub struct SnapshotError {
    /// The file.
    pub file: PathBuf,
    /// Path of the dataset below the group that the snapshot was opened at.
    pub dataset: String,
    /// Coordinate of the chunk in the grid of the chunk shape that was asked for; `None` if it is about all of them.
    pub chunk: Option<Vec<u64>>,
    /// What went wrong.
    #[source]
    pub fault: ReadFault,
}

fn of_chunk(chunk: Option<&[u64]>) -> String {
    chunk.map(|coordinate| format!(", chunk {coordinate:?}")).unwrap_or_default()
}

/// A dataset's shape cut into chunks.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) shape: Dims,
    pub(super) chunk_shape: Dims,
    /// Number of chunks along each axis.
    pub(super) grid: Dims,
    /// Bytes of an element; of strings of variable length, of the reference to one.
    pub(super) element_size: usize,
}

impl Grid {
    fn new(shape: &[u64], chunk_shape: &[u64], element_size: usize) -> Result<Self, DimsError> {
        let grid = chunk_grid(shape, chunk_shape)?;
        // Chunks are numbered, and their ends are positions.
        element_count(&grid)?;
        for (&axis, &chunk) in grid.iter().zip(chunk_shape) {
            axis.checked_mul(chunk).ok_or(DimsError::Overflow)?;
        }
        let (shape, chunk_shape) = (Dims::from_slice(shape), Dims::from_slice(chunk_shape));
        Ok(Self { shape, chunk_shape, grid, element_size })
    }

    /// First element of a chunk.
    pub(super) fn start(&self, chunk: ChunkIndex) -> Dims {
        let coordinate = unravel(chunk.0, &self.grid);
        coordinate.iter().zip(&self.chunk_shape).map(|(at, size)| at * size).collect()
    }

    /// The part of a chunk that is inside the shape.
    pub(super) fn trimmed(&self, chunk: ChunkIndex) -> Trimmed {
        Trimmed::new(&unravel(chunk.0, &self.grid), &self.shape, &self.chunk_shape)
    }

    /// Bytes of a chunk that are inside the shape.
    fn bytes_inside(&self, chunk: ChunkIndex) -> u64 {
        let count: u64 = self.trimmed(chunk).shape.iter().product();
        count.saturating_mul(self.element_size as u64)
    }
}

/// What bringing chunks of any kind of element needs.
pub(super) struct Source {
    dataset: SnapshotDataset,
    pub(super) grid: Grid,
    pub(super) pipeline: Pipeline,
    chunk_bytes: usize,
    /// The dataset while chunks are read of it: opened for the first, closed after the last.
    opened: Mutex<Option<Arc<Opened>>>,
    on_progress: Option<OnProgress>,
    done: AtomicU64,
    total: AtomicU64,
}

impl Source {
    pub(super) fn new(
        dataset: SnapshotDataset,
        chunk_shape: &[u64],
        on_progress: Option<OnProgress>,
    ) -> Result<Self, DimsError> {
        let element_size = dataset.dtype.size().unwrap_or(REFERENCE);
        let grid = Grid::new(&dataset.shape, chunk_shape, element_size)?;
        let chunk_bytes = usize::try_from(byte_count(chunk_shape, element_size)?)
            .map_err(|_| DimsError::Overflow)?;
        let pipeline = Pipeline::new(dataset.filters.clone(), chunk_bytes, element_size);
        let total = AtomicU64::new(byte_count(&dataset.shape, element_size)?);
        let (opened, done) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { dataset, grid, pipeline, chunk_bytes, opened, on_progress, done, total })
    }

    pub(super) fn open(&self) -> Result<Arc<Opened>, BaseError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &*opened {
            return Ok(Arc::clone(opened));
        }
        let new = Opened::open(&self.dataset, &self.grid, &self.pipeline);
        let new = Arc::new(new.map_err(self.error(None))?);
        *opened = Some(Arc::clone(&new));
        Ok(new)
    }

    /// The chunks that are stored, if that is known and whatever is not stored holds the fill value.
    pub(super) fn stored(&self, filled: bool) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        let opened = self.open()?;
        let Some(stored) = opened.stored().filter(|_| filled) else { return Ok(None) };
        let stored: Vec<ChunkIndex> = stored.collect();
        let total = stored.iter().map(|&chunk| self.grid.bytes_inside(chunk)).sum();
        self.total.store(total, Ordering::Relaxed);
        Ok(Some(stored))
    }

    /// Tells of which chunk a fault is.
    pub(super) fn error(
        &self,
        chunk: Option<ChunkIndex>,
    ) -> impl FnOnce(ReadFault) -> BaseError + '_ {
        move |fault| {
            BaseError::new(SnapshotError {
                file: self.dataset.snapshot.inner.path.clone(),
                dataset: self.dataset.path.clone(),
                chunk: chunk.map(|chunk| unravel(chunk.0, &self.grid.grid).to_vec()),
                fault,
            })
        }
    }

    /// Counts a chunk that was brought.
    pub(super) fn brought(&self, chunk: ChunkIndex) {
        let Some(on_progress) = &self.on_progress else { return };
        let bytes = self.grid.bytes_inside(chunk);
        let total = self.total.load(Ordering::Relaxed);
        // A chunk that is read again, because the stage was looked at before its commit, counts once more.
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes).min(total);
        on_progress.tell(Progress { dataset: &self.dataset.path, done, total });
    }

    /// Closes the dataset after the last chunks that a commit can ask for.
    pub(super) fn close_after(&self, chunks: &[ChunkIndex]) {
        let last = self.grid.grid.iter().product::<u64>().checked_sub(1).map(ChunkIndex);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let end = match opened.as_ref().and_then(|opened| opened.stored()) {
            Some(mut stored) => stored.next_back(),
            None => last,
        };
        if chunks.last().copied() >= end {
            *opened = None;
        }
    }
}

/// Bytes of an element of strings of variable length in a file, as h5py counts them.
pub(super) const REFERENCE: usize = 16;

/// The chunks of a dataset of fixed-size elements.
pub(super) struct SnapshotBase {
    source: Source,
    /// What stands in chunks that are not stored: nothing but this element.
    fill: Vec<u8>,
    /// Whether that is the fill value of the dataset that is staged.
    is_fill: bool,
    parallel: bool,
}

impl SnapshotBase {
    /// `fill` is the fill value of the dataset that is staged, which may be another one.
    pub(super) fn new(source: Source, fill: &Fill, parallel: bool) -> Self {
        let own = source.dataset.fill.as_bytes().to_vec();
        let is_fill = own == fill.as_bytes();
        Self { source, fill: own, is_fill, parallel }
    }

    fn bring(
        &self,
        opened: &Opened,
        chunk: ChunkIndex,
        reader: &mut Reader,
        visit: &dyn Fn(BaseChunk<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<Result<(), BaseError>> {
        let source = &self.source;
        if let Err(fault) = reader.make_room(source.chunk_bytes) {
            return ControlFlow::Break(Err(source.error(Some(chunk))(fault)));
        }
        let Reader { buffers, chunk: out } = reader;
        let direct = source.dataset.snapshot.inner.direct.as_ref();
        let way = Way { direct, pipeline: &source.pipeline };
        let visited = match opened.read(&source.grid, chunk, way, buffers, out) {
            Err(fault) => return ControlFlow::Break(Err(source.error(Some(chunk))(fault))),
            Ok(false) if self.is_fill => visit(BaseChunk::Fill),
            Ok(false) => {
                out.chunks_exact_mut(self.fill.len().max(1))
                    .for_each(|element| element.copy_from_slice(&self.fill));
                visit(BaseChunk::Bytes(out))
            }
            Ok(true) => visit(BaseChunk::Bytes(out)),
        };
        source.brought(chunk);
        visited.map_break(Ok)
    }
}

/// What a thread brings chunks with.
#[derive(Default)]
struct Reader {
    buffers: Buffers,
    chunk: Vec<u8>,
}

impl Reader {
    fn make_room(&mut self, bytes: usize) -> Result<(), ReadFault> {
        if self.chunk.len() != bytes {
            self.chunk = bytemuck::allocation::try_zeroed_vec(bytes)
                .map_err(|()| ReadFault::Memory { bytes: bytes as u64 })?;
        }
        Ok(())
    }
}

impl Base for SnapshotBase {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        &self.source.grid.shape
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.source.grid.chunk_shape
    }

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        self.source.stored(self.is_fill)
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), BaseError> {
        let opened = self.source.open()?;
        let one = |reader: &mut Reader, (position, &chunk): (usize, &ChunkIndex)| {
            self.bring(&opened, chunk, reader, &|brought| visit(position, brought))
        };
        let result = if self.parallel {
            chunks.par_iter().enumerate().try_for_each_init(Reader::default, one)
        } else {
            let mut reader = Reader::default();
            chunks.iter().enumerate().try_for_each(|chunk| one(&mut reader, chunk))
        };
        self.source.close_after(chunks);
        match result {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(result) => result,
        }
    }
}
