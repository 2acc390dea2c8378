//! Whether a stack of chunks is in the file as it was meant to be.

use super::super::super::digest::{self, Chunk, Digest, Trimmed};
use super::super::super::error::DatasetFault;
use super::super::super::file::FileInner;
use super::super::super::names::hash_table_path;
use super::super::super::stage::Settings;
use super::super::super::storage::{Fill, Storage};
use super::super::hash_table::{Row, StoredRows};
use super::Extents;
use crate::dims::RawChunk;
use crate::memory::zeroed;
use crate::raw::Threads;

/// Bytes of chunks that are read together.
const WINDOW: usize = 8 << 20;

/// What was written.
pub(in crate::store) struct StackProof {
    pub(super) path: String,
    pub(super) settings: Settings,
    /// All rows of the hash table.
    pub(super) rows: Vec<u8>,
    pub(super) end: u64,
    pub(super) extents: Extents,
}

impl StackProof {
    /// Number of chunks.
    pub(in crate::store) fn chunks(&self) -> u64 {
        self.end
    }

    /// Whether a file has the settings, the rows, and chunks of these digests with nothing outside of the bounds.
    pub(in crate::store) fn holds_for(
        &self,
        file: &FileInner,
        storage: &Storage,
        threads: Threads<'_>,
    ) -> Result<bool, DatasetFault> {
        let found = Settings::of(storage);
        let is_as_asked = (&found.dtype, &found.fill)
            == (&self.settings.dtype, &self.settings.fill)
            && found.check_agrees(&self.settings).is_ok()
            && storage.raw.chunks() == self.end;
        if !is_as_asked || !self.has_rows(file)? {
            return Ok(false);
        }
        let digests: Vec<Digest> = Row::all(&self.rows).map(|row| row.digest).collect();
        match &storage.fill {
            Fill::Element(fill) => self.has_elements(storage, fill, &digests, threads),
            Fill::String(_) => self.has_strings(storage, &digests),
        }
    }

    fn has_rows(&self, file: &FileInner) -> Result<bool, DatasetFault> {
        let session = file.session()?;
        let lock = session.lock();
        let stored = StoredRows::open(lock, &session.file, &hash_table_path(&self.path))?;
        let mut rest = self.rows.as_slice();
        for part in 0..stored.parts() {
            let (_, bytes) = stored.read_part(lock, part)?;
            let Some(after) = rest.strip_prefix(bytes.as_slice()) else { return Ok(false) };
            rest = after;
        }
        Ok(rest.is_empty())
    }

    /// The part of each chunk that is inside the bounds, with the digest of it.
    fn parts<'p>(
        &'p self,
        digests: &'p [Digest],
    ) -> impl Iterator<Item = (RawChunk, &'p Trimmed, &'p Digest)> {
        let raws = (0..self.end).map(RawChunk).zip(digests);
        raws.filter_map(|(raw, digest)| Some((raw, self.extents.get(raw)?, digest)))
    }

    fn has_elements(
        &self,
        storage: &Storage,
        fill: &[u8],
        digests: &[Digest],
        threads: Threads<'_>,
    ) -> Result<bool, DatasetFault> {
        let chunk_bytes = storage.raw.chunk_bytes().max(1);
        let together = (WINDOW / chunk_bytes).max(threads.count());
        let memory = || DatasetFault::Memory { bytes: chunk_bytes as u64 };
        let parts: Vec<_> = self.parts(digests).collect();
        let most = together.min(parts.len()).checked_mul(chunk_bytes).ok_or_else(memory)?;
        let mut window = zeroed::<u8>(most).ok_or_else(memory)?;
        for batch in parts.chunks(together) {
            let window = window.get_mut(..batch.len() * chunk_bytes).unwrap_or_default();
            let raws = batch.iter().map(|&(raw, ..)| Some(raw));
            storage.fetch_raw(raws, threads, window).map_err(|error| {
                let at = usize::try_from(error.chunk.0).ok().and_then(|at| batch.get(at));
                let coordinate = vec![at.map_or(error.chunk.0, |&(raw, ..)| raw.0)];
                DatasetFault::Chunk { coordinate, error }
            })?;
            let chunks: Vec<Chunk<'_>> = (window.chunks_exact(chunk_bytes).zip(batch))
                .map(|(elements, &(_, trimmed, _))| Chunk { elements, trimmed, fill })
                .collect();
            let found = digest::of_chunks(&chunks, threads);
            let is_same = found.iter().zip(batch).zip(&chunks).all(|((found, expected), chunk)| {
                found.as_ref() == Some(expected.2)
                    && chunk.trimmed.is_fill_outside(chunk.elements, fill)
            });
            if !is_same {
                return Ok(false);
            }
        }
        Ok(parts.len() as u64 == self.end)
    }

    fn has_strings(&self, storage: &Storage, digests: &[Digest]) -> Result<bool, DatasetFault> {
        let mut count = 0;
        for (raw, trimmed, expected) in self.parts(digests) {
            let strings = storage.raw.read_strings(raw).map_err(DatasetFault::Index)?;
            let inside = trimmed.runs().flatten().map(|at| {
                usize::try_from(at)
                    .ok()
                    .and_then(|at| strings.get(at))
                    .map_or(&[][..], Vec::as_slice)
            });
            if digest::of_strings(inside, trimmed) != *expected {
                return Ok(false);
            }
            count += 1;
        }
        Ok(count == self.end)
    }
}
