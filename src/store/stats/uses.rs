//! Which versions map the stored chunks of a `raw_data`.

use super::report::ChunkBytes;
use crate::chunk_map::ChunkMap;
use crate::dims::RawChunk;
use crate::raw::StoredChunk;

/// Set in a [`ChunkUses::users`] entry if several versions map the chunk.
const SHARED: u32 = 1 << 31;

/// The stored chunks of one `raw_data`, each with the versions that map it: 12 bytes a chunk, 8 more where a chunk is not
/// stored at its own position, and 8 more of strings of variable length.
#[derive(Debug, Default)]
pub(super) struct ChunkUses {
    /// The raw chunks, rising; `None` where every one is stored, and so stands at its own position.
    raws: Option<Vec<u64>>,
    /// Bytes stored.
    sizes: Vec<u64>,
    /// Bytes of the strings that chunks refer to; empty where there are none, or none that are known of.
    strings: Vec<u64>,
    /// 0 if no version maps the chunk, else the number of the last version that does, with [`SHARED`] if others do.
    users: Vec<u32>,
}

/// What one map has of the stored chunks, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mapped {
    /// The chunks, with their strings.
    pub(super) chunks: ChunkBytes,
    /// Bytes of the strings alone.
    pub(super) strings: u64,
}

impl ChunkUses {
    /// Of chunks in rising order; `strings` are the bytes of the strings of each.
    pub(super) fn new(stored: &[StoredChunk], strings: Option<Vec<u64>>) -> Self {
        let is_dense = (0..).zip(stored).all(|(at, chunk)| chunk.raw == RawChunk(at));
        Self {
            raws: (!is_dense).then(|| stored.iter().map(|chunk| chunk.raw.0).collect()),
            sizes: stored.iter().map(|chunk| chunk.size).collect(),
            strings: strings.unwrap_or_default(),
            users: vec![0; stored.len()],
        }
    }

    /// Counts the chunks that a version maps; versions have numbers from 1 on. What the version has mapped before, by
    /// another map, is not counted again.
    pub(super) fn add(&mut self, map: &ChunkMap, version: u32) -> Mapped {
        let mut mapped = Mapped::default();
        for (_, raw) in map.iter() {
            // Chunks that are mapped and were never written take no bytes.
            let Some(at) = self.position(raw) else { continue };
            let user = &mut self.users[at];
            match *user {
                0 => *user = version,
                last if last & !SHARED == version => continue,
                _ => *user = SHARED | version,
            }
            let strings = self.strings.get(at).copied().unwrap_or(0);
            mapped.chunks.add(self.sizes[at].saturating_add(strings));
            mapped.strings = mapped.strings.saturating_add(strings);
        }
        mapped
    }

    fn position(&self, raw: RawChunk) -> Option<usize> {
        match &self.raws {
            None => usize::try_from(raw.0).ok().filter(|&at| at < self.users.len()),
            Some(raws) => raws.binary_search(&raw.0).ok(),
        }
    }

    /// All chunks, without their strings.
    pub(super) fn stored(&self) -> ChunkBytes {
        let mut stored = ChunkBytes::default();
        self.sizes.iter().for_each(|&size| stored.add(size));
        stored
    }

    /// Bytes of the strings of all chunks.
    pub(super) fn strings(&self) -> u64 {
        self.strings.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }

    /// Bytes of each chunk that not several versions map, with its strings, and the version that does; 0 if there is none.
    pub(super) fn lone(&self) -> impl Iterator<Item = (u32, u64)> {
        let chunks = self.users.iter().zip(&self.sizes).enumerate();
        chunks.filter(|(_, (user, _))| **user & SHARED == 0).map(|(at, (&user, &size))| {
            (user, size.saturating_add(self.strings.get(at).copied().unwrap_or(0)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::ChunkIndex;

    fn map(raws: &[u64]) -> ChunkMap {
        let chunks = (0..).map(ChunkIndex).zip(raws.iter().map(|&raw| Some(RawChunk(raw))));
        ChunkMap::of(chunks, raws.len() as u64)
    }

    fn stored(raws: &[u64]) -> Vec<StoredChunk> {
        let chunk = |&raw: &u64| StoredChunk {
            raw: RawChunk(raw),
            address: raw * 100,
            size: raw + 1,
            filter_mask: 0,
        };
        raws.iter().map(chunk).collect()
    }

    #[test]
    fn chunks_have_no_user_or_one_or_are_shared() {
        for raws in [&[0, 1, 2, 3, 4][..], &[0, 1, 2, 3, 4, 9]] {
            let mut uses = ChunkUses::new(&stored(raws), None);
            assert_eq!(uses.raws.is_none(), raws.len() == 5);
            // Twice the same chunk, and one that is not stored.
            assert_eq!(uses.add(&map(&[0, 1, 0, 7]), 1).chunks, ChunkBytes { chunks: 2, bytes: 3 });
            assert_eq!(uses.add(&map(&[1, 2]), 1).chunks, ChunkBytes { chunks: 1, bytes: 3 });
            assert_eq!(uses.add(&map(&[1, 3]), 2).chunks, ChunkBytes { chunks: 2, bytes: 6 });
            assert_eq!(uses.add(&map(&[1, 3]), 3).chunks, ChunkBytes { chunks: 2, bytes: 6 });
            let lone: Vec<_> = uses.lone().collect();
            assert_eq!(lone[..3], [(1, 1), (1, 3), (0, 5)]);
            assert_eq!(lone.len(), raws.len() - 2);
        }
    }

    #[test]
    fn strings_count_with_their_chunks() {
        let mut uses = ChunkUses::new(&stored(&[0, 1, 2]), Some(vec![10, 20, 30]));
        let mapped = uses.add(&map(&[0, 2]), 1);
        assert_eq!(mapped, Mapped { chunks: ChunkBytes { chunks: 2, bytes: 44 }, strings: 40 });
        assert_eq!((uses.stored(), uses.strings()), (ChunkBytes { chunks: 3, bytes: 6 }, 60));
        assert_eq!(uses.lone().collect::<Vec<_>>(), [(1, 11), (0, 22), (1, 33)]);
    }
}
