//! The stored chunks of a dataset that is made anew, version by version.

mod proof;

use std::sync::Arc;

use h5strata_ffi::id::{Datatype, File};
use h5strata_ffi::{Lock, h5d};

pub(in crate::store) use self::proof::StackProof;
use super::super::digest::Trimmed;
use super::super::error::DatasetFault;
use super::super::file::FileInner;
use super::super::layout::{self, StorageSettings};
use super::super::names::raw_data_path;
use super::super::stage::{Content, Settings};
use super::chunk_bytes::Buffers;
use super::chunks::{ChunkStore, StoredChunks};
use super::hash_table::HashTable;
use super::meter::Meter;
use super::report::DatasetReport;
use super::staged_list::sources_of;
use crate::codec::Pipeline;
use crate::dims::{ChunkIndex, RawChunk};
use crate::raw::{RawWriter, Threads};

/// A `raw_data` and its hash table, to which versions add the chunks that none before them had.
///
/// Nothing of the file stays open between two versions.
pub(in crate::store) struct ChunkStack<'s> {
    path: String,
    raw_data: String,
    settings: Settings,
    pipeline: Pipeline,
    table: HashTable,
    threads: Threads<'s>,
    /// Number of raw chunks in use.
    end: u64,
    /// How much of each is inside the bounds of the version that brought it.
    extents: Extents,
    buffers: Arc<Buffers>,
}

/// What became of the chunks of one version.
pub(in crate::store) struct Stacked {
    /// Which raw chunk stands behind which chunk, in rising order of chunks.
    pub(in crate::store) map: Vec<(ChunkIndex, RawChunk)>,
    pub(in crate::store) report: DatasetReport,
}

/// Parts of chunks, of which there are few different ones.
#[derive(Debug, Default)]
struct Extents {
    parts: Vec<Trimmed>,
    of: Vec<usize>,
}

impl<'s> ChunkStack<'s> {
    /// Makes both for the dataset at `path` in a file that is open for writing, without a chunk.
    pub(in crate::store) fn create(
        file: &File,
        path: &str,
        datatype: &Datatype,
        settings: Settings,
        threads: Threads<'s>,
    ) -> Result<Self, DatasetFault> {
        let chunk_bytes = settings.chunk_bytes().ok_or(DatasetFault::Memory { bytes: u64::MAX })?;
        let storage = StorageSettings {
            datatype,
            chunk_shape: &settings.chunk_shape,
            filters: &settings.filters,
            fill: &settings.fill,
        };
        drop(layout::create_storage(&h5strata_ffi::lock(), file, path, &storage)?);
        let edge = settings.chunk_shape.first().copied().unwrap_or(1);
        let mut table = HashTable::open(file, path, edge, 0, None)?;
        table.close();
        let pipeline =
            Pipeline::new(settings.filters.clone(), chunk_bytes, settings.element_size());
        let (path, raw_data) = (path.to_owned(), raw_data_path(path));
        let (end, extents, buffers) = (0, Extents::default(), Arc::default());
        Ok(Self { path, raw_data, settings, pipeline, table, threads, end, extents, buffers })
    }

    /// Stores the chunks that a content of these settings brings.
    pub(in crate::store) fn store(
        &mut self,
        file: &File,
        content: &Content,
        meter: &Meter<'_>,
    ) -> Result<Stacked, DatasetFault> {
        let dataset = h5d::open(&h5strata_ffi::lock(), file, &self.raw_data)?;
        let writer = RawWriter::new(dataset, &self.settings.chunk_shape);
        let store = ChunkStore {
            raw_data: &self.raw_data,
            content,
            pipeline: &self.pipeline,
            writer: &writer,
            table: &mut self.table,
            threads: self.threads,
            end: self.end,
            reused: None,
            sources: sources_of(content, &self.raw_data),
            length_size: None,
            early: None,
            buffers: Arc::clone(&self.buffers),
            meter,
        };
        let StoredChunks { map, end, room, mut report, .. } = store.run()?;
        if room.is_some() {
            // Later versions go on from here.
            writer.set_chunks(&h5strata_ffi::lock(), end)?;
        }
        let new = map.iter().filter(|(_, raw)| raw.0 >= self.end);
        for &(chunk, raw) in new {
            self.extents.add(raw, Trimmed::of(chunk, &content.array));
        }
        self.end = end;
        self.path.clone_into(&mut report.path);
        Ok(Stacked { map, report })
    }

    /// Writes the rows of the hash table; returns what they and the chunks have to be when they are read again. `source`:
    /// the file that the versions come from.
    pub(in crate::store) fn finish(
        self,
        lock: &Lock,
        file: &File,
        source: &FileInner,
    ) -> Result<StackProof, DatasetFault> {
        let Self { path, settings, table, end, extents, .. } = self;
        let rows = table.added().to_vec();
        // A table that is written for the first time is no update of one.
        table.write(lock, file, source)?;
        Ok(StackProof { path, settings, rows, end, extents })
    }
}

impl Extents {
    /// Notes how much is inside of a raw chunk.
    fn add(&mut self, raw: RawChunk, part: Trimmed) {
        let known = self.parts.iter().rposition(|known| *known == part);
        let number = known.unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        });
        let at = usize::try_from(raw.0).unwrap_or(usize::MAX);
        if at >= self.of.len() {
            self.of.resize(at.saturating_add(1), number);
        }
        if let Some(place) = self.of.get_mut(at) {
            *place = number;
        }
    }

    fn get(&self, raw: RawChunk) -> Option<&Trimmed> {
        self.parts.get(*self.of.get(usize::try_from(raw.0).ok()?)?)
    }
}
