//! Where versions use chunks that are damaged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::dataset::Dataset;
use super::super::version::Version;
use super::Verifier;
use super::finding::{ChunkUse, Finding};
use super::storage::Damaged;
use super::usage::Usage;
use crate::dims::{RawChunk, unravel};

/// Versions that are listed of one place.
const MOST_VERSIONS: usize = 64;

/// Places that are listed of one chunk.
const MOST_PLACES: usize = 64;

impl Verifier<'_> {
    /// Tells of damaged chunks, each with the places where versions use it. Their lists of mappings are decoded once more:
    /// damage is rare, and nobody keeps all lists in memory for it.
    pub(super) fn damaged(&mut self, raw_data: &str, usage: &Usage, damaged: Damaged) {
        if damaged.is_empty() {
            return;
        }
        let mut uses: BTreeMap<RawChunk, Vec<ChunkUse>> = BTreeMap::new();
        for (version, path) in &usage.users {
            // It could be opened before; if it no longer can, it is told where else the chunk is.
            drop(self.uses_of(version, path, &damaged, &mut uses));
        }
        for (raw, fault) in damaged {
            let (raw_data, uses) = (raw_data.to_owned(), uses.remove(&raw).unwrap_or_default());
            self.found(Finding::Chunk { raw_data, raw, uses, fault });
        }
    }

    fn uses_of(
        &self,
        version: &Arc<str>,
        path: &Arc<str>,
        damaged: &Damaged,
        uses: &mut BTreeMap<RawChunk, Vec<ChunkUse>>,
    ) -> Result<(), super::Error> {
        let opened = Version::open(Arc::clone(&self.file), version)?;
        let dataset = Dataset::open(Arc::clone(&opened.inner), path)?;
        let map = dataset.inner.decode_map_but(|_| Ok(())).map_err(dataset.inner.error())?;
        for (chunk, raw) in map.iter().filter(|(_, raw)| damaged.contains_key(raw)) {
            let chunk = unravel(chunk.0, dataset.inner.geometry.grid()).to_vec();
            add(uses.entry(raw).or_default(), version, path, chunk);
        }
        Ok(())
    }
}

/// Adds a version to the place where it has a chunk.
fn add(uses: &mut Vec<ChunkUse>, version: &Arc<str>, dataset: &Arc<str>, chunk: Vec<u64>) {
    let is_here = |place: &ChunkUse| place.chunk == chunk && place.dataset == *dataset;
    match uses.iter().position(is_here) {
        Some(at) if uses[at].versions.len() < MOST_VERSIONS => {
            uses[at].versions.push(Arc::clone(version));
        }
        Some(at) => uses[at].more_versions += 1,
        None if uses.len() < MOST_PLACES => {
            let (dataset, versions) = (Arc::clone(dataset), vec![Arc::clone(version)]);
            uses.push(ChunkUse { dataset, chunk, versions, more_versions: 0 });
        }
        None => {}
    }
}
