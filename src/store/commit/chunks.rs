//! The chunks of one dataset on their way to the file:
//!
//! ```text
//! staged or brought ──► digest ──► known? ──► encode ──► H5Dwrite_chunk
//!   batch by batch     all cores   in order   all cores   one thread, beside the next batch
//! ```
//!
//! Memory: three batches at most, one in each of the last two stages and one in between.

use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::{self, Digest, Trimmed};
use super::super::error::DatasetFault;
use super::super::stage::{Content, HANDLE, StageFault, StringArena, Strings};
use super::hash_table::HashTable;
use super::report::DatasetReport;
use super::reused::Reused;
use crate::codec::{Pipeline, Scratch};
use crate::dims::{ChunkIndex, Dims, RawChunk, ravel, unravel};
use crate::raw::{RawWriter, Threads};
use crate::staged::{Base, BaseChunk, ChunkState, StagedError};

/// Bytes of chunks that go through the stages together: enough to share among threads, few enough to stay in memory
/// three times.
const BATCH_BYTES: usize = 4 << 20;

/// Chunks that go through the stages together, at most.
const BATCH_CHUNKS: usize = 4096;

/// What the chunks of a dataset are stored with and in.
pub(super) struct ChunkStore<'c> {
    /// Path of the dataset of stored chunks.
    pub(super) raw_data: &'c str,
    pub(super) content: &'c Content,
    pub(super) pipeline: &'c Pipeline,
    pub(super) writer: &'c RawWriter,
    pub(super) table: &'c mut HashTable,
    pub(super) threads: Threads<'c>,
    /// Number of raw chunks in use.
    pub(super) end: u64,
    /// Compares chunks before they are used again, if that was asked for.
    pub(super) reused: Option<Reused<'c>>,
    pub(super) buffers: Arc<Buffers>,
}

/// Memory of chunks that are written, for those that come after them: fresh memory costs its page faults.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// An empty buffer.
    fn take(&self) -> Vec<u8> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a chunk back, unless somebody else still has it.
    fn give(&self, chunk: Arc<Vec<u8>>) {
        if let Ok(mut buffer) = Arc::try_unwrap(chunk) {
            buffer.clear();
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}

/// A dataset's chunks once they are stored.
#[derive(Debug, Default)]
pub(super) struct StoredChunks {
    /// Which raw chunk stands behind which chunk, in rising order of chunks.
    pub(super) map: Vec<(ChunkIndex, RawChunk)>,
    /// Number of raw chunks in use.
    pub(super) end: u64,
    pub(super) report: DatasetReport,
}

/// A chunk that has to be stored unless it is known.
struct Candidate {
    chunk: ChunkIndex,
    trimmed: Trimmed,
    elements: Arc<Vec<u8>>,
    /// `None` if it holds nothing but the fill value.
    digest: Option<Digest>,
}

/// A chunk with its place.
struct Placed {
    raw: RawChunk,
    stored: Stored,
}

enum Stored {
    /// Bytes after the filters.
    Chunk { bytes: Arc<Vec<u8>>, filter_mask: u32 },
    /// Strings, to which libhdf5 applies the filters.
    Strings { arena: Arc<StringArena>, handles: Arc<Vec<u8>>, trimmed: Box<Trimmed> },
}

impl ChunkStore<'_> {
    /// Stores every chunk that is not stored yet.
    pub(super) fn run(mut self) -> Result<StoredChunks, DatasetFault> {
        let mut stored = StoredChunks { end: self.end, ..StoredChunks::default() };
        self.keep_base(&mut stored.map)?;
        let brought = self.brought()?;
        let candidates = brought.len() as u64 + self.content.array.staged_count() as u64;
        if candidates == 0 {
            return Ok(stored);
        }
        // Room for all of them at once; what turns out to be known is given back in the end.
        self.writer.set_chunks(&h5strata_ffi::lock(), self.end.saturating_add(candidates))?;
        self.store(&brought, &mut stored)?;
        if stored.end != self.end.saturating_add(candidates) {
            self.writer.set_chunks(&h5strata_ffi::lock(), stored.end)?;
        }
        stored.map.sort_unstable_by_key(|&(chunk, _)| chunk);
        stored.report.chunks_stored = stored.map.len() as u64;
        Ok(stored)
    }

    /// The dataset of an older version that has the same stored chunks.
    fn kept_base(&self) -> Option<&Dataset> {
        self.content.base_dataset().filter(|dataset| dataset.raw_data().0 == self.raw_data)
    }

    /// Maps the chunks of an older version that are as they were.
    fn keep_base(&self, map: &mut Vec<(ChunkIndex, RawChunk)>) -> Result<(), DatasetFault> {
        let Some(base) = self.kept_base() else { return Ok(()) };
        let stored = base.inner.whole_map()?.iter();
        map.extend(stored.filter_map(|(there, raw)| Some((self.here(base, there)?, raw))));
        Ok(())
    }

    /// Where a chunk of a base dataset stands in the grid of the staged array; `None` if it was changed or cut off.
    fn here(&self, base: &Dataset, there: ChunkIndex) -> Option<ChunkIndex> {
        let array = &self.content.array;
        let here = ravel(&unravel(there.0, base.chunk_grid()), array.grid()).map(ChunkIndex)?;
        matches!(array.state(here), ChunkState::Base(chunk) if chunk == there).then_some(here)
    }

    /// The chunks that the base has to bring, here and in the grid of the base, in rising order.
    fn brought(&self) -> Result<Vec<(ChunkIndex, ChunkIndex)>, DatasetFault> {
        let array = &self.content.array;
        if array.base().is_none() || self.kept_base().is_some() {
            return Ok(Vec::new());
        }
        if let Some(base) = self.content.base_dataset() {
            let stored = base.inner.whole_map()?.iter();
            return Ok(stored
                .filter_map(|(there, _)| Some((self.here(base, there)?, there)))
                .collect());
        }
        let here = (0..array.grid().iter().product()).map(ChunkIndex);
        let brought = here.filter_map(|here| match array.state(here) {
            ChunkState::Base(there) => Some((here, there)),
            ChunkState::Fill | ChunkState::Staged(_) => None,
        });
        Ok(brought.collect())
    }

    fn store(
        &mut self,
        brought: &[(ChunkIndex, ChunkIndex)],
        stored: &mut StoredChunks,
    ) -> Result<(), DatasetFault> {
        let content = self.content;
        let size = BATCH_BYTES / content.settings.chunk_bytes().unwrap_or(BATCH_BYTES).max(1);
        let size = size.clamp(self.threads.count(), BATCH_CHUNKS);
        let staged: Vec<_> = content.array.staged().collect();
        let (writer, buffers) = (self.writer, Arc::clone(&self.buffers));
        // Strings are let go batch by batch, so none of them may wait for another thread.
        let few = content.strings.is_some() || staged.len() + brought.len() <= size;
        if few || matches!(self.threads, Threads::One) {
            let mut write = |batch| write_all(writer, &buffers, batch);
            return self.batches(size, &staged, brought, stored, &mut write);
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            let written = scope.spawn(|| {
                receiver.into_iter().try_for_each(|batch| write_all(writer, &buffers, batch))
            });
            let mut send = |batch| sender.send(batch).map_err(|_| DatasetFault::WriterStopped);
            let sent = self.batches(size, &staged, brought, stored, &mut send);
            drop(sender);
            // A failure to write ends the batches too, and is the one to tell of.
            written.join().unwrap_or(Err(DatasetFault::WriterStopped)).and(sent)
        })
    }

    /// Takes batches of chunks through the stages, the last of which is `write`.
    fn batches(
        &mut self,
        size: usize,
        staged: &[(ChunkIndex, &Arc<Vec<u8>>)],
        brought: &[(ChunkIndex, ChunkIndex)],
        stored: &mut StoredChunks,
        write: &mut dyn FnMut(Vec<Placed>) -> Result<(), DatasetFault>,
    ) -> Result<(), DatasetFault> {
        for batch in staged.chunks(size) {
            let one = |&(chunk, elements): &(ChunkIndex, &Arc<Vec<u8>>)| {
                self.candidate(chunk, Arc::clone(elements))
            };
            let candidates = self.threads.install(|| batch.par_iter().map(one).collect());
            write(self.place(candidates, stored)?)?;
        }
        for batch in brought.chunks(size) {
            let before = self.content.strings.as_ref().map(|strings| strings.read().mark());
            let candidates = self.bring(batch)?;
            write(self.place(candidates, stored)?)?;
            if let (Some(strings), Some(before)) = (&self.content.strings, before) {
                strings.write().back_to(before);
            }
        }
        Ok(())
    }

    /// Has the base bring chunks, which become candidates at once.
    fn bring(&self, batch: &[(ChunkIndex, ChunkIndex)]) -> Result<Vec<Candidate>, DatasetFault> {
        let Some(base) = self.content.array.base() else { return Ok(Vec::new()) };
        let wanted: Vec<ChunkIndex> = batch.iter().map(|&(_, there)| there).collect();
        let candidates: Vec<Mutex<Option<Candidate>>> =
            batch.iter().map(|_| Mutex::default()).collect();
        let visit = |position: usize, chunk: BaseChunk<'_>| {
            if let (BaseChunk::Bytes(bytes), Some(&(here, _)), Some(place)) =
                (chunk, batch.get(position), candidates.get(position))
            {
                let mut elements = self.buffers.take();
                elements.extend_from_slice(bytes);
                self.trimmed(here)
                    .fill_outside(&mut elements, self.content.settings.element_fill());
                let candidate = self.candidate(here, Arc::new(elements));
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(candidate);
            }
            ControlFlow::Continue(())
        };
        self.threads
            .install(|| base.visit(&wanted, &visit))
            .map_err(|error| StageFault::from(StagedError::Base(error)))?;
        let take = |place: Mutex<Option<Candidate>>| {
            place.into_inner().unwrap_or_else(PoisonError::into_inner)
        };
        Ok(candidates.into_iter().filter_map(take).collect())
    }

    fn trimmed(&self, chunk: ChunkIndex) -> Trimmed {
        let array = &self.content.array;
        let coordinate: Dims = unravel(chunk.0, array.grid());
        Trimmed::new(&coordinate, array.shape(), array.chunk_shape())
    }

    fn candidate(&self, chunk: ChunkIndex, elements: Arc<Vec<u8>>) -> Candidate {
        let trimmed = self.trimmed(chunk);
        // versioned-hdf5 looks for the digest of a whole chunk of fill: an edge chunk is stored whatever it
        // holds, and files have the same chunks whoever has written them.
        let may_be_fill = trimmed.is_whole();
        let digest = match &self.content.strings {
            None => {
                let fill = self.content.settings.element_fill();
                let filled = may_be_fill && digest::is_fill(&elements, fill, &trimmed);
                (!filled).then(|| digest::of_elements(&elements, fill.len(), &trimmed))
            }
            Some(arena) => {
                let arena = arena.read();
                let inside = strings_of(&arena, &elements, &trimmed);
                let filled = may_be_fill && inside.iter().all(|string| string.is_empty());
                (!filled).then(|| digest::of_strings(inside.into_iter(), &trimmed))
            }
        };
        Candidate { chunk, trimmed, elements, digest }
    }

    /// Gives each chunk that is not known its place, in order, and encodes it.
    fn place(
        &mut self,
        candidates: Vec<Candidate>,
        stored: &mut StoredChunks,
    ) -> Result<Vec<Placed>, DatasetFault> {
        let mut new = Vec::new();
        for candidate in candidates {
            let Some(digest) = candidate.digest else {
                stored.report.chunks_filled += 1;
                continue;
            };
            if let Some(raw) = self.known(&digest, &candidate, &mut stored.report)? {
                stored.report.chunks_reused += 1;
                stored.map.push((candidate.chunk, raw));
                continue;
            }
            let raw = RawChunk(stored.end);
            stored.end += 1;
            stored.report.chunks_written += 1;
            let rows = candidate.trimmed.shape.first().copied().unwrap_or(0);
            self.table.add(digest, raw, rows);
            stored.map.push((candidate.chunk, raw));
            new.push((raw, candidate));
        }
        let placed = self.encode(new)?;
        stored.report.bytes_written += placed.iter().map(|one| one.stored.size()).sum::<u64>();
        Ok(placed)
    }

    /// The stored chunk that is equal to a candidate.
    fn known(
        &mut self,
        digest: &Digest,
        candidate: &Candidate,
        report: &mut DatasetReport,
    ) -> Result<Option<RawChunk>, DatasetFault> {
        let Some(raw) = self.table.find(digest) else { return Ok(None) };
        let Some(reused) = self.reused.as_ref().filter(|_| raw.0 < self.end) else {
            return Ok(Some(raw));
        };
        let equal = match &self.content.strings {
            None => reused.has_elements(raw, &candidate.elements, &candidate.trimmed)?,
            Some(arena) => {
                let arena = arena.read();
                let strings = strings_of(&arena, &candidate.elements, &candidate.trimmed);
                reused.has_strings(raw, &strings, &candidate.trimmed)
            }
        };
        if equal {
            return Ok(Some(raw));
        }
        report.chunks_mismatched.push(raw.0);
        Ok(None)
    }

    fn encode(&self, new: Vec<(RawChunk, Candidate)>) -> Result<Vec<Placed>, DatasetFault> {
        if let Some(arena) = &self.content.strings {
            let strings = |(raw, Candidate { elements: handles, trimmed, .. })| Placed {
                raw,
                stored: Stored::Strings {
                    arena: Arc::clone(arena),
                    handles,
                    trimmed: Box::new(trimmed),
                },
            };
            return Ok(new.into_iter().map(strings).collect());
        }
        if self.pipeline.is_empty() {
            let whole = |(raw, Candidate { elements: bytes, .. })| Placed {
                raw,
                stored: Stored::Chunk { bytes, filter_mask: 0 },
            };
            return Ok(new.into_iter().map(whole).collect());
        }
        let encode = |scratch: &mut Scratch, (raw, one): (RawChunk, Candidate)| {
            let mut bytes = self.buffers.take();
            let encoded = self.pipeline.encode(&one.elements, scratch, &mut bytes);
            let filter_mask = encoded.map_err(|error| {
                let coordinate = unravel(one.chunk.0, self.content.array.grid()).to_vec();
                DatasetFault::Encode { coordinate, error }
            })?;
            self.buffers.give(one.elements);
            Ok(Placed { raw, stored: Stored::Chunk { bytes: Arc::new(bytes), filter_mask } })
        };
        self.threads.install(|| new.into_par_iter().map_init(Scratch::default, encode).collect())
    }
}

impl Stored {
    /// Bytes that the file gets.
    fn size(&self) -> u64 {
        match self {
            Self::Chunk { bytes, .. } => bytes.len() as u64,
            Self::Strings { arena, handles, trimmed } => {
                let arena = arena.read();
                strings_of(&arena, handles, trimmed).iter().map(|string| string.len() as u64).sum()
            }
        }
    }
}

/// The strings of a chunk that are inside the bounds, in C order.
fn strings_of<'s>(arena: &'s Strings, handles: &[u8], trimmed: &Trimmed) -> Vec<&'s [u8]> {
    trimmed
        .byte_runs(HANDLE)
        .flat_map(|run| handles.get(run).unwrap_or_default().chunks_exact(HANDLE))
        .map(|handle| arena.get(handle))
        .collect()
}

fn write_all(
    writer: &RawWriter,
    buffers: &Buffers,
    batch: Vec<Placed>,
) -> Result<(), DatasetFault> {
    let last = batch.last().map(|placed| placed.raw);
    for Placed { raw, stored } in batch {
        match stored {
            Stored::Chunk { bytes, filter_mask } => {
                writer.write(&h5strata_ffi::lock(), raw, filter_mask, &bytes)?;
                buffers.give(bytes);
            }
            Stored::Strings { arena, handles, trimmed } => {
                let arena = arena.read();
                let strings = strings_of(&arena, &handles, &trimmed);
                writer.write_strings(&h5strata_ffi::lock(), raw, &trimmed.shape, &strings)?;
            }
        }
    }
    if let Some(last) = last {
        writer.forget_last(&h5strata_ffi::lock(), last);
    }
    Ok(())
}
