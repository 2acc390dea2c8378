//! Stored chunks, read and compared with the rows of their hash table.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::commit::Meter;
use super::super::digest::{self, Chunk, Digest, Trimmed};
use super::super::error::DatasetFault;
use super::super::file::FileInner;
use super::super::names::{RAW_DATA, ROOT};
use super::super::storage::{Fill, Storage};
use super::Verifier;
use super::fault::ChunkFault;
use super::finding::Finding;
use super::rows::{ChunkRow, Rows};
use super::storage::{Damaged, Tally};
use super::usage::Usage;
use crate::codec::CodecError;
use crate::dims::{Dims, RawChunk};
use crate::memory::zeroed;
use crate::raw::{ReadFault, StoredChunk, Threads, resolve_strings};

/// Bytes that a thread has in memory at once, unless a single chunk has more.
const WINDOW: usize = 16 << 20;

/// Bytes and chunks that a thread takes at once, so that taking costs nothing beside reading.
const LITTLE: usize = 256 << 10;
const MANY: usize = 512;

/// What chunks are compared with.
#[derive(Clone, Copy)]
pub(super) struct ChunkCheck<'c> {
    pub(super) storage: &'c Storage,
    pub(super) usage: &'c Usage,
    pub(super) rows: &'c Rows,
}

/// What the elements are that digests are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    Bytes,
    Strings,
    /// Addresses in the file, of which nothing is known but that they can be read.
    Pointers,
}

/// What is known of a chunk's values.
enum Proof<'p> {
    /// Its row has the digest of this part of it, or none.
    Part(Cow<'p, Trimmed>),
    /// Its row does not have the digest of any part that is known.
    UnknownPart,
    /// Its row may have the digest of bytes that are not in the file.
    Gaps,
}

/// The chunks of one `raw_data`, on their way through the threads.
struct Work<'w> {
    file: &'w FileInner,
    check: ChunkCheck<'w>,
    elements: Elements,
    /// Whether digests are of the recipe that is known.
    compares: bool,
    chunks: &'w [StoredChunk],
    /// The parts of chunks that versions have, by the numbers of their extents.
    parts: Vec<Trimmed>,
    /// An element of fill as chunks have it in memory.
    fill: Vec<u8>,
    /// Chunks that are taken at once.
    group: usize,
    next: AtomicUsize,
    meter: Meter<'w>,
    outcome: Mutex<Outcome>,
}

#[derive(Default)]
struct Outcome {
    damaged: Damaged,
    padding: Tally,
    unproven: Tally,
    gaps: Tally,
    no_filter: Option<(Tally, CodecError)>,
    /// Bytes of the chunks that could be read.
    bytes: u64,
}

impl Verifier<'_> {
    /// Reads the stored chunks that versions use, or that have a row, but those whose place is damaged already.
    pub(super) fn chunks(
        &mut self,
        path: &str,
        check: ChunkCheck<'_>,
        stored: &[StoredChunk],
        damaged: &mut Damaged,
    ) {
        let is_wanted = |chunk: &&StoredChunk| {
            let raw = chunk.raw;
            let is_known = check.usage.is_used(raw) || !check.rows.of(raw).is_empty();
            is_known && !damaged.contains_key(&raw)
        };
        let chunks: Vec<StoredChunk> = stored.iter().filter(is_wanted).copied().collect();
        let file = Arc::clone(&self.file);
        let work = Work::new(&file, path, check, &chunks, self);
        let batches = chunks.len().div_ceil(work.group);
        let threads = file.threads();
        threads.spread(threads.count().min(batches) as u64, || work.run());
        let missing = work.missing(stored);
        let Outcome { damaged: found, padding, unproven, gaps, no_filter, bytes } =
            work.outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        damaged.extend(found);
        damaged.extend(missing.into_iter().map(|raw| (raw, ChunkFault::Missing)));
        self.report.bytes = self.report.bytes.saturating_add(bytes);
        if let Some((chunks, fault)) = no_filter
            && let Some(chunks) = chunks.of(path)
        {
            self.found(Finding::NoFilter { chunks, fault });
        }
        if work.elements == Elements::Pointers && !chunks.is_empty() {
            let (raw_data, dtype) = (path.to_owned(), check.storage.dtype.clone());
            self.found(Finding::Pointers { raw_data, dtype });
        }
        let findings = [
            padding.of(path).map(Finding::Padding),
            unproven.of(path).map(Finding::Unproven),
            gaps.of(path).map(Finding::Gaps),
        ];
        self.report.findings.extend(findings.into_iter().flatten());
    }
}

impl<'w> Work<'w> {
    fn new(
        file: &'w FileInner,
        path: &'w str,
        check: ChunkCheck<'w>,
        chunks: &'w [StoredChunk],
        verifier: &Verifier<'w>,
    ) -> Self {
        let raw = &check.storage.raw;
        let dtype = &check.storage.dtype;
        let elements = match dtype.has_pointers() {
            false => Elements::Bytes,
            true if dtype.is_variable_string() => Elements::Strings,
            true => Elements::Pointers,
        };
        let compares = !verifier.hashes_differ() && elements != Elements::Pointers;
        let parts = check.usage.extents.shapes().iter();
        let parts = parts.map(|shape| part(shape, raw.chunk_shape())).collect();
        let mut fill = check.storage.fill.as_bytes().to_vec();
        if let (Some(narrow), Elements::Bytes) = (check.storage.narrow, elements) {
            narrow.widen(&mut fill);
        }
        let chunk_bytes = raw.chunk_bytes().max(1);
        let group = (LITTLE / chunk_bytes).clamp(digest::together(), MANY);
        let group = group.min((WINDOW / chunk_bytes).max(1));
        let dataset = path.strip_prefix(ROOT).and_then(|path| path.strip_suffix(RAW_DATA));
        let dataset = dataset.map_or(path, |dataset| dataset.trim_matches('/'));
        let meter = Meter::new(verifier.options.on_progress.as_ref(), dataset, raw.chunk_bytes());
        meter.expect(chunks.len() as u64);
        let (next, outcome) = (AtomicUsize::new(0), Mutex::default());
        Self { file, check, elements, compares, chunks, parts, fill, group, next, meter, outcome }
    }

    /// Takes chunks until none is left.
    fn run(&self) {
        let mut window = Vec::new();
        loop {
            let start = self.next.fetch_add(self.group, Ordering::Relaxed);
            let end = start.saturating_add(self.group).min(self.chunks.len());
            let Some(batch) = self.chunks.get(start..end).filter(|batch| !batch.is_empty()) else {
                return;
            };
            let read = self.read(batch, &mut window);
            self.compare(batch, &read, &window);
            self.meter.count(batch.len());
        }
    }

    fn outcome(&self) -> std::sync::MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads some chunks into the window, one after the other; tells which of them are there.
    fn read(&self, batch: &[StoredChunk], window: &mut Vec<u8>) -> Vec<bool> {
        let Some(window) = self.room(batch.len(), window) else {
            let bytes = self.check.storage.raw.chunk_bytes() as u64;
            for chunk in batch {
                self.unreadable(chunk, ReadFault::Memory { bytes });
            }
            return vec![false; batch.len()];
        };
        let storage = self.check.storage;
        let raws = batch.iter().map(|chunk| Some(chunk.raw));
        if storage.fetch_raw(raws, Threads::One, window).is_ok() {
            return vec![true; batch.len()];
        }
        // One of them cannot be read: which one, each tells by itself.
        let each = window.chunks_exact_mut(storage.raw.chunk_bytes().max(1));
        let read = batch.iter().zip(each).map(|(chunk, place)| {
            let raws = std::iter::once(Some(chunk.raw));
            let read = storage.fetch_raw(raws, Threads::One, place);
            read.map_err(|error| self.unreadable(chunk, error.fault)).is_ok()
        });
        read.collect()
    }

    /// The part of the window that so many chunks take.
    fn room<'b>(&self, chunks: usize, window: &'b mut Vec<u8>) -> Option<&'b mut [u8]> {
        let bytes = self.check.storage.raw.chunk_bytes().checked_mul(chunks)?;
        if window.len() < bytes {
            *window = zeroed(bytes)?;
        }
        window.get_mut(..bytes)
    }

    fn unreadable(&self, chunk: &StoredChunk, fault: ReadFault) {
        let mut outcome = self.outcome();
        match fault {
            ReadFault::Codec(
                fault @ (CodecError::UnknownFilter { .. } | CodecError::NeedsLibrary { .. }),
            ) => outcome.no_filter.get_or_insert((Tally::default(), fault)).0.count(chunk),
            fault => {
                outcome.damaged.insert(chunk.raw, ChunkFault::Unreadable(fault));
            }
        }
    }

    /// Compares chunks that were read with what is known of them.
    fn compare(&self, batch: &[StoredChunk], read: &[bool], window: &[u8]) {
        let chunk_bytes = self.check.storage.raw.chunk_bytes();
        let each = window.chunks_exact(chunk_bytes.max(1));
        let there = batch.iter().zip(each).zip(read);
        let there: Vec<(&StoredChunk, &[u8])> =
            there.filter_map(|(chunk, &is_read)| is_read.then_some(chunk)).collect();
        self.outcome().bytes += (chunk_bytes as u64).saturating_mul(there.len() as u64);
        let parts: Vec<Option<Cow<'_, Trimmed>>> =
            there.iter().map(|(chunk, _)| self.parts_of(chunk.raw).next()).collect();
        let mut digests = self.side_by_side(&there, &parts).into_iter();
        for ((chunk, elements), first) in there.iter().zip(&parts) {
            let Some(first) = first else { continue };
            let known = if self.is_hashed(chunk.raw) { digests.next() } else { None };
            match self.proven(chunk.raw, elements, first, known) {
                Ok(Proof::Part(part)) if self.elements == Elements::Bytes => {
                    if !part.is_fill_outside(elements, &self.fill) {
                        self.outcome().padding.count(chunk);
                    }
                }
                Ok(Proof::Part(_)) => {}
                Ok(Proof::UnknownPart) => self.outcome().unproven.count(chunk),
                Ok(Proof::Gaps) => self.outcome().gaps.count(chunk),
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
        let hashed: Vec<Chunk<'_>> = hashed
            .filter_map(|(&(_, elements), part)| {
                Some(Chunk { elements, trimmed: part.as_deref()?, fill: &self.fill })
            })
            .collect();
        let digests = digest::of_chunks(&hashed, Threads::One);
        let of = |(digest, chunk): (Option<Digest>, &Chunk<'_>)| {
            digest.unwrap_or_else(|| {
                digest::of_elements(chunk.elements, self.fill.len(), chunk.trimmed)
            })
        };
        digests.into_iter().zip(&hashed).map(of).collect()
    }

    /// Whether a chunk is compared by its digest.
    fn is_hashed(&self, raw: RawChunk) -> bool {
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
    fn proven<'p>(
        &'p self,
        raw: RawChunk,
        elements: &[u8],
        first: &'p Trimmed,
        known: Option<Digest>,
    ) -> Result<Proof<'p>, ChunkFault> {
        if !self.is_hashed(raw) {
            if self.elements == Elements::Strings {
                self.digest(raw, elements, first)?;
            }
            return Ok(Proof::Part(Cow::Borrowed(first)));
        }
        let rows = self.check.rows.of(raw);
        let is_told = |digest: &Digest| rows.iter().any(|row| row.digest.as_ref() == Some(digest));
        let found = match known {
            Some(digest) => digest,
            None => self.digest(raw, elements, first)?,
        };
        if is_told(&found) {
            return Ok(Proof::Part(Cow::Borrowed(first)));
        }
        for part in self.parts_of(raw).skip(1) {
            if is_told(&self.digest(raw, elements, &part)?) {
                return Ok(Proof::Part(part));
            }
        }
        // Along axis 0 the row tells where a chunk ends, along others nobody.
        if !self.check.usage.is_used(raw) && self.check.storage.raw.chunk_shape().len() > 1 {
            return Ok(Proof::UnknownPart);
        }
        if self.check.storage.dtype.has_gaps() {
            return Ok(Proof::Gaps);
        }
        let expected = rows.iter().find_map(|row| row.digest).unwrap_or_default();
        Err(ChunkFault::Digest { expected, found })
    }

    /// The digest of a part of a chunk. Of strings `elements` are the references.
    fn digest(&self, raw: RawChunk, elements: &[u8], part: &Trimmed) -> Result<Digest, ChunkFault> {
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

    /// Raw chunks that versions use, that are not stored, and whose row is of something else than fill.
    fn missing(&self, stored: &[StoredChunk]) -> Vec<RawChunk> {
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
                if !digests.contains_key(&number) {
                    let Some(digest) = self.digest_of_fill(part, &mut chunk) else {
                        return missing;
                    };
                    digests.insert(number, digest);
                }
                let rows = self.check.rows.of(raw).iter();
                is_fill |= rows.map(|row| row.digest).any(|d| d.as_ref() == digests.get(&number));
            }
            if !is_fill {
                missing.push(raw);
            }
        }
        missing
    }

    /// The digest of a part of a chunk of fill; `chunk`: a whole one, once there is one. `None` without the memory for it.
    fn digest_of_fill(&self, part: &Trimmed, chunk: &mut Option<Vec<u8>>) -> Option<Digest> {
        if let (Elements::Strings, Fill::String(string)) = (self.elements, &self.check.storage.fill)
        {
            let strings = part.runs().flatten().map(|_| string.as_slice());
            return Some(digest::of_strings(strings, part));
        }
        if chunk.is_none() {
            let mut fill = zeroed(self.check.storage.raw.chunk_bytes())?;
            for element in fill.chunks_exact_mut(self.fill.len().max(1)) {
                element.copy_from_slice(&self.fill);
            }
            *chunk = Some(fill);
        }
        Some(digest::of_elements(chunk.as_deref()?, self.fill.len(), part))
    }
}

/// The part of a chunk with a shape.
fn part(shape: &[u64], chunk_shape: &[u64]) -> Trimmed {
    let first: Dims = shape.iter().map(|_| 0).collect();
    Trimmed::new(&first, shape, chunk_shape)
}
