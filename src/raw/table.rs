//! Where the stored chunks of a `raw_data` dataset are.

use crate::dims::RawChunk;

/// One stored chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// Position in `raw_data`.
    pub raw: RawChunk,
    /// First byte, from the start of the file.
    pub address: u64,
    /// Bytes stored.
    pub size: u64,
    /// Bit *n* set: filter *n* of the pipeline was left out for this chunk.
    pub filter_mask: u32,
}

/// All stored chunks, found in one sweep over the chunk index. 32 bytes a stored chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkTable {
    /// In rising order of `raw`.
    chunks: Vec<StoredChunk>,
}

impl ChunkTable {
    /// Sorts what the sweep found, if the index was not in order.
    pub(super) fn new(mut chunks: Vec<StoredChunk>) -> Self {
        if !chunks.is_sorted_by_key(|chunk| chunk.raw) {
            chunks.sort_unstable_by_key(|chunk| chunk.raw);
        }
        Self { chunks }
    }

    /// Where a raw chunk is; `None` if it is not stored.
    #[inline]
    pub(super) fn get(&self, raw: RawChunk) -> Option<&StoredChunk> {
        // Every chunk of a raw_data is usually stored, and then stands at its own position.
        let guess = usize::try_from(raw.0).ok().and_then(|position| self.chunks.get(position));
        match guess {
            Some(chunk) if chunk.raw == raw => Some(chunk),
            _ => {
                let found = self.chunks.binary_search_by_key(&raw, |chunk| chunk.raw).ok()?;
                self.chunks.get(found)
            }
        }
    }

    /// The chunks, in rising order of `raw`.
    pub(super) fn into_chunks(self) -> Vec<StoredChunk> {
        self.chunks
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &StoredChunk> {
        self.chunks.iter()
    }
}

/// The table of all stored chunks, or of those of one read.
pub(super) enum TableOf<'t> {
    Whole(&'t ChunkTable),
    Part(ChunkTable),
}

impl std::ops::Deref for TableOf<'_> {
    type Target = ChunkTable;

    fn deref(&self) -> &ChunkTable {
        match self {
            Self::Whole(table) => table,
            Self::Part(table) => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_found_in_sparse_and_unordered_indexes() {
        let stored =
            |raw| StoredChunk { raw: RawChunk(raw), address: raw * 10, size: 1, filter_mask: 0 };
        let table = ChunkTable::new([0, 1, 7, 3].map(stored).to_vec());
        for (raw, address) in [(0, Some(0)), (1, Some(10)), (2, None), (3, Some(30)), (7, Some(70))]
        {
            assert_eq!(table.get(RawChunk(raw)).map(|chunk| chunk.address), address);
        }
        assert_eq!(table.get(RawChunk(u64::MAX)), None);
    }
}
