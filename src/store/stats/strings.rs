//! Bytes of the strings of variable length that chunks refer to.

use super::super::error::DatasetFault;
use super::super::file::FileInner;
use super::super::storage::Storage;
use crate::memory::zeroed;
use crate::ondisk::{Superblock, size_in_collection};
use crate::raw::{FILL_REFERENCE, StoredChunk};

/// Bytes of references that are in memory at once, unless a single chunk has more.
const WINDOW: usize = 16 << 20;

/// Bytes that the strings of each chunk take in the heap, by the references alone: every element that is not empty has an
/// object of its own (`H5T__vlen_disk_write`). `None` where the file's references are of a kind that only libhdf5 reads.
pub(super) fn string_bytes(
    file: &FileInner,
    storage: &Storage,
    stored: &[StoredChunk],
) -> Result<Option<Vec<u64>>, DatasetFault> {
    let Some(direct) = &file.direct else { return Ok(None) };
    let chunk_bytes = storage.raw.chunk_bytes().max(1);
    let together = (WINDOW / chunk_bytes).clamp(1, stored.len().max(1));
    let mut bytes = Vec::with_capacity(stored.len());
    let mut window = Vec::new();
    for batch in stored.chunks(together) {
        let size = chunk_bytes.saturating_mul(batch.len());
        if window.len() < size {
            window = zeroed(size).ok_or(DatasetFault::Memory { bytes: size as u64 })?;
        }
        let window = window.get_mut(..size).unwrap_or_default();
        let raws = batch.iter().map(|chunk| Some(chunk.raw));
        storage.fetch_raw(raws, file.threads(), window).map_err(|error| {
            let coordinate = error.raw.into_iter().map(|raw| raw.0).collect();
            DatasetFault::Chunk { coordinate, error }
        })?;
        let chunks = window.chunks_exact(chunk_bytes);
        bytes.extend(chunks.map(|chunk| bytes_of(chunk, &direct.superblock)));
    }
    Ok(Some(bytes))
}

/// Bytes that the strings behind references take.
fn bytes_of(references: &[u8], superblock: &Superblock) -> u64 {
    let size = superblock.reference_size();
    let mut bytes = 0_u64;
    for reference in references.chunks_exact(size) {
        let (length, rest) = reference.split_first_chunk().unwrap_or((&[0; 4], &[]));
        let length = u64::from(u32::from_le_bytes(*length));
        let address = superblock.offset_size.decode(rest).unwrap_or(0);
        // As for readers: no object is behind such a reference.
        let is_empty = length == 0 || address == 0 || FILL_REFERENCE.starts_with(reference);
        if !is_empty {
            bytes = bytes.saturating_add(size_in_collection(length));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ondisk::FieldWidth;

    #[test]
    fn strings_take_a_header_and_are_padded() {
        let (offset_size, length_size) = (FieldWidth::Eight, FieldWidth::Eight);
        let superblock = Superblock { version: 0, base_address: 0, offset_size, length_size };
        let reference = |length: u32, address: u64| {
            [&length.to_le_bytes()[..], &address.to_le_bytes(), &1_u32.to_le_bytes()].concat()
        };
        let references = [reference(1, 512), reference(8, 512), reference(9, 4096)].concat();
        assert_eq!(bytes_of(&references, &superblock), 24 + 24 + 32);
        let empty = [reference(0, 512), reference(3, 0), FILL_REFERENCE.to_vec()].concat();
        assert_eq!(bytes_of(&empty, &superblock), 0);
    }
}
