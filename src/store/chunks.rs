//! The stored chunks behind a version's dataset, or a part of it.

use bumpalo::Bump;

use super::dataset::{Dataset, DatasetInner};
use super::error::{DatasetFault, Error};
use crate::dims::{ChunkIndex, Dims, RawChunk, unravel};
use crate::raw::{FileBytes, StoredChunk};
use crate::selection::Selection;

/// A chunk of a version's dataset that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetChunk {
    /// Coordinate in the grid of chunks.
    pub coordinate: Dims,
    /// Position among the stored chunks of all versions.
    pub raw: RawChunk,
    /// First byte, from the start of the file.
    pub address: u64,
    /// Bytes stored.
    pub size: u64,
    /// Bit *n* set: filter *n* was left out for this chunk.
    pub filter_mask: u32,
}

impl Dataset {
    /// The stored chunks, in row-major order of the grid, with their addresses in the file.
    ///
    /// Chunks that are mapped but were never written, and so hold the fill value, are left out.
    ///
    /// # Errors
    /// [`Error::Dataset`].
    pub fn stored_chunks(&self) -> Result<Vec<DatasetChunk>, Error> {
        self.inner.stored_chunks().map_err(self.inner.error())
    }

    /// The stored chunks that hold a selected element, as [`stored_chunks`](Self::stored_chunks) gives them: what a
    /// read of the selection would need. Of a few chunks in many only their own mappings and addresses are looked up.
    ///
    /// # Errors
    /// [`Error::Dataset`]: the selection does not fit, or a chunk cannot be found.
    pub fn stored_chunks_in(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<Vec<DatasetChunk>, Error> {
        self.inner.stored_chunks_in(&selection.into()).map_err(self.inner.error())
    }
}

impl DatasetInner {
    fn stored_chunks(&self) -> Result<Vec<DatasetChunk>, DatasetFault> {
        let stored = self.storage.raw.stored(self.addresses()).map_err(DatasetFault::Index)?;
        Ok(self.located(self.whole_map()?.iter(), &stored).collect())
    }

    fn stored_chunks_in(&self, selection: &Selection) -> Result<Vec<DatasetChunk>, DatasetFault> {
        let arena = Bump::new();
        let plan = self.plan(selection, &arena)?;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let map = self.map_of(&plan)?;
        let mut touched = Vec::new();
        let mut transfers = plan.transfers();
        while let Some(transfer) = transfers.advance() {
            let chunk = transfer.chunk();
            touched.extend(map.get(chunk).map(|raw| (chunk, raw)));
        }
        let mut wanted: Vec<RawChunk> = touched.iter().map(|&(_, raw)| raw).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let stored = self.storage.raw.stored_of(self.addresses(), &wanted);
        Ok(self.located(touched, &stored.map_err(DatasetFault::Index)?).collect())
    }

    /// Where addresses are read from; `None` if libhdf5 must be asked for them.
    pub(super) fn addresses(&self) -> Option<&FileBytes> {
        self.version.file.addresses()
    }

    /// The chunks of a map that are among the stored ones, which are in rising order.
    pub(super) fn located(
        &self,
        mapped: impl IntoIterator<Item = (ChunkIndex, RawChunk)>,
        stored: &[StoredChunk],
    ) -> impl Iterator<Item = DatasetChunk> {
        let find = move |(chunk, raw): (ChunkIndex, RawChunk)| {
            let at = stored.binary_search_by_key(&raw, |chunk| chunk.raw).ok()?;
            let coordinate = unravel(chunk.0, self.geometry.grid());
            let StoredChunk { address, size, filter_mask, .. } = stored[at];
            Some(DatasetChunk { coordinate, raw, address, size, filter_mask })
        };
        mapped.into_iter().filter_map(find)
    }
}
