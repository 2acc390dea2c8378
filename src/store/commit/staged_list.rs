//! The list of mappings of a staged dataset whose chunks are stored.

use super::super::stage::{Content, NodeKind, Stage};
use super::StoredDataset;
use super::base_list::BaseList;
use super::chunks::StoredChunks;
use crate::chunk_map::MapError;
use crate::chunk_map::vds_block::{ChunkSources, encode_list, list_bytes};
use crate::dims::{ChunkIndex, RawChunk};
use crate::ondisk::FieldWidth;

/// What a list is made from.
pub(super) struct StagedList<'c> {
    pub(super) path: &'c str,
    sources: ChunkSources<'c>,
    map: &'c [(ChunkIndex, RawChunk)],
    /// Where the other mappings are, if `map` has those alone that change.
    base: Option<&'c BaseList>,
}

impl<'c> StagedList<'c> {
    /// That of the dataset at `path`, whose stored chunks are in `raw_data`; `None` without mappings.
    pub(super) fn of(
        stage: &'c Stage<'_>,
        path: &'c str,
        dataset: &'c StoredDataset,
        raw_data: &'c str,
    ) -> Option<Self> {
        let NodeKind::Staged(content) = &stage.tree.get(path)?.kind else { return None };
        let StoredChunks { map, base_list, .. } = &dataset.chunks;
        let (sources, base) = (sources_of(content, raw_data), base_list.as_ref());
        (!map.is_empty()).then_some(Self { path, sources, map, base })
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self, length_size: FieldWidth) -> u64 {
        let mappings = self.base.map_or(self.map.len() as u64, |base| base.mappings(self.map));
        list_bytes(self.sources, mappings, length_size)
    }

    pub(super) fn encode(&self, length_size: FieldWidth) -> Result<Vec<u8>, MapError> {
        let encoded = encode_list(self.sources, self.map.iter().copied(), length_size)?;
        match self.base {
            Some(base) => base.with(&encoded),
            None => Ok(encoded),
        }
    }
}

/// Where the mappings of a staged dataset lead from and to.
pub(super) fn sources_of<'c>(content: &'c Content, raw_data: &'c str) -> ChunkSources<'c> {
    let (shape, chunk_shape) = (content.array.shape(), content.settings.chunk_shape.as_slice());
    ChunkSources { shape, chunk_shape, raw_data }
}
