//! A dataset that chunks are being read of.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use h5strata_ffi::h5d::{self, ChunkInfo};
use h5strata_ffi::h5s::Hyperslab;
use h5strata_ffi::h5t;
use h5strata_ffi::id::Datatype;

use super::base::Grid;
use super::dataset::SnapshotDataset;
use crate::codec::{CodecError, Filter, Pipeline, Scratch};
use crate::dims::{ChunkIndex, Dims, ravel};
use crate::raw::{ReadFault, read_stored};
use crate::store::{Direct, description};

/// A dataset as libhdf5 has it open, and where its chunks are.
pub(super) struct Opened {
    dataset: h5d::Dataset,
    /// Type of the elements in the file, for strings, else the one they are brought in.
    memory_type: Datatype,
    /// Whether the dataset is in the snapshot's own file.
    is_here: bool,
    /// The stored chunks; `None` if they are of another shape or type than what is asked for, or cannot be listed.
    chunks: Option<BTreeMap<ChunkIndex, ChunkInfo>>,
}

/// What a thread reads chunks with.
#[derive(Default)]
pub(super) struct Buffers {
    stored: Vec<u8>,
    scratch: Scratch,
}

impl Opened {
    pub(super) fn open(
        dataset: &SnapshotDataset,
        grid: &Grid,
        pipeline: &Pipeline,
    ) -> Result<Self, ReadFault> {
        let lock = h5strata_ffi::lock();
        let opened = h5d::open(&lock, &dataset.snapshot.inner.root, &dataset.path)?;
        let stored_type = h5d::datatype(&lock, &opened)?;
        let is_string = dataset.dtype.is_variable_string();
        let memory_type = match description(&dataset.dtype) {
            Ok(description) if !is_string => h5t::create(&lock, &description)?,
            _ => h5t::copy(&lock, &stored_type)?,
        };
        let same_shape = dataset.chunk_shape.as_ref() == Some(&grid.chunk_shape);
        let listed = h5d::HAS_CHUNK_ITER
            && same_shape
            && h5t::equal(&lock, &stored_type, &memory_type)?
            && (is_string || pipeline.filters().iter().all(is_known));
        let mut chunks = BTreeMap::new();
        if listed {
            h5d::chunk_iter(&lock, &opened, |chunk| {
                let at: Dims = chunk
                    .offset
                    .iter()
                    .zip(&grid.chunk_shape)
                    .map(|(at, size)| at / size)
                    .collect();
                chunks.extend(ravel(&at, &grid.grid).map(|at| (ChunkIndex(at), chunk.info)));
                ControlFlow::Continue(())
            })?;
        }
        drop(lock);
        let is_here = dataset.snapshot.inner.direct_for(&dataset.path).is_some();
        Ok(Self { dataset: opened, memory_type, is_here, chunks: listed.then_some(chunks) })
    }

    /// The chunks that are stored, in rising order, if that is known.
    pub(super) fn stored(&self) -> Option<impl DoubleEndedIterator<Item = ChunkIndex>> {
        self.chunks.as_ref().map(|chunks| chunks.keys().copied())
    }

    fn find(&self, chunk: ChunkIndex) -> Place {
        match &self.chunks {
            None => Place::Unknown,
            Some(chunks) => chunks.get(&chunk).map_or(Place::Nowhere, |&info| Place::Stored(info)),
        }
    }

    /// Reads a whole chunk into `out`, which has its bytes; `false` if it is known not to be stored.
    pub(super) fn read(
        &self,
        grid: &Grid,
        chunk: ChunkIndex,
        way: Way<'_>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<bool, ReadFault> {
        match self.find(chunk) {
            Place::Nowhere => return Ok(false),
            Place::Stored(info) if !way.pipeline.needs_library(info.filter_mask) => {
                self.read_stored(grid, chunk, info, way, buffers, out)?;
            }
            Place::Stored(_) | Place::Unknown => self.read_elements(grid, chunk, out)?,
        }
        Ok(true)
    }

    fn read_stored(
        &self,
        grid: &Grid,
        chunk: ChunkIndex,
        info: ChunkInfo,
        way: Way<'_>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<(), ReadFault> {
        let Buffers { stored, scratch } = buffers;
        let (stored, mask) = match way.direct.filter(|_| self.is_here) {
            Some(direct) => {
                (read_stored(&direct.bytes, info.address, info.size, stored)?, info.filter_mask)
            }
            None => self.read_by_library(&grid.start(chunk), info.size, stored)?,
        };
        if way.pipeline.is_empty() {
            if stored.len() != out.len() {
                let (expected, found) = (out.len() as u64, stored.len() as u64);
                return Err(ReadFault::StoredSize { expected, found });
            }
            out.copy_from_slice(stored);
            return Ok(());
        }
        Ok(way.pipeline.decode_into(stored, mask, scratch, out)?)
    }

    fn read_by_library<'b>(
        &self,
        start: &[u64],
        size: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(&'b [u8], u32), ReadFault> {
        let memory = || ReadFault::Memory { bytes: size };
        let bytes = usize::try_from(size).map_err(|_| memory())?;
        buffer.clear();
        buffer.try_reserve_exact(bytes).map_err(|_| memory())?;
        buffer.resize(bytes, 0);
        let read = h5d::read_chunk(&h5strata_ffi::lock(), &self.dataset, start, buffer)?;
        Ok((&buffer[..read.size.min(bytes)], read.filter_mask))
    }

    /// Reads the elements of a chunk that are inside the bounds through libhdf5.
    fn read_elements(
        &self,
        grid: &Grid,
        chunk: ChunkIndex,
        out: &mut [u8],
    ) -> Result<(), ReadFault> {
        let (start, trimmed) = (grid.start(chunk), grid.trimmed(chunk));
        let inside = Hyperslab { start: &start, stride: None, count: &trimmed.shape, block: None };
        let read = |out: &mut [u8]| {
            let lock = h5strata_ffi::lock();
            let memory_type = h5t::copy(&lock, &self.memory_type)?;
            h5d::Reader::new(&lock, &self.dataset, memory_type)?.read(&lock, Some(&inside), out)
        };
        if trimmed.is_whole() {
            return Ok(read(out)?);
        }
        let size = grid.element_size;
        let count: u64 = trimmed.shape.iter().product();
        let bytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size);
        // The part of a chunk that has memory already.
        let mut elements = vec![0; bytes.min(out.len())];
        read(&mut elements)?;
        let mut rest = elements.as_slice();
        for run in trimmed.byte_runs(size) {
            let (row, after) = rest.split_at(run.len().min(rest.len()));
            if let Some(place) = out.get_mut(run).and_then(|place| place.get_mut(..row.len())) {
                place.copy_from_slice(row);
            }
            rest = after;
        }
        Ok(())
    }

    /// Reads the strings of a chunk that are inside the bounds; `None` if it is known not to be stored, and what is
    /// not stored is empty.
    pub(super) fn read_strings(
        &self,
        grid: &Grid,
        chunk: ChunkIndex,
        empty_fill: bool,
    ) -> Result<Option<Vec<Vec<u8>>>, ReadFault> {
        if empty_fill && matches!(self.find(chunk), Place::Nowhere) {
            return Ok(None);
        }
        let (start, trimmed) = (grid.start(chunk), grid.trimmed(chunk));
        let inside = Hyperslab { start: &start, stride: None, count: &trimmed.shape, block: None };
        let lock = h5strata_ffi::lock();
        Ok(Some(h5d::read_variable_strings(&lock, &self.dataset, Some(&inside))?))
    }
}

/// Where a chunk is.
enum Place {
    Stored(ChunkInfo),
    Nowhere,
    Unknown,
}

/// How stored chunks are read.
#[derive(Clone, Copy)]
pub(super) struct Way<'w> {
    pub(super) direct: Option<&'w Direct>,
    pub(super) pipeline: &'w Pipeline,
}

/// Whether it is known here what a filter does; if not, libhdf5 may have a plugin for it.
pub(super) fn is_known(filter: &Filter) -> bool {
    // What is asked is not about any chunk.
    let alone = Pipeline::new(vec![filter.clone()], 0, 1);
    !matches!(alone.can_encode(), Err(CodecError::UnknownFilter { .. }))
}
