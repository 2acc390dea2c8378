//! Whether a stored chunk is what its digest says.

use super::super::digest::Trimmed;
use super::super::error::DatasetFault;
use super::super::storage::Storage;
use crate::dims::RawChunk;

/// Reads stored chunks again before they are used for others of the same digest.
pub(super) struct Reused<'r> {
    pub(super) storage: &'r Storage,
}

impl Reused<'_> {
    /// Whether a stored chunk has these elements inside the bounds. One that cannot be read has not.
    pub(super) fn has_elements(
        &self,
        raw: RawChunk,
        elements: &[u8],
        trimmed: &Trimmed,
    ) -> Result<bool, DatasetFault> {
        let size = self.storage.raw.chunk_bytes();
        let mut stored = bytemuck::allocation::try_zeroed_vec::<u8>(size)
            .map_err(|()| DatasetFault::Memory { bytes: size as u64 })?;
        if self.storage.raw.read_decoded(raw, &mut stored).is_err() {
            return Ok(false);
        }
        let element_size = self.storage.raw.element_size();
        Ok(trimmed.byte_runs(element_size).all(|run| stored.get(run.clone()) == elements.get(run)))
    }

    /// Whether a stored chunk has these strings inside the bounds.
    pub(super) fn has_strings(&self, raw: RawChunk, strings: &[&[u8]], trimmed: &Trimmed) -> bool {
        let Ok(stored) = self.storage.raw.read_strings(raw) else { return false };
        let inside = trimmed.byte_runs(1).flatten();
        inside
            .map(|element| stored.get(element).map(Vec::as_slice))
            .eq(strings.iter().copied().map(Some))
    }
}
