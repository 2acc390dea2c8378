//! The rows of hash tables made anew, from the chunks that versions use.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::commit::{MOST_MISSING, Row};
use super::super::digest::Digest;
use super::super::error::{DatasetFault, Error, HashTableFault};
use super::super::file::FileInner;
use super::chunks::{ChunkCheck, Elements, Work};
use super::rows::{ChunkRow, Rows};
use super::usage::Usage;
use super::{Verifier, VerifyOptions};
use crate::codec::{Filter, id};
use crate::dims::{Dims, RawChunk};
use crate::memory::room;
use crate::raw::StoredChunk;

/// What the versions of a file use of its stored chunks.
pub(in crate::store) struct Survey<'o> {
    verifier: Verifier<'o>,
    /// Names of the committed versions, the oldest first.
    pub(in crate::store) versions: Vec<Arc<str>>,
}

/// Whether the rows that a table has are believed.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum Trust<'t> {
    /// Unless the stored chunk proves them wrong.
    Rows {
        /// Chunks that no version uses, and whose rows are not believed.
        damaged: &'t BTreeSet<RawChunk>,
        /// Whether chunks are believed where they and their rows say different things.
        chunks_first: bool,
    },
    /// No row, as they are of another recipe.
    Chunks,
}

/// A hash table for the chunks that there are.
pub(in crate::store) struct NewTable {
    /// A row for each raw chunk that is kept, in their order.
    pub(in crate::store) rows: Vec<Row>,
    pub(in crate::store) chunk_shape: Dims,
    /// Chunks of `raw_data` behind those, which neither a version nor a row tells of.
    pub(in crate::store) left_over: u64,
    /// How many chunks have another row than before, or one more or less.
    pub(in crate::store) changed: u64,
    /// Whether the file has another table.
    pub(in crate::store) differs: bool,
}

/// Digests of chunks that versions use, in rising order of the chunks.
type Fresh = Vec<(RawChunk, Digest)>;

impl<'o> Survey<'o> {
    /// Walks through the versions of a file. What cannot be read is taken as it comes: then nothing is left over.
    pub(in crate::store) fn of(
        file: Arc<FileInner>,
        options: &'o VerifyOptions,
    ) -> Result<Self, Error> {
        let mut verifier = Verifier::new(file, options);
        let versions = verifier.survey()?;
        Ok(Self { verifier, versions })
    }

    /// The paths of all `raw_data`.
    pub(in crate::store) fn raw_data(&self) -> Vec<String> {
        self.verifier.usages.keys().cloned().collect()
    }

    /// Whether the elements of the `raw_data` at a path are strings of variable length.
    pub(in crate::store) fn is_of_strings(&self, path: &str) -> bool {
        let storage = self.verifier.file.storage(path);
        storage.is_ok_and(|storage| storage.dtype.is_variable_string())
    }

    /// The table that the `raw_data` at a path should have.
    pub(in crate::store) fn table(
        &mut self,
        path: &str,
        trust: Trust<'_>,
    ) -> Result<NewTable, DatasetFault> {
        let usage = self.verifier.usages.remove(path).unwrap_or_default();
        let table = self.verifier.table_anew(path, &usage, trust);
        self.verifier.usages.insert(path.to_owned(), usage);
        self.verifier.file.forget_storage(path);
        table
    }
}

impl Verifier<'_> {
    fn table_anew(
        &mut self,
        path: &str,
        usage: &Usage,
        trust: Trust<'_>,
    ) -> Result<NewTable, DatasetFault> {
        let (storage, stored, rows) = self.look(path, usage)?;
        let used: Vec<StoredChunk> =
            stored.iter().filter(|chunk| usage.is_used(chunk.raw)).copied().collect();
        let check = ChunkCheck { storage: &storage, usage, rows: &rows };
        let file = Arc::clone(&self.file);
        let work = Work::new(&file, path, check, &used, self);
        let is_exact = !work.is_inexact();
        let fresh = work.fresh(&stored);

        let chunks = storage.raw.chunks();
        let mapped = usage.used().last();
        let told = rows.iter().filter(|row| row.digest.is_some()).map(|row| RawChunk(row.raw));
        let told = told.last();
        let end = mapped.max(told).map_or(0, |last| last.0.saturating_add(1)).min(chunks);
        let is_known = !self.is_partial && !self.partial.contains(path);
        let nothing = BTreeSet::new();
        let (end, trust) = match trust {
            trust if is_known => (end, trust),
            // A version that cannot be looked at may use any of them.
            Trust::Rows { chunks_first, .. } => {
                (chunks, Trust::Rows { damaged: &nothing, chunks_first })
            }
            Trust::Chunks => (chunks, trust),
        };
        let filters = storage.raw.pipeline().filters();
        let checked = used.iter().filter(|chunk| is_exact && is_checked(filters, chunk));
        let judge = Judge {
            usage,
            rows: &rows,
            fresh: &fresh,
            proven: checked.map(|chunk| chunk.raw).collect(),
            trust,
        };
        let chunk_shape = Dims::from_slice(storage.raw.chunk_shape());
        let rows = judge.rows(end, chunk_shape.first().copied().unwrap_or(1));
        let rows = rows.ok_or_else(|| {
            let fault = HashTableFault::Missing { rows: end };
            DatasetFault::HashTable { path: path.to_owned(), fault }
        })?;
        let left_over = chunks - end;
        let changed = judge.changed(&rows);
        let is_like_this = judge.rows.is_whole && judge.rows.valid == judge.rows.largest_index;
        let differs = changed > 0 || left_over > 0 || !is_like_this;
        Ok(NewTable { rows, chunk_shape, left_over, changed, differs })
    }
}

/// Whether a filter of a stored chunk has noticed that it is as it was written.
fn is_checked(filters: &[Filter], chunk: &StoredChunk) -> bool {
    let mut applied = (0..).zip(filters);
    applied.any(|(number, filter)| {
        let is_left_out = chunk.filter_mask.checked_shr(number).is_some_and(|mask| mask & 1 == 1);
        [id::DEFLATE, id::FLETCHER32].contains(&filter.id) && !is_left_out
    })
}

impl Work<'_> {
    /// The digests of the chunks that versions use, of the part that the oldest one has; without those that cannot be
    /// read. `stored`: all chunks that are stored; others are fill.
    fn fresh(&self, stored: &[StoredChunk]) -> Fresh {
        if self.elements == Elements::Pointers {
            return Fresh::new();
        }
        let found: Mutex<Fresh> = Mutex::default();
        let part = |raw| {
            let number = self.check.usage.extents_of(raw).next()?;
            self.parts.get(usize::try_from(number).ok()?)
        };
        let look = |batch: &[StoredChunk], read: &[bool], window: &[u8]| {
            let there = self.there(batch, read, window);
            let parts = there
                .iter()
                .filter_map(|(chunk, elements)| Some((chunk.raw, *elements, part(chunk.raw)?)));
            let digests: Fresh = if self.elements == Elements::Bytes {
                let digests =
                    self.digests_of(parts.clone().map(|(_, elements, part)| (elements, part)));
                parts.map(|(raw, ..)| raw).zip(digests).collect()
            } else {
                let digest =
                    |(raw, elements, part)| Some((raw, self.digest(raw, elements, part).ok()?));
                parts.filter_map(digest).collect()
            };
            found.lock().unwrap_or_else(PoisonError::into_inner).extend(digests);
        };
        self.spread(&look);
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_stored =
            |raw: &RawChunk| stored.binary_search_by_key(raw, |chunk| chunk.raw).is_ok();
        let mut chunk = None;
        for raw in self.check.usage.used().filter(|raw| !is_stored(raw)) {
            if let Some(digest) = part(raw).and_then(|part| self.digest_of_fill(part, &mut chunk)) {
                found.push((raw, digest));
            }
        }
        found.sort_unstable_by_key(|(raw, _)| *raw);
        found
    }
}

/// Decides between the rows that there are and the chunks.
struct Judge<'j> {
    usage: &'j Usage,
    rows: &'j Rows,
    fresh: &'j Fresh,
    /// Chunks that a filter has found to be as they were written.
    proven: HashSet<RawChunk>,
    trust: Trust<'j>,
}

impl Judge<'_> {
    /// A row for each of the chunks before `end`; `None` for far more than there can be.
    fn rows(&self, end: u64, edge: u64) -> Option<Vec<Row>> {
        let known = self.fresh.len() as u64 + self.rows.valid;
        let count =
            usize::try_from(end).ok().filter(|_| end <= known.saturating_add(MOST_MISSING))?;
        drop(room(count.checked_mul(size_of::<Row>())?)?);
        let mut seen = HashSet::new();
        let row = |raw: RawChunk| {
            let (extent, digest) = self.judge(raw, edge);
            match digest.filter(|digest| seen.insert(*digest)) {
                Some(digest) => Row::new(digest, raw, edge, extent),
                None => Row::without_digest(raw, edge, extent),
            }
        };
        Some((0..end).map(RawChunk).map(row).collect())
    }

    /// How much of a chunk is inside the bounds along axis 0, and its digest if it gets one.
    fn judge(&self, raw: RawChunk, edge: u64) -> (u64, Option<Digest>) {
        let told = self.rows.of(raw);
        let Some(number) = self.usage.extents_of(raw).next() else {
            // Of what nobody uses there is nothing but the row.
            return match (self.trust, told.first()) {
                (Trust::Rows { damaged, .. }, Some(row)) if !damaged.contains(&raw) => {
                    (row.extent, row.digest)
                }
                _ => (edge, None),
            };
        };
        let extent = self.extent(number).unwrap_or(edge);
        let fresh = self.fresh_of(raw);
        let Trust::Rows { chunks_first, .. } = self.trust else { return (extent, fresh) };
        let is_fresh = |row: &ChunkRow| row.digest == fresh;
        match told.iter().find(|row| row.digest.is_some()) {
            Some(row)
                if fresh.is_none()
                    || !(chunks_first
                        || told.iter().any(is_fresh)
                        || self.proven.contains(&raw)) =>
            {
                // Of the extents that versions have of it, it may be another one's.
                let mut extents = self.usage.extents_of(raw);
                let is_theirs = extents.any(|number| self.extent(number) == Some(row.extent));
                (if is_theirs { row.extent } else { extent }, row.digest)
            }
            _ => (extent, fresh),
        }
    }

    /// Elements along axis 0 of a part of chunks.
    fn extent(&self, number: u32) -> Option<u64> {
        let shape = self.usage.extents.shapes().get(usize::try_from(number).ok()?)?;
        shape.first().copied()
    }

    fn fresh_of(&self, raw: RawChunk) -> Option<Digest> {
        let at = self.fresh.binary_search_by_key(&raw, |(raw, _)| *raw).ok()?;
        self.fresh.get(at).map(|(_, digest)| *digest)
    }

    /// How many chunks have other rows than these.
    fn changed(&self, rows: &[Row]) -> u64 {
        let same = (0..).map(RawChunk).zip(rows).filter(|(raw, row)| {
            let [told] = self.rows.of(*raw) else { return false };
            let extent = row.stop.checked_sub(row.start).and_then(|rows| u64::try_from(rows).ok());
            told.digest == row.digest() && (told.digest.is_none() || extent == Some(told.extent))
        });
        let same = same.count() as u64;
        (rows.len() as u64).max(self.rows.valid) - same.min(self.rows.valid)
    }
}
