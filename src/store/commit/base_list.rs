//! Lists of mappings that are made from those of an older version, of which few mappings change.

use super::super::dataset::Dataset;
use super::super::error::DatasetFault;
use super::super::stage::Content;
use crate::chunk_map::vds_block::{ChunkSources, encode_list};
use crate::chunk_map::{FewMappings, MapError};
use crate::dims::{ChunkIndex, RawChunk};
use crate::ondisk::FieldWidth;

/// The list that a new one is made from.
#[derive(Debug)]
pub(super) struct BaseList {
    dataset: Dataset,
    /// The mappings that change.
    changed: FewMappings,
}

impl BaseList {
    /// The list of `base`, if that of a staged dataset differs from it in few mappings: chunks are staged in their old places
    /// or behind the last one, and nothing was cut off. `most`: the highest raw chunk that may come to stand behind one.
    pub(super) fn find(
        content: &Content,
        base: &Dataset,
        sources: ChunkSources<'_>,
        most: RawChunk,
        length_size: FieldWidth,
    ) -> Result<Option<Self>, DatasetFault> {
        let array = &content.array;
        let Some((bytes, _)) = base.inner.version.file.read_at() else { return Ok(None) };
        // Who has the map at hand need not read the list.
        if base.inner.knows_map() || !array.keeps_base() || !grows_by_chunks(sources, base.shape())
        {
            return Ok(None);
        }
        let last: u64 = base.chunk_grid().iter().product();
        let staged: Vec<ChunkIndex> = array.staged().map(|(chunk, _)| chunk).collect();
        let old = staged.partition_point(|chunk| chunk.0 < last);
        // The largest numbers there can be: larger ones would be stored in another form.
        let Some(&one) = staged.last() else { return Ok(None) };
        let Ok(form) = encode_list(sources, [(one, most)], length_size) else { return Ok(None) };
        let find =
            || base.inner.list.few_mappings(bytes, &base.inner.geometry, &staged[..old], &form);
        let changed = base.inner.version.file.read_whole(find)?;
        Ok(changed.map(|changed| Self { dataset: base.clone(), changed }))
    }

    /// Number of mappings of the new list; `map`: the stored chunks behind the staged ones.
    pub(super) fn mappings(&self, map: &[(ChunkIndex, RawChunk)]) -> u64 {
        let appended = map.len().saturating_sub(self.changed.raw.len());
        self.changed.of.saturating_add(appended as u64)
    }

    /// Whether the new list is the old one.
    pub(super) fn is_same(&self, map: &[(ChunkIndex, RawChunk)]) -> bool {
        map.iter().map(|&(_, raw)| raw).eq(self.changed.raw.iter().copied())
    }

    /// The new list; `changes`: the list of the staged chunks alone.
    pub(super) fn with(&self, changes: &[u8]) -> Result<Vec<u8>, MapError> {
        let base = &self.dataset.inner;
        let bytes = base.version.file.read_at().map(|(bytes, _)| bytes);
        let make = || base.list.with_mappings(bytes, &self.changed, changes);
        base.version.file.read_whole(make)
    }
}

/// Whether all chunks of a base are whole, or as they were, in a shape that differs along axis 0 at most.
fn grows_by_chunks(sources: ChunkSources<'_>, base: &[u64]) -> bool {
    let ChunkSources { shape, chunk_shape, .. } = sources;
    let (Some((rows, across)), Some((base_rows, base_across)), Some(edge)) =
        (shape.split_first(), base.split_first(), chunk_shape.first())
    else {
        return false;
    };
    across == base_across
        && (rows == base_rows || (rows > base_rows && base_rows.is_multiple_of(*edge)))
}
