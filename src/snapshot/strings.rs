//! The chunks of a dataset of strings of variable length.

use super::base::Source;
use crate::dims::ChunkIndex;
use crate::store::{BaseError, StringSource};

/// The strings of a dataset.
pub(super) struct SnapshotStrings {
    source: Source,
    /// Whether what is not stored is empty.
    empty_fill: bool,
}

impl SnapshotStrings {
    pub(super) fn new(source: Source, empty_fill: bool) -> Self {
        Self { source, empty_fill }
    }
}

impl StringSource for SnapshotStrings {
    fn shape(&self) -> &[u64] {
        &self.source.grid.shape
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.source.grid.chunk_shape
    }

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        self.source.stored(self.empty_fill)
    }

    fn strings(&self, chunk: ChunkIndex) -> Result<Option<Vec<Vec<u8>>>, BaseError> {
        let opened = self.source.open()?;
        let strings = opened.read_strings(&self.source.grid, chunk, self.empty_fill);
        let strings = strings.map_err(self.source.error(Some(chunk)))?;
        self.source.brought(chunk);
        self.source.close_after(&[chunk]);
        Ok(strings)
    }
}
