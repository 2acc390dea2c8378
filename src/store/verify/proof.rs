//! Chunks that were read, compared with the rows of their hash table.

use std::borrow::Cow;

use super::super::digest::{self, Chunk, Digest, Trimmed};
use super::super::error::DatasetFault;
use super::chunks::{Elements, Work, part};
use super::fault::ChunkFault;
use super::rows::ChunkRow;
use crate::codec::id;
use crate::dims::{Dims, RawChunk};
use crate::raw::{StoredChunk, Threads, resolve_strings};

/// What is known of a chunk's values.
enum Proof {
    /// Its row has the digest of a part of it, or none.
    Part {
        /// Whether there is something else than fill outside of that part.
        has_padding: bool,
    },
    /// Its row does not have the digest of any part that is known.
    UnknownPart,
    /// Its row may have the digest of more than is in the file.
    Inexact,
}

impl Work<'_> {
    /// Compares chunks that were read with what is known of them.
    pub(super) fn compare(&self, batch: &[StoredChunk], read: &[bool], window: &[u8]) {
        let chunk_bytes = self.check.storage.raw.chunk_bytes();
        let there = self.there(batch, read, window);
        self.outcome().bytes += (chunk_bytes as u64).saturating_mul(there.len() as u64);
        let parts: Vec<Option<Cow<'_, Trimmed>>> =
            there.iter().map(|(chunk, _)| self.parts_of(chunk.raw).next()).collect();
        let mut digests = self.side_by_side(&there, &parts).into_iter();
        for ((chunk, elements), first) in there.iter().zip(&parts) {
            let Some(first) = first else { continue };
            let known = if self.is_hashed(chunk.raw) { digests.next() } else { None };
            match self.proof(chunk.raw, elements, first, known) {
                Ok(Proof::Part { has_padding: false }) => {}
                Ok(Proof::Part { has_padding: true }) => self.outcome().padding.count(chunk),
                Ok(Proof::UnknownPart) => self.outcome().unproven.count(chunk),
                Ok(Proof::Inexact) => self.outcome().inexact.count(chunk),
                Err(fault) => {
                    self.outcome().damaged.insert(chunk.raw, fault);
                }
            }
        }
    }

    /// The digests of chunks of bytes that are compared by them, of their first parts.
    fn side_by_side(
        &self,
        chunks: &[(&StoredChunk, &[u8])],
        parts: &[Option<Cow<'_, Trimmed>>],
    ) -> Vec<Digest> {
        if self.elements != Elements::Bytes {
            return Vec::new();
        }
        let hashed = chunks.iter().zip(parts).filter(|((chunk, _), _)| self.is_hashed(chunk.raw));
        self.digests_of(
            hashed.filter_map(|(&(_, elements), part)| Some((elements, part.as_deref()?))),
        )
    }

    /// The chunks of a batch that were read, and their elements in the window.
    pub(super) fn there<'b>(
        &self,
        batch: &'b [StoredChunk],
        read: &[bool],
        window: &'b [u8],
    ) -> Vec<(&'b StoredChunk, &'b [u8])> {
        let each = window.chunks_exact(self.check.storage.raw.chunk_bytes().max(1));
        let there = batch.iter().zip(each).zip(read);
        there.filter_map(|(chunk, &is_read)| is_read.then_some(chunk)).collect()
    }

    /// The digests of parts of chunks of bytes.
    pub(super) fn digests_of<'c>(
        &self,
        chunks: impl Iterator<Item = (&'c [u8], &'c Trimmed)>,
    ) -> Vec<Digest> {
        let chunk = |(elements, trimmed)| Chunk { elements, trimmed, fill: &self.fill };
        let hashed: Vec<Chunk<'_>> = chunks.map(chunk).collect();
        let digests = digest::of_chunks(&hashed, Threads::One);
        let of = |(digest, chunk): (Option<Digest>, &Chunk<'_>)| {
            digest.unwrap_or_else(|| {
                digest::of_elements(chunk.elements, self.fill.len(), chunk.trimmed)
            })
        };
        digests.into_iter().zip(&hashed).map(of).collect()
    }

    /// Whether a chunk is compared by its digest.
    pub(super) fn is_hashed(&self, raw: RawChunk) -> bool {
        self.compares && self.check.rows.of(raw).iter().any(|row| row.digest.is_some())
    }

    /// The parts of a chunk that may be what its row has the digest of: those that versions have; of a chunk that none
    /// uses, those that fit its row.
    fn parts_of(&self, raw: RawChunk) -> impl Iterator<Item = Cow<'_, Trimmed>> {
        let used =
            self.check.usage.extents_of(raw).filter_map(|number| {
                self.parts.get(usize::try_from(number).ok()?).map(Cow::Borrowed)
            });
        let is_used = self.check.usage.is_used(raw);
        let rows = self.check.rows.of(raw).iter().filter(move |_| !is_used);
        used.chain(rows.flat_map(|row| self.parts_of_row(row)))
    }

    fn parts_of_row(&self, row: &ChunkRow) -> impl Iterator<Item = Cow<'_, Trimmed>> {
        let chunk_shape = self.check.storage.raw.chunk_shape();
        let mut most = Dims::from_slice(chunk_shape);
        if let Some(first) = most.first_mut() {
            *first = row.extent;
        }
        let extent = row.extent;
        let known = self.parts.iter().filter(move |part| part.shape.first() == Some(&extent));
        std::iter::once(Cow::Owned(part(&most, chunk_shape))).chain(known.map(Cow::Borrowed))
    }

    /// Compares a chunk with its row.
    fn proof(
        &self,
        raw: RawChunk,
        elements: &[u8],
        first: &Trimmed,
        known: Option<Digest>,
    ) -> Result<Proof, ChunkFault> {
        if !self.is_hashed(raw) {
            if self.elements == Elements::Strings {
                self.digest(raw, elements, first)?;
            }
            return Ok(self.of_part(elements, first));
        }
        let rows = self.check.rows.of(raw);
        let is_told = |digest: &Digest| rows.iter().any(|row| row.digest.as_ref() == Some(digest));
        let found = match known {
            Some(digest) => digest,
            None => self.digest(raw, elements, first)?,
        };
        if is_told(&found) {
            return Ok(self.of_part(elements, first));
        }
        for part in self.parts_of(raw).skip(1) {
            if is_told(&self.digest(raw, elements, &part)?) {
                return Ok(self.of_part(elements, &part));
            }
        }
        // Along axis 0 the row tells where a chunk ends, along others nobody.
        if !self.check.usage.is_used(raw) && self.check.storage.raw.chunk_shape().len() > 1 {
            return Ok(Proof::UnknownPart);
        }
        if self.is_inexact() {
            return Ok(Proof::Inexact);
        }
        let expected = rows.iter().find_map(|row| row.digest).unwrap_or_default();
        Err(ChunkFault::Digest { expected, found })
    }

    /// Whether digests are of bytes that do not all come to the file.
    pub(super) fn is_inexact(&self) -> bool {
        let filters = self.check.storage.raw.pipeline().filters();
        self.check.storage.dtype.has_gaps()
            || filters.iter().any(|filter| filter.id == id::SCALE_OFFSET)
    }

    /// That a part of a chunk is what its row says, and what is outside of it.
    fn of_part(&self, elements: &[u8], part: &Trimmed) -> Proof {
        let is_seen = self.elements == Elements::Bytes;
        Proof::Part { has_padding: is_seen && !part.is_fill_outside(elements, &self.fill) }
    }

    /// The digest of a part of a chunk. Of strings `elements` are the references.
    pub(super) fn digest(
        &self,
        raw: RawChunk,
        elements: &[u8],
        part: &Trimmed,
    ) -> Result<Digest, ChunkFault> {
        match self.elements {
            Elements::Strings => {
                let strings = self.strings(raw, elements, part)?;
                Ok(digest::of_strings(strings.iter().map(Vec::as_slice), part))
            }
            _ => Ok(digest::of_elements(elements, self.fill.len(), part)),
        }
    }

    /// The strings of a part of a chunk.
    fn strings(
        &self,
        raw: RawChunk,
        references: &[u8],
        part: &Trimmed,
    ) -> Result<Vec<Vec<u8>>, ChunkFault> {
        let Some(direct) = &self.file.direct else {
            let strings = self.check.storage.raw.read_strings(raw);
            let mut strings = strings.map_err(ChunkFault::Unreadable)?;
            let inside = part.byte_runs(1).flatten();
            return Ok(inside.filter_map(|at| strings.get_mut(at).map(std::mem::take)).collect());
        };
        let runs = part.byte_runs(self.check.storage.raw.element_size());
        let inside: Vec<u8> =
            runs.flat_map(|run| references.get(run).unwrap_or_default()).copied().collect();
        let resolved = direct.bytes.read_whole(|| {
            let (bytes, superblock, fill) = (&direct.bytes, &direct.superblock, &self.fill);
            let make = |string: &[u8]| Some(string.to_vec());
            resolve_strings(bytes, superblock, &inside, fill, Threads::One, make)
                .map_err(|(at, fault)| DatasetFault::String { element: at as u64, fault })
        });
        resolved.map_err(|fault| match fault {
            DatasetFault::String { element, fault } => ChunkFault::String { element, fault },
            fault => ChunkFault::Strings(Box::new(fault)),
        })
    }
}
