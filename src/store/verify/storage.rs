//! A `raw_data` and its hash table: what each has of the other, and of what versions use.

use std::collections::BTreeMap;
use std::sync::Arc;

use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::{h5l, h5o};

use super::super::error::{DatasetFault, Error};
use super::super::file::FileInner;
use super::super::names::{RAW_DATA, ROOT, VERSIONS};
use super::super::storage::Storage;
use super::Verifier;
use super::chunks::ChunkCheck;
use super::fault::{ChunkFault, RowFault};
use super::finding::{Finding, StoredChunks};
use super::rows::Rows;
use super::usage::Usage;
use crate::dims::RawChunk;
use crate::raw::{ReadFault, StoredChunk};

/// How deep groups may lie in each other, and how many objects there may be: limits against groups that hold themselves.
const MAX_DEPTH: usize = 64;
const MAX_OBJECTS: usize = 1 << 20;

/// The raw chunks of one dataset that are damaged, and how.
pub(super) type Damaged = BTreeMap<RawChunk, ChunkFault>;

/// Chunks that are told of together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    chunks: u64,
    bytes: u64,
    first: Option<RawChunk>,
}

impl Tally {
    pub(super) fn count(&mut self, chunk: &StoredChunk) {
        self.chunks += 1;
        self.bytes = self.bytes.saturating_add(chunk.size);
        self.first = Some(self.first.map_or(chunk.raw, |first| first.min(chunk.raw)));
    }

    /// `None` if there are none.
    pub(super) fn of(&self, raw_data: &str) -> Option<StoredChunks> {
        let Self { chunks, bytes, first } = *self;
        Some(StoredChunks { raw_data: raw_data.to_owned(), chunks, bytes, first: first? })
    }
}

/// A group that cannot be listed.
type Unlisted = (String, h5strata_ffi::Error);

/// Paths of all `raw_data` of a file, up to the first group that cannot be listed.
pub(in super::super) fn raw_data_paths(file: &FileInner) -> (Vec<String>, Option<Unlisted>) {
    let mut found = Vec::new();
    let end = collect(file, ROOT, 0, &mut found);
    (found, end.err())
}

fn collect(
    file: &FileInner,
    group: &str,
    depth: usize,
    found: &mut Vec<String>,
) -> Result<(), Unlisted> {
    let of_group = |error| (group.to_owned(), error);
    let session = file.session().map_err(of_group)?;
    let lock = session.lock();
    let at = h5strata_ffi::h5g::open(lock, &session.file, group).map_err(of_group)?;
    for name in h5l::names(lock, &at).map_err(of_group)? {
        let path = format!("{group}/{name}");
        if path == VERSIONS || found.len() >= MAX_OBJECTS {
            continue;
        }
        // What leads nowhere is nobody's chunks.
        let Ok(object) = h5o::object(lock, &session.file, &path) else { continue };
        match object.kind {
            ObjectKind::Dataset if name == RAW_DATA => found.push(path),
            ObjectKind::Group if depth < MAX_DEPTH => collect(file, &path, depth + 1, found)?,
            _ => {}
        }
    }
    Ok(())
}

impl Verifier<'_> {
    /// Finds the stored chunks of datasets that no version has.
    pub(super) fn raw_data_of_no_version(&mut self) {
        let (found, error) = raw_data_paths(&self.file);
        if let Some((path, error)) = error {
            let fault = Box::new(DatasetFault::Library(error));
            self.found(Finding::RawData { raw_data: path, fault });
        }
        for path in found {
            self.usages.entry(path).or_default();
        }
    }

    /// Looks at a `raw_data` and its hash table.
    pub(super) fn raw_data(&mut self, path: &str, usage: &Usage) -> Result<(), Error> {
        let looked = {
            let file = Arc::clone(&self.file);
            // One state of the file for both.
            let _entered = file.enter()?;
            self.look(path, usage)
        };
        match looked {
            Ok((storage, stored, rows)) => self.check(path, usage, &storage, stored, &rows),
            Err(fault) => {
                let (raw_data, fault) = (path.to_owned(), Box::new(fault));
                self.found(Finding::RawData { raw_data, fault });
            }
        }
        self.file.forget_storage(path);
        Ok(())
    }

    pub(super) fn look(
        &mut self,
        path: &str,
        usage: &Usage,
    ) -> Result<(Arc<Storage>, Vec<StoredChunk>, Rows), DatasetFault> {
        let storage = self.file.storage(path)?;
        let newest = storage.raw.chunks();
        // Where no version was, there is nothing that may have been committed since.
        let chunks = if usage.users.is_empty() { newest } else { usage.raw_chunks };
        let mut stored = storage.raw.stored(self.file.addresses()).map_err(DatasetFault::Index)?;
        stored.retain(|chunk| chunk.raw.0 < chunks);
        let edge = storage.raw.chunk_shape().first().copied().unwrap_or(1);
        let rows = self.rows(path, edge, chunks, newest);
        Ok((storage, stored, rows))
    }

    fn check(
        &mut self,
        path: &str,
        usage: &Usage,
        storage: &Storage,
        stored: Vec<StoredChunk>,
        rows: &Rows,
    ) {
        self.report.chunks += stored.len() as u64;
        self.extents(path, usage, rows);
        let mut damaged = self.places(storage, &stored);
        self.tallies(path, usage, &stored, rows);
        if !self.options.quick {
            self.chunks(path, ChunkCheck { storage, usage, rows }, &stored, &mut damaged);
        }
        self.damaged(path, usage, damaged);
    }

    /// Rows must say how much of their chunks versions have.
    fn extents(&mut self, path: &str, usage: &Usage, rows: &Rows) {
        let mut wrong = Vec::new();
        for row in rows.iter() {
            let raw = RawChunk(row.raw);
            let extents = usage.extents_of(raw);
            let mut inside = extents.filter_map(|number| {
                let shape = usage.extents.shapes().get(usize::try_from(number).ok()?)?;
                shape.first().copied()
            });
            // A chunk may have rows of several extents, and rows without a digest only hold its place.
            let Some(expected) = inside.next() else { continue };
            let fits = row.extent == expected || inside.any(|inside| inside == row.extent);
            if !fits && row.digest.is_some() {
                wrong.push((row.number, RowFault::Extent { raw, expected, found: row.extent }));
            }
        }
        for (row, fault) in wrong {
            self.row_fault(path, row, fault);
        }
    }

    /// Chunks must lie in the file, and each in a place of its own.
    fn places(&self, storage: &Storage, stored: &[StoredChunk]) -> Damaged {
        let mut damaged = Damaged::new();
        let size = self.file.read_at().and_then(|(bytes, _)| bytes.size().ok());
        let chunk_bytes = storage.raw.chunk_bytes() as u64;
        let is_plain = storage.raw.pipeline().is_empty();
        let mut places = Vec::with_capacity(stored.len());
        for &StoredChunk { raw, address, size: found, .. } in stored {
            let fault = match (address.checked_add(found), size) {
                _ if is_plain && found != chunk_bytes => {
                    Some(ReadFault::StoredSize { expected: chunk_bytes, found })
                }
                (None, _) => Some(ReadFault::Address { address, size: found }),
                (Some(end), Some(size)) if end > size => Some(ReadFault::Beyond { end, size }),
                (Some(end), _) => {
                    places.push((address, end, raw));
                    None
                }
            };
            damaged.extend(fault.map(|fault| (raw, ChunkFault::Unreadable(fault))));
        }
        places.sort_unstable();
        let mut reached: Option<(u64, RawChunk)> = None;
        for (address, end, raw) in places {
            if let Some((before, other)) = reached
                && address < before
            {
                damaged.insert(raw, ChunkFault::Overlap { other });
            }
            if reached.is_none_or(|(before, _)| before < end) {
                reached = Some((end, raw));
            }
        }
        damaged
    }

    /// Chunks that are lost, double or left over.
    fn tallies(&mut self, path: &str, usage: &Usage, stored: &[StoredChunk], rows: &Rows) {
        let [mut orphans, mut leftovers, mut without, mut double] = [Tally::default(); 4];
        let mut last = None;
        for chunk in stored {
            let row = rows.of(chunk.raw);
            match (usage.is_used(chunk.raw), row) {
                (true, row) => {
                    last = Some(chunk.raw);
                    if row.iter().all(|row| row.digest.is_none()) {
                        without.count(chunk);
                    }
                }
                (false, []) => leftovers.count(chunk),
                (false, _) => orphans.count(chunk),
            }
        }
        for raw in rows.duplicates() {
            if let Ok(at) = stored.binary_search_by_key(&raw, |chunk| chunk.raw) {
                double.count(&stored[at]);
            }
        }
        let raw_data = || path.to_owned();
        // A table that could not be read as a whole tells nothing of what it does not have.
        if let Some(last) = last.filter(|raw| rows.is_whole && raw.0 >= rows.largest_index) {
            let (raw_data, largest_index) = (raw_data(), rows.largest_index);
            self.found(Finding::LargestIndex { raw_data, largest_index, last });
        }
        let is_known = !self.is_partial && !self.partial.contains(path);
        let findings = [
            orphans.of(path).filter(|_| is_known).map(Finding::Orphans),
            leftovers.of(path).filter(|_| is_known && rows.is_whole).map(Finding::Leftovers),
            without.of(path).filter(|_| rows.is_whole).map(Finding::WithoutDigest),
            double.of(path).map(Finding::Duplicates),
        ];
        self.report.findings.extend(findings.into_iter().flatten());
    }
}
