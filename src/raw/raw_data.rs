use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::{Lock, h5d, h5s};

use super::error::ReadFault;
use super::recent::RecentChunks;
use super::table::{ChunkTable, StoredChunk};
use crate::codec::Pipeline;
use crate::dims::{Dims, RawChunk};

/// Stored chunks up to which a sweep over the chunk index is always worth it.
const SMALL_INDEX: u64 = 64;

/// How many addresses of a sweep cost as much as one `H5Dread_chunk` (50-80 ns against 5 us).
const SWEEP_SHARE: u64 = 64;

/// Which way stored chunks are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RawPath {
    /// Positional reads where the file has a descriptor and libhdf5 lists chunk addresses, else libhdf5.
    #[default]
    Auto,
    /// `H5Dread_chunk` for every chunk.
    Library,
}

/// The stored chunks of one dataset, of all its versions.
#[derive(Debug)]
pub struct RawData {
    dataset: h5d::Dataset,
    chunk_shape: Dims,
    /// Number of chunks its shape holds, stored or not.
    chunks: u64,
    /// Bytes of a stored element; of variable-length strings, of the reference to one.
    element_size: usize,
    chunk_bytes: usize,
    pipeline: Pipeline,
    table: OnceLock<ChunkTable>,
    /// Chunks read without the table so far: many of them cost more than the sweep for it.
    singles: AtomicU64,
    pub(super) recent: RecentChunks,
}

impl RawData {
    /// Describes an open `raw_data` dataset.
    pub(crate) fn new(
        dataset: h5d::Dataset,
        chunk_shape: Dims,
        chunks: u64,
        element_size: usize,
        chunk_bytes: usize,
        pipeline: Pipeline,
    ) -> Self {
        Self {
            dataset,
            chunk_shape,
            chunks,
            element_size,
            chunk_bytes,
            pipeline,
            table: OnceLock::new(),
            singles: AtomicU64::new(0),
            recent: RecentChunks::default(),
        }
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
        if let (Some(first), Some(&chunk)) = (offset.first_mut(), self.chunk_shape.first()) {
            *first = raw.0.saturating_mul(chunk);
        }
        offset
    }

    /// Whether a read of this many chunks is better off without the table of addresses, one look-up in
    /// the chunk index a chunk, than with the sweep over the index that makes it.
    pub(super) fn is_few(&self, transfers: u64) -> bool {
        if self.table.get().is_some() || self.chunks <= SMALL_INDEX {
            return false;
        }
        let before = self.singles.fetch_add(transfers, Ordering::Relaxed);
        before.saturating_add(transfers).saturating_mul(SWEEP_SHARE) < self.chunks
    }

    /// The stored chunks, swept once (`H5Dchunk_iter`); `None` where libhdf5 cannot list them.
    pub(super) fn table(&self, lock: &Lock) -> Result<Option<&ChunkTable>, ReadFault> {
        if let Some(table) = self.table.get() {
            return Ok(Some(table));
        }
        let Some(chunks) = self.sweep(lock)? else { return Ok(None) };
        Ok(Some(self.table.get_or_init(|| ChunkTable::new(chunks))))
    }

    /// Finds the addresses of all stored chunks, so that later reads have them at hand.
    pub(crate) fn find_all(&self) -> Result<(), ReadFault> {
        self.table(&h5strata_ffi::lock()).map(|_| ())
    }

    /// The stored chunks in order, with their addresses.
    ///
    /// # Errors
    /// [`ReadFault::Library`].
    pub(crate) fn stored(&self, lock: &Lock) -> Result<Vec<StoredChunk>, ReadFault> {
        match self.table(lock)? {
            Some(table) => Ok(table.iter().copied().collect()),
            None => {
                (0..self.chunks).filter_map(|raw| self.stored_one(lock, RawChunk(raw))).collect()
            }
        }
    }

    /// One stored chunk by a search of libhdf5 through all of them, where no sweep is to be had.
    fn stored_one(&self, lock: &Lock, raw: RawChunk) -> Option<Result<StoredChunk, ReadFault>> {
        let info = match h5d::chunk_info(lock, &self.dataset, &self.offset(raw)) {
            Ok(info) => info?,
            Err(error) => return Some(Err(error.into())),
        };
        let h5d::ChunkInfo { address, size, filter_mask } = info;
        Some(Ok(StoredChunk { raw, address, size, filter_mask }))
    }

    fn sweep(&self, lock: &Lock) -> Result<Option<Vec<StoredChunk>>, ReadFault> {
        if !h5d::HAS_CHUNK_ITER {
            return Ok(None);
        }
        let mut chunks = Vec::new();
        let rows = self.chunk_shape.first().copied().unwrap_or(1).max(1);
        h5d::chunk_iter(lock, &self.dataset, |chunk| {
            let h5d::ChunkInfo { address, size, filter_mask } = chunk.info;
            let raw = RawChunk(chunk.offset.first().map_or(0, |row| row / rows));
            chunks.push(StoredChunk { raw, address, size, filter_mask });
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(Some(chunks))
    }

    /// Reads the stored bytes of a raw chunk through libhdf5; `None` if it is not stored.
    pub(super) fn read_stored<'b>(
        &self,
        raw: RawChunk,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<(&'b [u8], u32)>, ReadFault> {
        let offset = self.offset(raw);
        let lock = h5strata_ffi::lock();
        let size = match h5d::chunk_storage_size(&lock, &self.dataset, &offset) {
            // Nothing at all is stored yet: libhdf5 succeeds without a size.
            Ok(0) => return Ok(None),
            Ok(size) => size,
            Err(error) if h5d::is_not_stored(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let bytes = usize::try_from(size).map_err(|_| ReadFault::Memory { bytes: size })?;
        grow(buffer, bytes)?;
        let read = h5d::read_chunk(&lock, &self.dataset, &offset, &mut buffer[..bytes])?;
        Ok(Some((&buffer[..read.size.min(bytes)], read.filter_mask)))
    }

    /// Reads a raw chunk through libhdf5, its filters undone (`H5Dread`).
    pub(super) fn read_decoded(&self, raw: RawChunk, out: &mut [u8]) -> Result<(), ReadFault> {
        let start = self.offset(raw);
        let lock = h5strata_ffi::lock();
        let datatype = h5d::datatype(&lock, &self.dataset)?;
        let hyperslab =
            h5s::Hyperslab { start: &start, stride: None, count: &self.chunk_shape, block: None };
        h5d::Reader::new(&lock, &self.dataset, datatype)?.read(&lock, Some(&hyperslab), out)?;
        Ok(())
    }

    /// Reads the strings of a raw chunk through libhdf5 (`H5Dread`), in C order.
    pub(super) fn read_strings(&self, raw: RawChunk) -> Result<Vec<Vec<u8>>, ReadFault> {
        let start = self.offset(raw);
        let lock = h5strata_ffi::lock();
        let hyperslab =
            h5s::Hyperslab { start: &start, stride: None, count: &self.chunk_shape, block: None };
        Ok(h5d::read_variable_strings(&lock, &self.dataset, Some(&hyperslab))?)
    }
}

/// Makes a reused buffer at least `bytes` long.
pub(super) fn grow(buffer: &mut Vec<u8>, bytes: usize) -> Result<(), ReadFault> {
    if let Some(missing) = bytes.checked_sub(buffer.len()) {
        buffer.try_reserve(missing).map_err(|_| ReadFault::Memory { bytes: bytes as u64 })?;
        buffer.resize(bytes, 0);
    }
    Ok(())
}
