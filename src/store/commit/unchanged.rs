//! Staged chunks that hold what they held before.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::digest::Trimmed;
use super::super::stage::Content;
use crate::dims::{ChunkIndex, RawChunk};
use crate::memory::zeroed;
use crate::raw::Threads;

/// Chunks by which it shows whether most are as they were.
const SAMPLE: usize = 16;

/// A staged chunk and its elements.
pub(super) type StagedChunk<'c> = (ChunkIndex, &'c Arc<Vec<u8>>);

/// Looks for staged chunks that hold what the base has in their place: where it is stored without filters it is read
/// and compared in less time than a digest takes. Whoever writes back all that he has read changes few of them.
pub(super) struct Unchanged<'c> {
    content: &'c Content,
    base: &'c Dataset,
    threads: Threads<'c>,
    /// Whether that is worth it, once a sample has shown it.
    is_worth_it: Option<bool>,
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
        let is_worth_it = None;
        (is_plain && staged >= 2 * SAMPLE).then_some(Self { content, base, threads, is_worth_it })
    }

    /// For each of some chunks the raw chunk that the base has in its place, if it holds the same.
    pub(super) fn find(&mut self, chunks: &[StagedChunk<'_>]) -> Vec<Option<RawChunk>> {
        let (sample, rest) = match self.is_worth_it {
            None => chunks.split_at(SAMPLE.min(chunks.len())),
            Some(_) => (&[][..], chunks),
        };
        let mut found = self.compare(sample);
        let is_worth_it = self
            .is_worth_it
            .get_or_insert_with(|| found.iter().flatten().count() >= sample.len().div_ceil(2));
        if *is_worth_it {
            found.append(&mut self.compare(rest));
        }
        found.resize(chunks.len(), None);
        found
    }

    fn compare(&self, chunks: &[StagedChunk<'_>]) -> Vec<Option<RawChunk>> {
        let array = &self.content.array;
        let in_base = chunks.iter().map(|&(chunk, _)| array.in_base(chunk)).collect::<Vec<_>>();
        let wanted: Vec<ChunkIndex> = in_base.iter().copied().flatten().collect();
        let chunk_bytes = self.base.inner.storage.raw.chunk_bytes();
        let mut stored = zeroed::<u8>(wanted.len().saturating_mul(chunk_bytes)).unwrap_or_default();
        let map = self.base.inner.whole_map();
        let (Ok(map), Ok(())) = (map, self.base.inner.fetch_chunks(&wanted, &mut stored)) else {
            // What cannot be read is no help, and may well be written anew.
            return vec![None; chunks.len()];
        };
        let mut stored = stored.chunks_exact(chunk_bytes);
        let pairs: Vec<_> = chunks
            .iter()
            .zip(in_base)
            .map(|(&chunk, there)| {
                let there = there?;
                let stored = stored.next()?;
                Some((chunk, map.get(there)?, stored))
            })
            .collect();
        let element_size = array.element_size();
        let compare = |pair: &Option<(StagedChunk<'_>, RawChunk, &[u8])>| {
            let ((chunk, elements), raw, stored) = (*pair)?;
            let trimmed = Trimmed::of(chunk, array);
            let mut runs = trimmed.byte_runs(element_size);
            runs.all(|run| stored.get(run.clone()) == elements.get(run)).then_some(raw)
        };
        match self.threads {
            Threads::One => pairs.iter().map(compare).collect(),
            threads => threads.install(|| pairs.par_iter().map(compare).collect()),
        }
    }
}
