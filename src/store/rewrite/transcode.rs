//! The chunks of one dataset, of all its versions, on their way from the old settings to the new ones.
//!
//! ```text
//! a version's map ──► known from an earlier version? ──► read ──► cast, new fill value ──► as in a commit:
//!                          by raw chunks alone         region     chunk by chunk          digest, known? encode, write
//! ```
//!
//! Memory: the maps of a few versions, a region, and the batches of a commit.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use h5strata_ffi::Lock;
use h5strata_ffi::id::{Datatype, File};

use super::blocks::Blocks;
use super::known::{Grids, Known, Recent, Split};
use super::report::RewrittenDataset;
use super::settings::{Change, Values};
use super::source::{ElementSource, TextSource, VersionChunks};
use crate::chunk_map::ChunkMap;
use crate::dims::{ChunkIndex, Dims, RawChunk, chunk_grid, element_count};
use crate::raw::Threads;
use crate::snapshot::{OnProgress, Progress};
use crate::store::commit::{ChunkStack, Meter, StackProof, Stacked};
use crate::store::dataset::Dataset;
use crate::store::error::DatasetFault;
use crate::store::file::FileInner;
use crate::store::stage::{Content, Settings};

/// Writes the stored chunks of one dataset anew, version by version, each parent before its children.
pub(in crate::store) struct Transcoder<'t> {
    change: Change,
    stack: ChunkStack<'t>,
    recent: Recent,
    /// What is known of the maps of the versions.
    maps: Maps,
    on_progress: Option<&'t OnProgress>,
    /// Elements of all versions, and of those that are done.
    total: u64,
    done: u64,
    report: RewrittenDataset,
}

impl<'t> Transcoder<'t> {
    /// Makes `raw_data` and hash table of the dataset at `path` in a file that is open for writing. `total`: number of
    /// elements of all versions.
    pub(in crate::store) fn create(
        target: &File,
        path: &str,
        datatype: &Datatype,
        change: Change,
        threads: Threads<'t>,
        on_progress: Option<&'t OnProgress>,
        total: u64,
    ) -> Result<Self, DatasetFault> {
        let stack = ChunkStack::create(target, path, datatype, change.new.clone(), threads)?;
        let report = RewrittenDataset::new(path, &change);
        let (recent, maps) = (Recent::default(), Maps::default());
        Ok(Self { change, stack, recent, maps, on_progress, total, done: 0, report })
    }

    /// What the datasets of the versions are made with.
    pub(in crate::store) fn settings(&self) -> &Settings {
        &self.change.new
    }

    /// Stores the chunks of a version that none before it had; tells which stored chunk stands behind which of its
    /// chunks, in rising order of chunks.
    pub(in crate::store) fn version(
        &mut self,
        target: &File,
        dataset: &Dataset,
        parent: Option<&str>,
    ) -> Result<Vec<(ChunkIndex, RawChunk)>, DatasetFault> {
        let shape = dataset.shape();
        let (old, new) = (&self.change.old, &self.change.new);
        let blocks = Blocks::new(shape, &old.chunk_shape, &new.chunk_shape, read_size(old))
            .map_err(crate::plan::PlanError::from)?;
        let grids = Grids {
            shape: Dims::from_slice(shape),
            old_chunk: old.chunk_shape.clone(),
            old: chunk_grid(shape, &old.chunk_shape).map_err(crate::plan::PlanError::from)?,
            new_chunk: new.chunk_shape.clone(),
            new: Dims::from_slice(blocks.grid()),
        };
        let old_map = dataset.inner.map_once()?;
        let Split { known: mut map, wanted } = self.recent.split(parent, &grids, &old_map, &blocks);
        if !wanted.is_empty() {
            let Stacked { map: stored, report } = self.store(target, dataset, blocks, wanted)?;
            map.extend(stored);
            map.sort_unstable_by_key(|&(chunk, _)| chunk);
            self.report.bytes += report.bytes_written;
        }
        let mapped = map.iter().map(|&(chunk, raw)| (chunk, Some(raw)));
        let new = ChunkMap::of(mapped, grids.new.iter().product());
        self.maps.note(dataset, map.iter().copied());
        self.recent.remember(Known {
            version: dataset.version().to_owned(),
            grids,
            old: old_map,
            new,
        });
        self.report.versions += 1;
        self.done = self.done.saturating_add(elements(dataset));
        self.tell(self.done);
        Ok(map)
    }

    /// Has chunks brought and stored.
    fn store(
        &mut self,
        target: &File,
        dataset: &Dataset,
        blocks: Blocks,
        wanted: Vec<ChunkIndex>,
    ) -> Result<Stacked, DatasetFault> {
        let new = self.change.new.clone();
        let chunks = VersionChunks { dataset: dataset.clone(), new: new.clone(), blocks, wanted };
        let content = match &self.change.values {
            Values::Elements(convert) => {
                let source = ElementSource::new(chunks, convert.clone());
                Content::brought(Arc::new(source), new)
            }
            Values::Strings => Content::brought_strings(Arc::new(TextSource { chunks }), new),
        }?;
        // How far the version has come, as a part of all of them.
        let listener = self.on_progress.cloned().map(|on_progress| {
            let (path, size) = (self.report.path.clone(), read_size(&self.change.new) as u64);
            let (done, total, most) = (self.done, self.total, elements(dataset));
            OnProgress::new(move |progress: Progress<'_>| {
                let here = (progress.done / size.max(1)).min(most);
                let [done, total] = [done.saturating_add(here), total]
                    .map(|elements| elements.saturating_mul(size));
                on_progress.tell(Progress { dataset: &path, done, total });
            })
        });
        let chunk_bytes = self.change.new.chunk_bytes().unwrap_or(0);
        let meter = Meter::new(listener.as_ref(), &self.report.path, chunk_bytes);
        self.stack.store(target, &content, &meter)
    }

    fn tell(&self, done: u64) {
        if let Some(on_progress) = self.on_progress {
            let size = read_size(&self.change.new) as u64;
            let [done, total] = [done, self.total].map(|elements| elements.saturating_mul(size));
            on_progress.tell(Progress { dataset: &self.report.path, done, total });
        }
    }

    /// Writes the rows of the hash table. `source`: the file that the versions are from.
    pub(in crate::store) fn finish(
        mut self,
        lock: &Lock,
        target: &File,
        source: &FileInner,
    ) -> Result<(RewrittenDataset, TranscodeProof), DatasetFault> {
        let stack = self.stack.finish(lock, target, source)?;
        self.report.chunks = stack.chunks();
        Ok((self.report, TranscodeProof { stack, maps: self.maps }))
    }
}

/// What a rewritten dataset has to be when it is read again.
pub(in crate::store) struct TranscodeProof {
    pub(super) stack: StackProof,
    pub(super) maps: Maps,
}

/// The maps of the versions' datasets, as far as it takes to know them again: shapes and maps, hashed.
#[derive(Default)]
pub(super) struct Maps(HashMap<(String, String), u64>);

impl Maps {
    fn note(&mut self, dataset: &Dataset, map: impl Iterator<Item = (ChunkIndex, RawChunk)>) {
        let place = (dataset.version().to_owned(), dataset.path().to_owned());
        self.0.insert(place, hash_of(dataset.shape(), map));
    }

    /// Whether a dataset of the new file has the shape and the map that were noted.
    pub(super) fn has(&self, dataset: &Dataset) -> Result<bool, DatasetFault> {
        let map = dataset.inner.map_once()?;
        let place = (dataset.version().to_owned(), dataset.path().to_owned());
        Ok(self.0.get(&place) == Some(&hash_of(dataset.shape(), map.iter())))
    }
}

fn hash_of(shape: &[u64], map: impl Iterator<Item = (ChunkIndex, RawChunk)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    shape.hash(&mut hasher);
    map.for_each(|entry| entry.hash(&mut hasher));
    hasher.finish()
}

/// Number of elements of a version's dataset.
pub(super) fn elements(dataset: &Dataset) -> u64 {
    element_count(dataset.shape()).unwrap_or(u64::MAX)
}

/// Bytes of an element as it is read; of a string of variable length, about those of its reference.
fn read_size(settings: &Settings) -> usize {
    settings.dtype.size().unwrap_or(16)
}
