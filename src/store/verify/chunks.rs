//! Stored chunks on their way through the threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::commit::Meter;
use super::super::digest::{self, Trimmed};
use super::super::file::FileInner;
use super::super::names::{RAW_DATA, ROOT};
use super::super::storage::Storage;
use super::Verifier;
use super::fault::ChunkFault;
use super::finding::Finding;
use super::rows::Rows;
use super::storage::{Damaged, Tally};
use super::usage::Usage;
use crate::codec::CodecError;
use crate::dims::Dims;
use crate::memory::zeroed;
use crate::raw::{ReadFault, StoredChunk, Threads};

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
pub(super) enum Elements {
    Bytes,
    Strings,
    /// Addresses in the file, of which nothing is known but that they can be read.
    Pointers,
}

/// The chunks of one `raw_data`, on their way through the threads.
pub(super) struct Work<'w> {
    pub(super) file: &'w FileInner,
    pub(super) check: ChunkCheck<'w>,
    pub(super) elements: Elements,
    /// Whether digests are of the recipe that is known.
    pub(super) compares: bool,
    chunks: &'w [StoredChunk],
    /// The parts of chunks that versions have, by the numbers of their extents.
    pub(super) parts: Vec<Trimmed>,
    /// An element of fill as chunks have it in memory.
    pub(super) fill: Vec<u8>,
    /// Chunks that are taken at once.
    group: usize,
    next: AtomicUsize,
    meter: Meter<'w>,
    outcome: Mutex<Outcome>,
}

#[derive(Default)]
pub(super) struct Outcome {
    pub(super) damaged: Damaged,
    pub(super) padding: Tally,
    pub(super) unproven: Tally,
    pub(super) inexact: Tally,
    no_filter: Option<(Tally, CodecError)>,
    /// Bytes of the chunks that could be read.
    pub(super) bytes: u64,
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
        work.spread(&|batch, read, window| work.compare(batch, read, window));
        let missing = work.missing(stored);
        let Outcome { damaged: found, padding, unproven, inexact, no_filter, bytes } =
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
            inexact.of(path).map(Finding::Inexact),
        ];
        self.report.findings.extend(findings.into_iter().flatten());
    }
}

impl<'w> Work<'w> {
    pub(super) fn new(
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

    /// Has `look` look at all chunks on all threads, some at a time: which of them could be read, and their elements one
    /// after the other.
    pub(super) fn spread(&self, look: &(impl Fn(&[StoredChunk], &[bool], &[u8]) + Sync)) {
        let threads = self.file.threads();
        let batches = self.chunks.len().div_ceil(self.group);
        threads.spread(threads.count().min(batches) as u64, || self.run(look));
    }

    /// Takes chunks until none is left.
    fn run(&self, look: &impl Fn(&[StoredChunk], &[bool], &[u8])) {
        let mut window = Vec::new();
        loop {
            let start = self.next.fetch_add(self.group, Ordering::Relaxed);
            let end = start.saturating_add(self.group).min(self.chunks.len());
            let Some(batch) = self.chunks.get(start..end).filter(|batch| !batch.is_empty()) else {
                return;
            };
            let read = self.read(batch, &mut window);
            look(batch, &read, &window);
            self.meter.count(batch.len());
        }
    }

    pub(super) fn outcome(&self) -> std::sync::MutexGuard<'_, Outcome> {
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
}

/// The part of a chunk with a shape.
pub(super) fn part(shape: &[u64], chunk_shape: &[u64]) -> Trimmed {
    let first: Dims = shape.iter().map(|_| 0).collect();
    Trimmed::new(&first, shape, chunk_shape)
}
