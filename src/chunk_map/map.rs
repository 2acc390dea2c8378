use crate::dims::{ChunkIndex, RawChunk};

/// Which stored chunk stands behind each chunk of one version's dataset.
///
/// 8 bytes a chunk of the grid, or 16 bytes a stored chunk where few are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkMap {
    entries: Entries,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entries {
    /// By chunk index; [`NOT_STORED`] for fill.
    Dense(Vec<u64>),
    /// (chunk, raw chunk) in rising order of chunks.
    Sparse(Vec<(u64, u64)>),
}

const NOT_STORED: u64 = u64::MAX;

impl ChunkMap {
    /// A map without stored chunks.
    pub(crate) fn empty() -> Self {
        Self { entries: Entries::Sparse(Vec::new()) }
    }

    /// A map of chunks in rising order, none twice, for a grid of `chunks`; behind some of them nothing is stored.
    pub(crate) fn of(
        some: impl Iterator<Item = (ChunkIndex, Option<RawChunk>)>,
        chunks: u64,
    ) -> Self {
        let stored = some.filter_map(|(chunk, raw)| Some((chunk.0, raw?.0)));
        Self::from_sorted(stored.collect(), chunks)
    }

    /// A map from (chunk, raw chunk) pairs in rising order of chunks, none twice, for a grid of `chunks`.
    pub(super) fn from_sorted(pairs: Vec<(u64, u64)>, chunks: u64) -> Self {
        let dense = usize::try_from(chunks).ok().filter(|&chunks| chunks / 2 <= pairs.len());
        let entries = match dense {
            None => Entries::Sparse(pairs),
            // The usual case, every chunk stored: the positions are the chunks.
            Some(chunks) if chunks == pairs.len() => {
                let mut dense: Vec<u64> = pairs.into_iter().map(|(_, raw)| raw).collect();
                // Collected in the memory of the pairs, which is twice as large.
                dense.shrink_to_fit();
                Entries::Dense(dense)
            }
            Some(chunks) => {
                let mut dense = vec![NOT_STORED; chunks];
                for (chunk, raw) in pairs {
                    if let Some(entry) = usize::try_from(chunk).ok().and_then(|c| dense.get_mut(c))
                    {
                        *entry = raw;
                    }
                }
                Entries::Dense(dense)
            }
        };
        Self { entries }
    }

    /// The stored chunk behind a chunk; `None` where the fill value stands.
    #[inline]
    pub fn get(&self, chunk: ChunkIndex) -> Option<RawChunk> {
        match &self.entries {
            Entries::Dense(raws) => {
                let raw = *raws.get(usize::try_from(chunk.0).ok()?)?;
                (raw != NOT_STORED).then_some(RawChunk(raw))
            }
            Entries::Sparse(pairs) => {
                let found = pairs.binary_search_by_key(&chunk.0, |pair| pair.0).ok()?;
                pairs.get(found).map(|&(_, raw)| RawChunk(raw))
            }
        }
    }

    /// The stored chunks, in row-major order of the grid.
    pub fn iter(&self) -> impl Iterator<Item = (ChunkIndex, RawChunk)> {
        let (dense, sparse) = match &self.entries {
            Entries::Dense(raws) => (raws.as_slice(), [].as_slice()),
            Entries::Sparse(pairs) => ([].as_slice(), pairs.as_slice()),
        };
        let stored =
            (0..).zip(dense).filter(|&(_, &raw)| raw != NOT_STORED).map(|(c, &raw)| (c, raw));
        stored.chain(sparse.iter().copied()).map(|(chunk, raw)| (ChunkIndex(chunk), RawChunk(raw)))
    }

    /// Number of stored chunks.
    pub fn stored(&self) -> u64 {
        match &self.entries {
            Entries::Dense(raws) => raws.iter().filter(|&&raw| raw != NOT_STORED).count() as u64,
            Entries::Sparse(pairs) => pairs.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_maps_answer_alike() {
        let pairs = vec![(0, 5), (1, 7), (3, 7)];
        for chunks in [4, 5, 1000, u64::MAX] {
            let map = ChunkMap::from_sorted(pairs.clone(), chunks);
            for chunk in 0..6 {
                let expected =
                    pairs.iter().find(|pair| pair.0 == chunk).map(|pair| RawChunk(pair.1));
                assert_eq!(map.get(ChunkIndex(chunk)), expected);
            }
            assert_eq!(map.get(ChunkIndex(u64::MAX)), None);
            assert_eq!(map.stored(), 3);
            let listed: Vec<_> = map.iter().map(|(chunk, raw)| (chunk.0, raw.0)).collect();
            assert_eq!(listed, pairs);
        }
    }
}
