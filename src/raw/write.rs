//! Writing stored chunks.

use h5strata_ffi::{Lock, h5d, h5s};

use crate::dims::{Dims, RawChunk};

/// A `raw_data` dataset that chunks are written to.
#[derive(Debug)]
pub(crate) struct RawWriter {
    dataset: h5d::Dataset,
    chunk_shape: Dims,
}

impl RawWriter {
    /// Writes to an open `raw_data` dataset.
    pub(crate) fn new(dataset: h5d::Dataset, chunk_shape: &[u64]) -> Self {
        Self { dataset, chunk_shape: Dims::from_slice(chunk_shape) }
    }

    /// Gives the dataset room for this many chunks; what is stored beyond them is dropped (`H5Dset_extent`).
    pub(crate) fn set_chunks(&self, lock: &Lock, chunks: u64) -> Result<(), h5strata_ffi::Error> {
        let mut extent = self.chunk_shape.clone();
        if let Some(rows) = extent.first_mut() {
            *rows = rows.saturating_mul(chunks);
        }
        h5d::set_extent(lock, &self.dataset, &extent)
    }

    /// Writes a chunk as it is stored; bit *n* of `filter_mask` says that filter *n* was left out
    /// (`H5Dwrite_chunk`).
    pub(crate) fn write(
        &self,
        lock: &Lock,
        raw: RawChunk,
        filter_mask: u32,
        stored: &[u8],
    ) -> Result<(), h5strata_ffi::Error> {
        h5d::write_chunk(lock, &self.dataset, &self.offset(raw), filter_mask, stored)
    }

    /// Writes the elements of a whole chunk, in C order; libhdf5 applies the filters (`H5Dwrite`).
    pub(crate) fn write_elements(
        &self,
        lock: &Lock,
        raw: RawChunk,
        elements: &[u8],
    ) -> Result<(), h5strata_ffi::Error> {
        let (start, count) = (self.offset(raw), &*self.chunk_shape);
        let whole = h5s::Hyperslab { start: &start, stride: None, count, block: None };
        let datatype = h5d::datatype(lock, &self.dataset)?;
        h5d::write(lock, &self.dataset, &datatype, Some(&whole), elements)
    }

    /// Writes strings of variable length to the elements of a chunk that lie in `inside`, a shape from the chunk's
    /// first element on; libhdf5 keeps the strings and applies the filters (`H5Dwrite`).
    pub(crate) fn write_strings(
        &self,
        lock: &Lock,
        raw: RawChunk,
        inside: &[u64],
        strings: &[&[u8]],
    ) -> Result<(), h5strata_ffi::Error> {
        let start = self.offset(raw);
        let hyperslab = h5s::Hyperslab { start: &start, stride: None, count: inside, block: None };
        h5d::write_variable_strings(lock, &self.dataset, Some(&hyperslab), strings)
    }

    fn offset(&self, raw: RawChunk) -> Dims {
        let row = raw.0.saturating_mul(self.chunk_shape.first().copied().unwrap_or(0));
        (0..self.chunk_shape.len()).map(|axis| if axis == 0 { row } else { 0 }).collect()
    }
}
