//! Staged chunks that hold what they held before.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::Trimmed;
use super::super::stage::Content;
use crate::chunk_map::ChunkMap;
use crate::dims::{ChunkIndex, RawChunk};
use crate::raw::Threads;

/// Bytes that are read before they are compared: what stays in a core's own cache.
const WINDOW: usize = 128 << 10;

/// Parts of the work for each thread, so that none waits long for the others.
const PARTS: usize = 4;

/// Chunks by which it shows whether most are as they were.
const SAMPLE: usize = 16;

/// Staged chunks of which a sample is taken. Fewer are not compared.
pub(super) const MANY: usize = 2 * SAMPLE;

/// A staged chunk and its elements.
type StagedChunk<'c> = (ChunkIndex, &'c Arc<Vec<u8>>);

/// Looks for staged chunks that hold what the base has in their place: where it is stored without filters it is read
/// and compared in less time than a digest takes. Whoever writes back all that he has read changes few of them.
pub(super) struct Unchanged<'c> {
    content: &'c Content,
    base: &'c Dataset,
    threads: Threads<'c>,
}

impl<'c> Unchanged<'c> {
    /// Of a dataset that keeps the stored chunks of `base` and has so many staged chunks; `None` where a look at the
    /// base does not pay.
    pub(super) fn new(
        content: &'c Content,
        base: &'c Dataset,
        threads: Threads<'c>,
        staged: usize,
    ) -> Option<Self> {
        let is_plain = base.inner.storage.raw.pipeline().is_empty() && content.strings.is_none();
        (is_plain && staged >= MANY).then_some(Self { content, base, threads })
    }

    /// For each of the staged chunks the raw chunk that the base has in its place, if it holds the same; none if a sample
    /// shows that few do.
    pub(super) fn find(&self, chunks: &[StagedChunk<'_>]) -> Vec<Option<RawChunk>> {
        let (sample, rest) = chunks.split_at(SAMPLE.min(chunks.len()));
        let mut found = self.compare(sample);
        if found.iter().flatten().count() >= sample.len().div_ceil(2) {
            found.append(&mut self.compare(rest));
        }
        found
    }

    fn compare(&self, chunks: &[StagedChunk<'_>]) -> Vec<Option<RawChunk>> {
        let Ok(map) = self.base.inner.whole_map() else { return vec![None; chunks.len()] };
        let chunk_bytes = self.base.inner.storage.raw.chunk_bytes();
        let in_window = (WINDOW / chunk_bytes.max(1)).max(1);
        let compare = |part: &[StagedChunk<'_>]| -> Vec<Option<RawChunk>> {
            let mut window = Vec::new();
            let windows = part.chunks(in_window);
            windows.flat_map(|chunks| self.compare_part(map, chunks, &mut window)).collect()
        };
        if !self.threads.are_worth(chunks.len().saturating_mul(chunk_bytes)) {
            return compare(chunks);
        }
        let part = chunks.len().div_ceil(self.threads.count() * PARTS).max(in_window);
        let found: Vec<_> = self.threads.install(|| chunks.par_chunks(part).map(compare).collect());
        found.into_iter().flatten().collect()
    }

    /// As [`compare`](Self::compare), all of them at once.
    fn compare_part(
        &self,
        map: &ChunkMap,
        chunks: &[StagedChunk<'_>],
        window: &mut Vec<u8>,
    ) -> Vec<Option<RawChunk>> {
        let array = &self.content.array;
        let in_base = chunks.iter().map(|&(chunk, _)| array.in_base(chunk)).collect::<Vec<_>>();
        let wanted: Vec<ChunkIndex> = in_base.iter().copied().flatten().collect();
        let chunk_bytes = self.base.inner.storage.raw.chunk_bytes();
        window.resize(wanted.len().saturating_mul(chunk_bytes), 0);
        if self.base.inner.fetch_chunks(map, &wanted, window).is_err() {
            // What cannot be read is no help, and may well be written anew.
            return vec![None; chunks.len()];
        }
        let mut stored = window.chunks_exact(chunk_bytes);
        let same = chunks.iter().zip(in_base).map(|(&(chunk, elements), there)| {
            let there = there?;
            let stored = stored.next()?;
            let trimmed = Trimmed::of(chunk, array);
            let mut runs = trimmed.byte_runs(array.element_size());
            let is_same = runs.all(|run| stored.get(run.clone()) == elements.get(run));
            if is_same { map.get(there) } else { None }
        });
        same.collect()
    }
}
