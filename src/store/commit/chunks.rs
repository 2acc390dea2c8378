//! The chunks of one dataset on their way to the file:
//!
//! ```text
//! changed or brought ──► digest ──► known? ──► encode ──► H5Dwrite_chunk
//!   batch by batch      all cores   in order   all cores   one core, beside the next batch
//! ```
//!
//! Memory: two batches at most, one that is written and one that is made.
//!
//! libhdf5 changes the extent of `raw_data` once: for one batch to what it stores, for several to what they may store at
//! most. What they turn out not to need is taken back in the object header, when libhdf5 has closed the file.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::{self, Chunk, Digest, Trimmed};
use super::super::error::DatasetFault;
use super::super::stage::{Content, HANDLE, StageFault, StringArena, Strings};
use super::base_list::BaseList;
use super::chunk_bytes::{Buffers, ChunkBytes};
use super::early::ChunkDigests;
use super::hash_table::HashTable;
use super::meter::Meter;
use super::report::DatasetReport;
use super::reused::Reused;
use super::unchanged::Unchanged;
use crate::chunk_map::vds_block::ChunkSources;
use crate::codec::{Pipeline, Scratch};
use crate::dims::{ChunkIndex, RawChunk, chunk_grid, ravel, unravel};
use crate::ondisk::FieldWidth;
use crate::raw::{RawWriter, Threads};
use crate::staged::{Base, BaseChunk, ChunkState, StagedError};

/// Bytes of chunks that go through the stages together: of much data enough to share among threads without much waiting,
/// and few enough to stay in memory twice; of less data a part, so that batches run beside each other.
const BATCH_BYTES: RangeInclusive<usize> = 1 << 20..=8 << 20;

/// Batches that data is cut into, within these bounds.
const BATCHES: usize = 8;

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
    /// Where the mappings lead from and to.
    pub(super) sources: ChunkSources<'c>,
    /// Width of a length in the file; `None` where libhdf5 has to write the list of mappings.
    pub(super) length_size: Option<FieldWidth>,
    /// The digests of all staged chunks, if they were made before.
    pub(super) early: Option<ChunkDigests>,
    pub(super) buffers: Arc<Buffers>,
    pub(super) meter: &'c Meter<'c>,
}

/// A dataset's chunks once they are stored.
#[derive(Debug, Default)]
pub(super) struct StoredChunks {
    /// Which raw chunk stands behind which chunk, in rising order of chunks; only behind staged ones where there is a
    /// `base_list`.
    pub(super) map: Vec<(ChunkIndex, RawChunk)>,
    /// The list that has the other mappings.
    pub(super) base_list: Option<BaseList>,
    /// Number of raw chunks in use.
    pub(super) end: u64,
    /// Number of raw chunks for which there is room, if that was made for more than are in use now.
    pub(super) room: Option<u64>,
    pub(super) report: DatasetReport,
}

/// A chunk that has to be stored unless it is known.
struct Candidate<'c> {
    chunk: ChunkIndex,
    trimmed: Trimmed,
    elements: ChunkBytes<'c>,
    /// `None` if it holds nothing but the fill value.
    digest: Option<Digest>,
}

/// A chunk with its place.
struct Placed<'c> {
    raw: RawChunk,
    stored: Stored<'c>,
}

enum Stored<'c> {
    /// Bytes after the filters.
    Chunk { bytes: ChunkBytes<'c>, filter_mask: u32 },
    /// Strings, to which libhdf5 applies the filters.
    Strings { arena: Arc<StringArena>, handles: ChunkBytes<'c>, trimmed: Box<Trimmed> },
}

impl<'c> ChunkStore<'c> {
    /// Stores every chunk that is not stored yet.
    pub(super) fn run(mut self) -> Result<StoredChunks, DatasetFault> {
        let mut stored = StoredChunks { end: self.end, ..StoredChunks::default() };
        let base_list = self.base_list()?;
        if base_list.is_none() {
            self.keep_base(&mut stored.map)?;
        }
        let brought = self.brought()?;
        let candidates = brought.len() as u64 + self.content.array.staged_count() as u64;
        if candidates == 0 {
            return Ok(stored);
        }
        self.meter.expect(candidates);
        let changed = self.changed(&mut stored);
        let new = brought.len() + changed.len();
        let room = self.end.saturating_add(new as u64);
        let is_one_batch = self.content.strings.is_none() && new <= self.batch_chunks(new);
        if is_one_batch {
            self.store(changed, &brought, &mut stored, is_one_batch)?;
        } else {
            // Room for all of them at once: how many are known shows when others are stored already.
            self.writer.set_chunks(&h5strata_ffi::lock(), room)?;
            // On one of the threads that it uses: it has none to wake then, batch after batch.
            let threads = self.threads;
            threads.install(|| self.store(changed, &brought, &mut stored, is_one_batch))?;
        }
        stored.room = (!is_one_batch && stored.end != room).then_some(room);
        if base_list.is_some() && stored.map.len() as u64 != candidates {
            // Mappings go, too.
            self.keep_base(&mut stored.map)?;
        } else {
            stored.base_list = base_list;
        }
        stored.map.sort_unstable_by_key(|&(chunk, _)| chunk);
        let base = stored.base_list.as_ref();
        let count = base.map_or(stored.map.len() as u64, |base| base.mappings(&stored.map));
        stored.report.chunks_stored = count;
        Ok(stored)
    }

    /// The list of the base, if that of the dataset can be made from it.
    fn base_list(&self) -> Result<Option<BaseList>, DatasetFault> {
        let (Some(base), Some(length_size)) = (self.kept_base(), self.length_size) else {
            return Ok(None);
        };
        let most = RawChunk(self.end.saturating_add(self.content.array.staged_count() as u64));
        BaseList::find(self.content, base, self.sources, most, length_size)
    }

    /// The dataset of an older version that has the same stored chunks.
    fn kept_base(&self) -> Option<&'c Dataset> {
        self.content.base_dataset().filter(|dataset| dataset.raw_data().0 == self.raw_data)
    }

    /// Maps the chunks of an older version that are as they were.
    fn keep_base(&self, map: &mut Vec<(ChunkIndex, RawChunk)>) -> Result<(), DatasetFault> {
        let Some(base) = self.kept_base() else { return Ok(()) };
        let stored = base.inner.whole_map()?.iter();
        let array = &self.content.array;
        if array.has_grid_of_base() {
            map.extend(stored.filter(|&(chunk, _)| !array.is_staged(chunk)));
            return Ok(());
        }
        let grid = base.chunk_grid();
        map.extend(stored.filter_map(|(there, raw)| Some((self.here(grid, there)?, raw))));
        Ok(())
    }

    /// Where a chunk of a base of this grid stands in the grid of the staged array; `None` if it was changed or cut off.
    fn here(&self, grid: &[u64], there: ChunkIndex) -> Option<ChunkIndex> {
        let array = &self.content.array;
        let here = ravel(&unravel(there.0, grid), array.grid()).map(ChunkIndex)?;
        matches!(array.state(here), ChunkState::Base(chunk) if chunk == there).then_some(here)
    }

    /// The chunks that the base has to bring, here and in the grid of the base, in rising order.
    fn brought(&self) -> Result<Vec<(ChunkIndex, ChunkIndex)>, DatasetFault> {
        let array = &self.content.array;
        let Some(base) = array.base().filter(|_| self.kept_base().is_none()) else {
            return Ok(Vec::new());
        };
        let stored = base.stored().map_err(|error| StageFault::from(StagedError::Base(error)))?;
        if let Some(stored) = stored {
            let grid = chunk_grid(base.shape(), base.chunk_shape())
                .map_err(|error| StageFault::from(StagedError::Dims(error)))?;
            let brought = stored.into_iter().filter_map(|at| Some((self.here(&grid, at)?, at)));
            return Ok(brought.collect());
        }
        let here = (0..array.grid().iter().product()).map(ChunkIndex);
        let brought = here.filter_map(|here| match array.state(here) {
            ChunkState::Base(there) => Some((here, there)),
            ChunkState::Fill | ChunkState::Staged(_) => None,
        });
        Ok(brought.collect())
    }

    /// The staged chunks that are not as they were before; the others are stored already.
    fn changed(&self, stored: &mut StoredChunks) -> Vec<(ChunkIndex, ChunkBytes<'c>)> {
        let staged: Vec<_> = self.content.array.staged().collect();
        let base = self.kept_base();
        let unchanged =
            base.and_then(|base| Unchanged::new(self.content, base, self.threads, staged.len()));
        let as_before = unchanged.map(|unchanged| unchanged.find(&staged)).unwrap_or_default();
        let mut as_before = as_before.into_iter();
        let mut changed = Vec::with_capacity(staged.len());
        for (chunk, elements) in staged {
            match as_before.next().flatten() {
                Some(raw) => {
                    stored.report.chunks_reused += 1;
                    stored.map.push((chunk, raw));
                    self.meter.count(1);
                }
                None => changed.push((chunk, ChunkBytes::Own(Arc::clone(elements)))),
            }
        }
        changed
    }

    /// Takes the changed chunks and those that the base has to bring through the stages, batch by batch.
    fn store(
        &mut self,
        changed: Vec<(ChunkIndex, ChunkBytes<'c>)>,
        brought: &[(ChunkIndex, ChunkIndex)],
        stored: &mut StoredChunks,
        is_one_batch: bool,
    ) -> Result<(), DatasetFault> {
        let content = self.content;
        let output = Output {
            writer: self.writer,
            meter: self.meter,
            buffers: Arc::clone(&self.buffers),
            makes_room: is_one_batch,
        };
        let mut early = self.early.take();
        let size = self.batch_chunks(changed.len() + brought.len());
        let mut waiting = Vec::new();
        let mut changed = changed.into_iter().peekable();
        while changed.peek().is_some() {
            let batch: Vec<_> = changed.by_ref().take(size).collect();
            waiting = self.write_beside(&output, waiting, |store| {
                let digests = early.as_mut().map(|early| early.drain(..batch.len()).collect());
                let candidates = store.candidates(batch, digests);
                store.place(candidates, stored)
            })?;
        }
        // A batch of strings is a chunk: what it takes in memory is not known before it is there.
        let size = if content.strings.is_some() { 1 } else { size };
        for batch in brought.chunks(size) {
            let before = content.strings.as_ref().map(|strings| strings.read().mark());
            waiting = self.write_beside(&output, waiting, |store| {
                let candidates = store.candidates(store.bring(batch)?, None);
                store.place(candidates, stored)
            })?;
            if let (Some(strings), Some(before)) = (&content.strings, before) {
                output.write(std::mem::take(&mut waiting))?;
                strings.write().back_to(before);
            }
        }
        output.write(waiting)
    }

    /// Makes the next batch while the one before is written.
    fn write_beside(
        &mut self,
        output: &Output<'_>,
        before: Vec<Placed<'c>>,
        make: impl FnOnce(&mut Self) -> Result<Vec<Placed<'c>>, DatasetFault>,
    ) -> Result<Vec<Placed<'c>>, DatasetFault> {
        if before.is_empty() {
            return make(self);
        }
        let mut written = Ok(());
        let write = || written = output.write(before);
        let made = self.threads.beside(write, || make(self));
        written.and(made)
    }

    /// How many of so many chunks go through the stages together.
    fn batch_chunks(&self, chunks: usize) -> usize {
        let (least, most) = (*BATCH_BYTES.start(), *BATCH_BYTES.end());
        let chunk_bytes = self.content.settings.chunk_bytes().unwrap_or(most).max(1);
        let bytes = (chunks.saturating_mul(chunk_bytes) / BATCHES).clamp(least, most);
        let threads = self.threads.count();
        let size = (bytes / chunk_bytes).clamp(threads, BATCH_CHUNKS);
        // No group of chunks that get their digests together is cut, and no thread waits for one.
        let round = threads * digest::together();
        if size > round { size - size % round } else { size }
    }

    /// Has the base bring chunks, here and in the grid of the base.
    fn bring(
        &self,
        batch: &[(ChunkIndex, ChunkIndex)],
    ) -> Result<Vec<(ChunkIndex, ChunkBytes<'c>)>, DatasetFault> {
        let Some(base) = self.content.array.base() else { return Ok(Vec::new()) };
        let lent = |&(here, there): &(ChunkIndex, ChunkIndex)| {
            Some((here, ChunkBytes::Lent(base.in_place(there)?)))
        };
        if let Some(lent) = batch.iter().map(lent).collect() {
            return Ok(lent);
        }
        let wanted: Vec<ChunkIndex> = batch.iter().map(|&(_, there)| there).collect();
        let brought: Vec<Mutex<Option<(ChunkIndex, ChunkBytes<'c>)>>> =
            batch.iter().map(|_| Mutex::default()).collect();
        let visit = |position: usize, chunk: BaseChunk<'_>| {
            if let (BaseChunk::Bytes(bytes), Some(&(here, _)), Some(place)) =
                (chunk, batch.get(position), brought.get(position))
            {
                let mut elements = self.buffers.take();
                elements.extend_from_slice(bytes);
                self.trimmed(here)
                    .fill_outside(&mut elements, self.content.settings.element_fill());
                *place.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some((here, elements.into()));
            }
            ControlFlow::Continue(())
        };
        self.threads
            .install(|| base.visit(&wanted, &visit))
            .map_err(|error| StageFault::from(StagedError::Base(error)))?;
        let take =
            |place: Mutex<Option<_>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(brought.into_iter().filter_map(take).collect())
    }

    fn trimmed(&self, chunk: ChunkIndex) -> Trimmed {
        Trimmed::of(chunk, &self.content.array)
    }

    /// Chunks with their digests, which are made unless they are given.
    fn candidates(
        &self,
        chunks: Vec<(ChunkIndex, ChunkBytes<'c>)>,
        digests: Option<ChunkDigests>,
    ) -> Vec<Candidate<'c>> {
        let trimmed: Vec<Trimmed> = chunks.iter().map(|&(chunk, _)| self.trimmed(chunk)).collect();
        let digests = digests.unwrap_or_else(|| match &self.content.strings {
            None => {
                let fill = self.content.settings.element_fill();
                let chunks: Vec<Chunk<'_>> = (chunks.iter().zip(&trimmed))
                    .map(|((_, elements), trimmed)| Chunk { elements, trimmed, fill })
                    .collect();
                digest::of_chunks(&chunks, self.threads)
            }
            Some(arena) => {
                let arena = arena.read();
                let chunks = chunks.par_iter().zip(&trimmed);
                let digest = |((_, handles), trimmed): (&(_, ChunkBytes<'_>), &Trimmed)| {
                    let inside = strings_of(&arena, handles, trimmed);
                    // As for elements of fixed size.
                    let filled =
                        trimmed.is_whole() && inside.iter().all(|string| string.is_empty());
                    (!filled).then(|| digest::of_strings(inside.into_iter(), trimmed))
                };
                self.threads.install(|| chunks.map(digest).collect())
            }
        });
        let candidates = chunks.into_iter().zip(trimmed).zip(digests);
        candidates
            .map(|(((chunk, elements), trimmed), digest)| Candidate {
                chunk,
                trimmed,
                elements,
                digest,
            })
            .collect()
    }

    /// Gives each chunk that is not known its place, in order, and encodes it.
    fn place(
        &mut self,
        candidates: Vec<Candidate<'c>>,
        stored: &mut StoredChunks,
    ) -> Result<Vec<Placed<'c>>, DatasetFault> {
        let mut new = Vec::new();
        let count = candidates.len();
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
        self.meter.count(count - new.len());
        let placed = self.encode(new)?;
        stored.report.bytes_written += placed.iter().map(|one| one.stored.size()).sum::<u64>();
        Ok(placed)
    }

    /// The stored chunk that is equal to a candidate.
    fn known(
        &mut self,
        digest: &Digest,
        candidate: &Candidate<'_>,
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

    fn encode(&self, new: Vec<(RawChunk, Candidate<'c>)>) -> Result<Vec<Placed<'c>>, DatasetFault> {
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
        let encode = |scratch: &mut Scratch, (raw, one): (RawChunk, Candidate<'c>)| {
            let mut bytes = self.buffers.take();
            let encoded = self.pipeline.encode(&one.elements, scratch, &mut bytes);
            let filter_mask = encoded.map_err(|error| {
                let coordinate = unravel(one.chunk.0, self.content.array.grid()).to_vec();
                DatasetFault::Encode { coordinate, error }
            })?;
            self.buffers.give(one.elements);
            Ok(Placed { raw, stored: Stored::Chunk { bytes: bytes.into(), filter_mask } })
        };
        let chunk_bytes = self.content.settings.chunk_bytes().unwrap_or(0);
        if !self.threads.are_worth(new.len().saturating_mul(chunk_bytes)) {
            let mut scratch = Scratch::default();
            return new.into_iter().map(|one| encode(&mut scratch, one)).collect();
        }
        self.threads.install(|| new.into_par_iter().map_init(Scratch::default, encode).collect())
    }
}

impl Stored<'_> {
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

/// Where chunks go in the end.
struct Output<'c> {
    writer: &'c RawWriter,
    meter: &'c Meter<'c>,
    buffers: Arc<Buffers>,
    /// Whether there is no room for the chunks yet.
    makes_room: bool,
}

impl Output<'_> {
    fn write(&self, batch: Vec<Placed<'_>>) -> Result<(), DatasetFault> {
        let Self { writer, meter, buffers, makes_room } = self;
        if let (true, Some(last)) = (makes_room, batch.last()) {
            // Just as much as is needed: libhdf5 searches for each chunk whose room is given back.
            writer.set_chunks(&h5strata_ffi::lock(), last.raw.0.saturating_add(1))?;
        }
        for Placed { raw, stored } in batch {
            match stored {
                Stored::Chunk { bytes, filter_mask } => {
                    writer.write(&h5strata_ffi::lock(), raw, filter_mask, &bytes)?;
                    buffers.give(bytes);
                }
                Stored::Strings { arena, handles, trimmed } => {
                    let arena = arena.read();
                    let strings = strings_of(&arena, &handles, &trimmed);
                    let lock = h5strata_ffi::lock();
                    writer.write_strings(&lock, raw, &trimmed.shape, &strings)?;
                }
            }
            meter.count(1);
        }
        Ok(())
    }
}
