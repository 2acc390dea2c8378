use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::{Lock, h5d, h5s};

use super::bytes::FileBytes;
use super::error::ReadFault;
use super::recent::RecentChunks;
use super::table::{ChunkTable, StoredChunk, TableOf};
use crate::codec::Pipeline;
use crate::dims::{Dims, RawChunk};
use crate::ondisk::{ChunkBTree, ChunkEntry};

/// Stored chunks up to which finding all of them is always worth it.
const SMALL_INDEX: u64 = 64;

/// How many addresses libhdf5 lists in the time of one `H5Dread_chunk` (50-80 ns against 5 us).
const SWEEP_SHARE: u64 = 64;

/// How many addresses of a node are found in the time of reading one more node.
const NODE_SHARE: u64 = 8;

/// Which way stored chunks are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RawPath {
    /// Positional reads where the file has a descriptor and the chunks' addresses can be found, else libhdf5.
    #[default]
    Auto,
    /// `H5Dread_chunk` for every chunk.
    Library,
}

/// A dataset that is open in libhdf5 while a call lasts.
pub(crate) trait OpenDataset: std::fmt::Debug + Send + Sync {
    /// Calls libhdf5, which nobody else does meanwhile.
    ///
    /// # Errors
    /// Those of `call`; [`h5strata_ffi::Error`] where the dataset cannot be opened.
    fn with(
        &self,
        call: &mut dyn FnMut(&Lock, &h5d::Dataset) -> Result<(), h5strata_ffi::Error>,
    ) -> Result<(), h5strata_ffi::Error>;
}

/// The stored chunks of one dataset, of all its versions.
#[derive(Debug)]
pub struct RawData {
    dataset: Box<dyn OpenDataset>,
    chunk_shape: Dims,
    /// Number of chunks its shape holds, stored or not.
    chunks: u64,
    /// Bytes of a stored element; of variable-length strings, of the reference to one.
    element_size: usize,
    chunk_bytes: usize,
    pipeline: Pipeline,
    /// The index of the chunks in the file, if it is of a kind that we decode.
    index: Option<ChunkBTree>,
    table: OnceLock<ChunkTable>,
    /// Chunks read without the table so far: many of them cost more than the sweep for it.
    singles: AtomicU64,
    pub(super) recent: RecentChunks,
}

impl RawData {
    /// Describes a `raw_data` dataset.
    pub(crate) fn new(
        dataset: Box<dyn OpenDataset>,
        chunk_shape: Dims,
        chunks: u64,
        element_size: usize,
        chunk_bytes: usize,
        pipeline: Pipeline,
        index: Option<ChunkBTree>,
    ) -> Self {
        Self {
            dataset,
            chunk_shape,
            chunks,
            element_size,
            chunk_bytes,
            pipeline,
            index,
            table: OnceLock::new(),
            singles: AtomicU64::new(0),
            recent: RecentChunks::default(),
        }
    }

    /// The same dataset with another number of chunks, of which it is not known where they are; `None` if none was stored
    /// before, when there was no index of them.
    pub(crate) fn with_chunks(&self, dataset: Box<dyn OpenDataset>, chunks: u64) -> Option<Self> {
        let has_index = self.index.is_none_or(|index| index.is_there());
        (self.chunks > 0 && has_index).then(|| {
            Self::new(
                dataset,
                self.chunk_shape.clone(),
                chunks,
                self.element_size,
                self.chunk_bytes,
                self.pipeline.clone(),
                self.index,
            )
        })
    }

    /// Shape of a chunk in elements.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    /// Number of chunks that the shape holds, stored or not.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Bytes of a stored element; of variable-length strings, of the reference to one.
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// Bytes of a whole chunk without filters.
    pub fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    /// The filters.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// First element of a raw chunk in `raw_data` (format-v4.md, "raw_data").
    pub(super) fn offset(&self, raw: RawChunk) -> Dims {
        let mut offset: Dims = self.chunk_shape.iter().map(|_| 0).collect();
        if let Some(first) = offset.first_mut() {
            *first = self.row(raw);
        }
        offset
    }

    /// Where the chunks of a read are: of all chunks, or of just the `transfers` chunks that `wanted`
    /// lists in rising order. `None` if libhdf5 is the faster way to them.
    pub(super) fn table_for(
        &self,
        file: &FileBytes,
        transfers: u64,
        wanted: impl FnOnce() -> Vec<RawChunk>,
    ) -> Result<Option<TableOf<'_>>, ReadFault> {
        let share = if self.index.is_some() { NODE_SHARE } else { SWEEP_SHARE };
        if self.table.get().is_some() || !self.is_few(transfers, share) {
            return Ok(self.table(Some(file))?.map(TableOf::Whole));
        }
        let Some(index) = &self.index else { return Ok(None) };
        let rows: Vec<u64> = wanted().into_iter().map(|raw| self.row(raw)).collect();
        let chunks = file.read_whole(|| {
            let mut chunks = Vec::with_capacity(rows.len());
            index.visit_rows(file, &rows, |entry| chunks.push(self.stored_chunk(entry)))?;
            Ok::<_, ReadFault>(chunks)
        })?;
        if chunks.len() < rows.len() {
            // A chunk that is mapped and not found was never written, or the keys above it are damaged: the
            // whole index tells.
            return Ok(self.table(Some(file))?.map(TableOf::Whole));
        }
        Ok(Some(TableOf::Part(ChunkTable::new(chunks))))
    }

    /// Whether single look-ups of this many chunks, and of those before, cost less than finding all.
    fn is_few(&self, transfers: u64, share: u64) -> bool {
        if self.chunks <= SMALL_INDEX {
            return false;
        }
        let before = self.singles.fetch_add(transfers, Ordering::Relaxed);
        before.saturating_add(transfers).saturating_mul(share) < self.chunks
    }

    /// All stored chunks, found once: by our own walk through the index if there is positional access and it
    /// is of a kind that we decode, else by libhdf5 (`H5Dchunk_iter`); `None` where neither can.
    fn table(&self, file: Option<&FileBytes>) -> Result<Option<&ChunkTable>, ReadFault> {
        if let Some(table) = self.table.get() {
            return Ok(Some(table));
        }
        let Some(table) = self.find(file)? else { return Ok(None) };
        Ok(Some(self.table.get_or_init(|| table)))
    }

    /// Finds all stored chunks; `None` where neither our own walk nor libhdf5 can.
    fn find(&self, file: Option<&FileBytes>) -> Result<Option<ChunkTable>, ReadFault> {
        let chunks = match (&self.index, file) {
            (Some(index), Some(file)) => file.read_whole(|| {
                let mut chunks = Vec::new();
                index.visit_all(file, |entry| chunks.push(self.stored_chunk(entry)))?;
                Ok::<_, ReadFault>(chunks)
            })?,
            _ if h5d::HAS_CHUNK_ITER => {
                let mut chunks = Vec::new();
                self.sweep(&mut chunks)?;
                chunks
            }
            _ => return Ok(None),
        };
        Ok(Some(ChunkTable::new(chunks)))
    }

    /// Finds the addresses of all stored chunks, so that later reads have them at hand.
    pub(crate) fn find_all(&self, file: Option<&FileBytes>) -> Result<(), ReadFault> {
        self.table(file).map(|_| ())
    }

    /// The stored chunks in order, with their addresses; through libhdf5 without `file`.
    ///
    /// # Errors
    /// [`ReadFault::Library`], [`ReadFault::Bytes`].
    pub(crate) fn stored(&self, file: Option<&FileBytes>) -> Result<Vec<StoredChunk>, ReadFault> {
        match self.table(file)? {
            Some(table) => Ok(table.iter().copied().collect()),
            None => (0..self.chunks).filter_map(|raw| self.stored_one(RawChunk(raw))).collect(),
        }
    }

    /// The same for one look at them: they are not kept.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
    pub(crate) fn stored_once(
        &self,
        file: Option<&FileBytes>,
    ) -> Result<Vec<StoredChunk>, ReadFault> {
        if self.table.get().is_none()
            && let Some(table) = self.find(file)?
        {
            return Ok(table.into_chunks());
        }
        self.stored(file)
    }

    /// Those of some chunks, listed in rising order, that are stored; through libhdf5 without `file`.
    ///
    /// # Errors
    /// [`ReadFault::Library`], [`ReadFault::Bytes`].
    pub(crate) fn stored_of(
        &self,
        file: Option<&FileBytes>,
        wanted: &[RawChunk],
    ) -> Result<Vec<StoredChunk>, ReadFault> {
        let table = match file {
            // Without an index that we decode, one chunk takes libhdf5 as long to find as all of them.
            Some(file) if self.index.is_some() => {
                self.table_for(file, wanted.len() as u64, || wanted.to_vec())?
            }
            _ => self.table(file)?.map(TableOf::Whole),
        };
        match table {
            Some(table) => Ok(wanted.iter().filter_map(|&raw| table.get(raw).copied()).collect()),
            None => wanted.iter().filter_map(|&raw| self.stored_one(raw)).collect(),
        }
    }

    /// One stored chunk by a search of libhdf5 through all of them, where no sweep is to be had.
    fn stored_one(&self, raw: RawChunk) -> Option<Result<StoredChunk, ReadFault>> {
        let info = self.with(|lock, dataset| h5d::chunk_info(lock, dataset, &self.offset(raw)));
        let h5d::ChunkInfo { address, size, filter_mask } = match info {
            Ok(info) => info?,
            Err(error) => return Some(Err(error.into())),
        };
        Some(Ok(StoredChunk { raw, address, size, filter_mask }))
    }

    fn sweep(&self, chunks: &mut Vec<StoredChunk>) -> Result<(), ReadFault> {
        let mut visit = |chunk: h5d::StoredChunk<'_>| {
            let h5d::ChunkInfo { address, size, filter_mask } = chunk.info;
            let raw = self.raw_chunk(chunk.offset.first().copied().unwrap_or(0));
            chunks.push(StoredChunk { raw, address, size, filter_mask });
            std::ops::ControlFlow::Continue(())
        };
        Ok(self.with(|lock, dataset| h5d::chunk_iter(lock, dataset, &mut visit))?)
    }

    fn stored_chunk(&self, entry: ChunkEntry) -> StoredChunk {
        let ChunkEntry { row, address, size, filter_mask } = entry;
        StoredChunk { raw: self.raw_chunk(row), address, size: size.into(), filter_mask }
    }

    /// The raw chunk that begins in a row.
    fn raw_chunk(&self, row: u64) -> RawChunk {
        RawChunk(row / self.chunk_shape.first().copied().unwrap_or(1).max(1))
    }

    /// The row in which a raw chunk begins.
    fn row(&self, raw: RawChunk) -> u64 {
        raw.0.saturating_mul(self.chunk_shape.first().copied().unwrap_or(1))
    }

    /// Reads the stored bytes of a raw chunk through libhdf5; `None` if it is not stored.
    pub(crate) fn read_stored<'b>(
        &self,
        raw: RawChunk,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<(&'b [u8], u32)>, ReadFault> {
        let offset = self.offset(raw);
        let mut stored = Ok(None);
        self.with(|lock, dataset| {
            stored = read_stored_chunk(lock, dataset, &offset, buffer);
            Ok(())
        })?;
        Ok(stored?.map(|(size, mask)| (&buffer[..size], mask)))
    }

    /// Reads a raw chunk through libhdf5, its filters undone (`H5Dread`).
    pub(crate) fn read_decoded(&self, raw: RawChunk, out: &mut [u8]) -> Result<(), ReadFault> {
        let start = self.offset(raw);
        let hyperslab =
            h5s::Hyperslab { start: &start, stride: None, count: &self.chunk_shape, block: None };
        Ok(self.with(|lock, dataset| {
            let datatype = h5d::datatype(lock, dataset)?;
            h5d::Reader::new(lock, dataset, datatype)?.read(lock, Some(&hyperslab), out)
        })?)
    }

    /// Reads the strings of a raw chunk through libhdf5 (`H5Dread`), in C order.
    pub(crate) fn read_strings(&self, raw: RawChunk) -> Result<Vec<Vec<u8>>, ReadFault> {
        let start = self.offset(raw);
        let hyperslab =
            h5s::Hyperslab { start: &start, stride: None, count: &self.chunk_shape, block: None };
        let read = |lock: &Lock, dataset: &h5d::Dataset| {
            h5d::read_variable_strings(lock, dataset, Some(&hyperslab))
        };
        Ok(self.with(read)?)
    }

    /// What a call of libhdf5 with the dataset returns.
    fn with<T: Default>(
        &self,
        mut call: impl FnMut(&Lock, &h5d::Dataset) -> Result<T, h5strata_ffi::Error>,
    ) -> Result<T, h5strata_ffi::Error> {
        let mut outcome = T::default();
        self.dataset.with(&mut |lock, dataset| {
            outcome = call(lock, dataset)?;
            Ok(())
        })?;
        Ok(outcome)
    }
}

/// Size and filter mask of a stored chunk, whose bytes are read into `buffer`; `None` if it is not stored.
fn read_stored_chunk(
    lock: &Lock,
    dataset: &h5d::Dataset,
    offset: &[u64],
    buffer: &mut Vec<u8>,
) -> Result<Option<(usize, u32)>, ReadFault> {
    let size = match h5d::chunk_storage_size(lock, dataset, offset) {
        // Nothing at all is stored yet: libhdf5 succeeds without a size.
        Ok(0) => return Ok(None),
        Ok(size) => size,
        Err(error) if h5d::is_not_stored(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let bytes = usize::try_from(size).map_err(|_| ReadFault::Memory { bytes: size })?;
    grow(buffer, bytes)?;
    let read = h5d::read_chunk(lock, dataset, offset, &mut buffer[..bytes])?;
    Ok(Some((read.size.min(bytes), read.filter_mask)))
}

/// Makes a reused buffer at least `bytes` long.
pub(super) fn grow(buffer: &mut Vec<u8>, bytes: usize) -> Result<(), ReadFault> {
    if let Some(missing) = bytes.checked_sub(buffer.len()) {
        buffer.try_reserve(missing).map_err(|_| ReadFault::Memory { bytes: bytes as u64 })?;
        buffer.resize(bytes, 0);
    }
    Ok(())
}
