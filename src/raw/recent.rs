use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::dims::RawChunk;

/// Chunks that are kept.
const KEPT: usize = 4;

/// Bytes above which a chunk is not kept.
const LARGE: usize = 4 << 20;

/// The chunks that were decoded last, for readers that ask for a few elements at a time: without it
/// every such read would undo the filters of the same chunk again.
#[derive(Debug, Default)]
pub(super) struct RecentChunks {
    /// The latest last.
    chunks: Mutex<VecDeque<(RawChunk, Arc<[u8]>)>>,
}

impl RecentChunks {
    /// Whether a read of this many chunks looks here and leaves its chunks here: a larger one would only
    /// push out what others need.
    pub(super) fn serves(transfers: u64, chunk_bytes: usize) -> bool {
        transfers <= KEPT as u64 && chunk_bytes <= LARGE
    }

    /// The bytes of a chunk, filters undone.
    pub(super) fn get(&self, raw: RawChunk) -> Option<Arc<[u8]>> {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.iter().find(|chunk| chunk.0 == raw).map(|chunk| Arc::clone(&chunk.1))
    }

    /// Keeps the bytes of a chunk, and lets go of the oldest.
    pub(super) fn put(&self, raw: RawChunk, bytes: &[u8]) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.retain(|chunk| chunk.0 != raw);
        if chunks.len() == KEPT {
            chunks.pop_front();
        }
        chunks.push_back((raw, Arc::from(bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_chunk_goes_first() {
        let recent = RecentChunks::default();
        for raw in [0, 1, 2, 0, 3, 4] {
            recent.put(RawChunk(raw), &[u8::try_from(raw).unwrap()]);
        }
        for (raw, kept) in [(0, true), (1, false), (2, true), (3, true), (4, true)] {
            assert_eq!(recent.get(RawChunk(raw)).is_some(), kept, "raw chunk {raw}");
        }
        assert_eq!(*recent.get(RawChunk(3)).unwrap(), [3]);
    }
}
