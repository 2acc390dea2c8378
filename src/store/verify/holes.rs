//! Chunks that versions use and that are not stored.

use std::collections::HashMap;

use super::super::digest::{self, Digest, Trimmed};
use super::super::storage::Fill;
use super::chunks::{Elements, Work};
use crate::dims::RawChunk;
use crate::memory::zeroed;
use crate::raw::StoredChunk;

impl Work<'_> {
    /// Raw chunks that versions use, that are not stored, and whose row is of something else than fill.
    pub(super) fn missing(&self, stored: &[StoredChunk]) -> Vec<RawChunk> {
        let mut digests: HashMap<u32, Digest> = HashMap::new();
        let mut chunk = None;
        let mut missing = Vec::new();
        let used = self.check.usage.used().filter(|raw| {
            self.is_hashed(*raw) && stored.binary_search_by_key(raw, |chunk| chunk.raw).is_err()
        });
        for raw in used {
            let mut is_fill = false;
            for number in self.check.usage.extents_of(raw) {
                let known = usize::try_from(number).ok().and_then(|at| self.parts.get(at));
                let Some(part) = known else { continue };
                let digest = match digests.get(&number) {
                    Some(known) => *known,
                    None => {
                        let Some(digest) = self.digest_of_fill(part, &mut chunk) else {
                            return missing;
                        };
                        digests.insert(number, digest);
                        digest
                    }
                };
                let rows = self.check.rows.of(raw).iter();
                is_fill |= rows.map(|row| row.digest).any(|told| told == Some(digest));
            }
            if !is_fill {
                missing.push(raw);
            }
        }
        missing
    }

    /// The digest of a part of a chunk of fill; `chunk`: a whole one, once there is one. `None` without the memory for it.
    pub(super) fn digest_of_fill(
        &self,
        part: &Trimmed,
        chunk: &mut Option<Vec<u8>>,
    ) -> Option<Digest> {
        if let (Elements::Strings, Fill::String(string)) = (self.elements, &self.check.storage.fill)
        {
            let strings = part.runs().flatten().map(|_| string.as_slice());
            return Some(digest::of_strings(strings, part));
        }
        if chunk.is_none() {
            let mut fill = zeroed::<u8>(self.check.storage.raw.chunk_bytes())?;
            let element = self.fill.iter().cycle();
            fill.iter_mut().zip(element).for_each(|(place, byte)| *place = *byte);
            *chunk = Some(fill);
        }
        Some(digest::of_elements(chunk.as_deref()?, self.fill.len(), part))
    }
}
