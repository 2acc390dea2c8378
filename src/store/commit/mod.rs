//! Writes a staged version to the file.

mod attributes;
mod base_list;
mod chunk_bytes;
mod chunks;
mod early;
mod hash_table;
mod mappings;
mod meter;
mod objects;
mod report;
mod reused;
mod stack;
mod staged_list;
mod template;
mod transaction;
mod unchanged;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use chrono::Utc;
use h5strata_ffi::id::{File, Group};
use h5strata_ffi::{Lock, h5d, h5g, h5l, h5o, h5t};
use rayon::prelude::*;

pub(super) use self::attributes::check_attribute;
use self::chunks::{ChunkStore, StoredChunks};
use self::early::ChunkDigests;
pub(super) use self::hash_table::{
    Digests, MOST_MISSING, Row, StoredRows, replace_table, write_rows,
};
use self::hash_table::{HashTable, TableUpdate};
pub(super) use self::mappings::Mappings;
pub(super) use self::meter::Meter;
use self::objects::ObjectWriter;
pub use self::report::{CommitReport, DatasetReport};
use self::reused::Reused;
pub(super) use self::stack::{ChunkStack, StackProof, Stacked};
use self::staged_list::{StagedList, sources_of};
use self::transaction::NewExtent;
pub(super) use self::transaction::Transaction;
use super::describe;
use super::error::{DatasetFault, Error};
use super::file::{FileInner, Latest};
use super::layout::{self, StorageSettings};
use super::names::{FIRST_VERSION, VERSIONS, raw_data_path};
use super::stage::{Content, NodeKind, Settings, Stage, StageFault};
use crate::chunk_map::ChunkMap;
use crate::codec::Pipeline;
use crate::raw::RawWriter;

/// Writes a version, all of it or nothing (see [`Transaction`] for the protocol).
pub(super) fn commit(stage: Stage<'_>) -> Result<CommitReport, Error> {
    let inner = Arc::clone(&stage.file.inner);
    let mappings = Mappings::of_stage(&stage)?;
    let (datasets, bare) = Transaction::run(&inner, mappings, |transaction| {
        let datasets = store_chunks(&stage, transaction)?;
        let (version, bare) = write_objects(&stage, &datasets, transaction)?;
        make_visible(&stage, &version, transaction)?;
        Ok((datasets, bare))
    })?;
    publish(stage, datasets, bare)
}

/// Paths of datasets without attributes of the user's.
pub(super) type Bare = HashSet<String>;

/// Staged datasets with their chunks stored, by path.
type StoredDatasets = BTreeMap<String, StoredDataset>;

/// A staged dataset whose chunks are stored.
struct StoredDataset {
    chunks: StoredChunks,
    /// Whether values and shape turned out to be those of the parent version.
    unchanged: bool,
}

/// Step 1: the chunks of all staged datasets that are not stored yet, after them the rows of their hash tables.
fn store_chunks(
    stage: &Stage<'_>,
    transaction: &mut Transaction<'_>,
) -> Result<StoredDatasets, Error> {
    let mut datasets = StoredDatasets::new();
    let mut early = early::digests(stage, stage.file.inner.threads());
    for (path, node) in &stage.tree {
        let NodeKind::Staged(content) = &node.kind else { continue };
        let origin = node.origin.as_deref() == Some(path);
        let stored = if node.is_untouched(path) {
            Ok(StoredDataset { chunks: StoredChunks::default(), unchanged: true })
        } else {
            store_dataset(stage, path, content, origin, early.remove(path.as_str()), transaction)
        };
        datasets.insert(path.clone(), stored.map_err(|fault| stage.dataset_error(path, fault))?);
    }
    Ok(datasets)
}

fn store_dataset(
    stage: &Stage<'_>,
    path: &str,
    content: &Content,
    has_origin: bool,
    early: Option<ChunkDigests>,
    transaction: &mut Transaction<'_>,
) -> Result<StoredDataset, DatasetFault> {
    let file = &stage.file.inner;
    let raw_data = raw_data_path(path);
    let settings = &content.settings;
    let mut known = transaction.take_digests(path);
    let storage = match &known {
        // The last commit has left as many chunks as its digests tell.
        Some(_) if !stage.verify => None,
        _ if has_storage_here(file, path)? => Some(file.storage(&raw_data)?),
        _ => None,
    };
    let raw_chunks = storage.as_ref().map(|storage| storage.raw.chunks());
    let raw_chunks = raw_chunks.or(known.as_ref().map(Digests::end));
    let target = transaction.file();
    let (dataset, raw_chunks) = {
        let lock = h5strata_ffi::lock();
        match (raw_chunks, &mut known) {
            (Some(chunks), Some(known)) => (known.open_storage(&lock, target, &raw_data)?, chunks),
            (Some(chunks), None) => (h5d::open(&lock, target, &raw_data)?, chunks),
            (None, _) => (create_storage(&lock, target, path, settings)?, 0),
        }
    };
    let edge = settings.chunk_shape.first().copied().unwrap_or(1);
    let mut table = HashTable::open(target, path, edge, raw_chunks, known)?;
    let writer = RawWriter::new(dataset, &settings.chunk_shape);
    let end = used_chunks(stage, path, &raw_data, table.end(), raw_chunks)?;
    if end < raw_chunks {
        // What a stopped writer of another kind has left behind its last commit.
        writer.set_chunks(&h5strata_ffi::lock(), end)?;
    }
    table.complete(end)?;
    let element_size = settings.element_size();
    let chunk_bytes = settings.chunk_bytes().ok_or(DatasetFault::Memory { bytes: u64::MAX })?;
    let pipeline = Pipeline::new(settings.filters.clone(), chunk_bytes, element_size);
    let reused = storage.as_deref().filter(|_| stage.verify).map(|storage| Reused { storage });
    let meter = Meter::new(stage.on_progress.as_ref(), path, chunk_bytes);
    let store = ChunkStore {
        raw_data: &raw_data,
        content,
        pipeline: &pipeline,
        writer: &writer,
        table: &mut table,
        threads: file.threads(),
        end,
        reused,
        sources: sources_of(content, &raw_data),
        length_size: transaction.mappings.length_size(),
        early,
        buffers: Arc::default(),
        meter: &meter,
    };
    let mut chunks = store.run()?;
    path.clone_into(&mut chunks.report.path);
    let written = table.write(&h5strata_ffi::lock(), target, file)?;
    transaction.keep_digests(path, written);
    if let Some(room) = chunks.room {
        give_back(transaction, &writer, &raw_data, edge, (room, chunks.end))?;
    }
    let unchanged = has_origin && is_as_in_parent(stage, path, content, &chunks)?;
    Ok(StoredDataset { chunks, unchanged })
}

/// Gives the room behind the stored chunks back, in which nothing is stored: there is `room` for so many, and `end` of them
/// are there. `edge`: elements of a chunk along axis 0.
fn give_back(
    transaction: &mut Transaction<'_>,
    writer: &RawWriter,
    raw_data: &str,
    edge: u64,
    (room, end): (u64, u64),
) -> Result<(), DatasetFault> {
    let lock = h5strata_ffi::lock();
    if transaction.mappings.length_size().is_none() {
        return Ok(writer.set_chunks(&lock, end)?);
    }
    let header = h5o::address(&lock, transaction.file(), raw_data)?;
    let [before, after] = [room, end].map(|chunks| chunks.saturating_mul(edge));
    transaction.extents.push(NewExtent { header, before, after });
    Ok(())
}

/// Whether a dataset has the shape and the chunks of the one at its path in the parent version.
fn is_as_in_parent(
    stage: &Stage<'_>,
    path: &str,
    content: &Content,
    chunks: &StoredChunks,
) -> Result<bool, DatasetFault> {
    let base = match (content.base_dataset(), &stage.parent) {
        (Some(base), _) => base.clone(),
        // Its values come from elsewhere and may be the same all the same.
        (None, Some(parent)) => parent.dataset(path).map_err(DatasetFault::other)?,
        (None, None) => return Ok(false),
    };
    if content.array.shape() != base.shape() || base.raw_data().0 != raw_data_path(path) {
        return Ok(false);
    }
    if let Some(list) = &chunks.base_list {
        return Ok(list.is_same(&chunks.map));
    }
    Ok(base.inner.whole_map()?.iter().eq(chunks.map.iter().copied()))
}

/// Number of raw chunks that must be kept: those that have a row, and those that are mapped by a version.
///
/// Tables that versioned-hdf5 has rebuilt can lack rows of chunks that versions map. Only a `raw_data` that is longer
/// than its table can hold such, and only then all versions are looked at.
fn used_chunks(
    stage: &Stage<'_>,
    path: &str,
    raw_data: &str,
    listed: u64,
    raw_chunks: u64,
) -> Result<u64, DatasetFault> {
    if listed >= raw_chunks {
        return Ok(listed);
    }
    let mut used = listed;
    for version in stage.file.versions().map_err(DatasetFault::other)? {
        let version = stage.file.version(&version.name).map_err(DatasetFault::other)?;
        if !version.has_dataset(path) {
            continue;
        }
        let dataset = version.dataset(path).map_err(DatasetFault::other)?;
        if dataset.raw_data().0 == raw_data {
            let last = dataset.inner.whole_map()?.iter().map(|(_, raw)| raw.0).max();
            used = used.max(last.map_or(0, |last| last.saturating_add(1)));
        }
    }
    Ok(used)
}

fn create_storage(
    lock: &Lock,
    file: &File,
    path: &str,
    settings: &Settings,
) -> Result<h5d::Dataset, DatasetFault> {
    let description = describe::description(&settings.dtype)
        .map_err(|_| StageFault::Type { dtype: settings.dtype.clone() })?;
    let datatype = h5t::create(lock, &description)?;
    let settings = StorageSettings {
        datatype: &datatype,
        chunk_shape: &settings.chunk_shape,
        filters: &settings.filters,
        fill: &settings.fill,
    };
    Ok(layout::create_storage(lock, file, path, &settings)?)
}

/// Whether some version has stored chunks for the dataset at a path.
pub(super) fn has_storage(file: &FileInner, path: &str) -> Result<bool, Error> {
    has_storage_here(file, path).map_err(file.library(&raw_data_path(path)))
}

fn has_storage_here(file: &FileInner, path: &str) -> Result<bool, h5strata_ffi::Error> {
    let session = file.session()?;
    h5l::exists(session.lock(), &session.file, &raw_data_path(path))
}

/// Step 2: the group of the version with everything in it, and beside it the lists of mappings and the rows of the hash
/// tables.
fn write_objects(
    stage: &Stage<'_>,
    datasets: &StoredDatasets,
    transaction: &mut Transaction<'_>,
) -> Result<(VersionGroup, Bare), Error> {
    let raw_data: Vec<String> = datasets.keys().map(|path| raw_data_path(path)).collect();
    let lists: Vec<StagedList<'_>> = (datasets.iter().zip(&raw_data))
        .filter_map(|((path, dataset), raw_data)| StagedList::of(stage, path, dataset, raw_data))
        .collect();
    let Some(length_size) = transaction.mappings.decide(&lists) else {
        return write_version(stage, datasets, transaction);
    };
    let tables = mem::take(&mut transaction.tables);
    let encode = |list: &StagedList<'_>| {
        let encoded = list.encode(length_size);
        let encoded = encoded.map_err(|error| stage.dataset_error(list.path, error.into()))?;
        Ok((list.path.to_owned(), encoded))
    };
    let mut encoded: Result<BTreeMap<_, _>, Error> = Ok(BTreeMap::new());
    let mut encoded_tables = Vec::new();
    let written = stage.file.inner.threads().beside(
        || {
            encoded_tables = tables.into_iter().map(TableUpdate::encode).collect();
            encoded = lists.par_iter().map(encode).collect();
        },
        || write_version(stage, datasets, transaction),
    )?;
    transaction.encoded_tables = encoded_tables;
    transaction.mappings.take_staged(encoded?);
    Ok(written)
}

/// The group of the version, not committed yet.
fn write_version(
    stage: &Stage<'_>,
    datasets: &StoredDatasets,
    transaction: &mut Transaction<'_>,
) -> Result<(VersionGroup, Bare), Error> {
    let file = &stage.file.inner;
    let lock = h5strata_ffi::lock();
    let versions = transaction.versions();
    let object = format!("{VERSIONS}/{}", stage.name);
    if h5l::exists(&lock, versions, &stage.name).map_err(file.library(&object))? {
        // What a stopped writer of another kind has left under this name.
        h5l::delete(&lock, versions, &stage.name).map_err(file.library(&object))?;
    }
    let parent = stage.parent.as_ref().map(|parent| parent.name());
    let parent_name = parent.unwrap_or(FIRST_VERSION);
    let time = stage.timestamp.unwrap_or_else(Utc::now);
    let group = layout::create_version(&lock, versions, &stage.name, parent_name, time)
        .map_err(file.library(&object))?;
    let parent = parent.map(|name| h5g::open(&lock, versions, name)).transpose();
    let version = VersionGroup { group, parent: parent.map_err(file.library(VERSIONS))? };
    let bare = file.latest_bare(parent_name);
    let objects = ObjectWriter::new(&lock, &version, bare, &mut transaction.mappings);
    let mut objects = objects.map_err(file.library(&object))?;
    for (path, node) in &stage.tree {
        objects.write(stage, path, node, datasets.get(path))?;
    }
    let bare = objects.bare;
    attributes::write(&lock, &version, ".", None, &stage.attributes, &[])
        .map_err(file.library(&object))?;
    Ok((version, bare))
}

/// The group of the version that is being written, and that of the version it comes from.
struct VersionGroup {
    group: Group,
    parent: Option<Group>,
}

/// Step 3: the version is whole, and perhaps current.
fn make_visible(
    stage: &Stage<'_>,
    version: &VersionGroup,
    transaction: &Transaction<'_>,
) -> Result<(), Error> {
    let lock = h5strata_ffi::lock();
    let visible = layout::mark_committed(&lock, &version.group).and_then(|()| {
        if stage.make_current {
            layout::set_current(&lock, transaction.versions(), &stage.name)?;
        }
        Ok(())
    });
    visible.map_err(stage.file.inner.library(VERSIONS))
}

/// Step 4: the handle shows the version.
fn publish(stage: Stage<'_>, datasets: StoredDatasets, bare: Bare) -> Result<CommitReport, Error> {
    let mut report = CommitReport { version: stage.name.clone(), ..CommitReport::default() };
    let stored: HashMap<String, Option<u64>> = datasets
        .iter()
        .map(|(path, dataset)| {
            // Those of a dataset that was not looked at are as they were.
            let chunks = Some(dataset.chunks.end).filter(|&chunks| chunks > 0);
            (raw_data_path(path), chunks)
        })
        .collect();
    let maps = datasets.iter().filter_map(|(path, dataset)| {
        let NodeKind::Staged(content) = &stage.tree.get(path)?.kind else { return None };
        let StoredChunks { map, base_list: None, .. } = &dataset.chunks else { return None };
        if map.is_empty() {
            return None;
        }
        let mapped = map.iter().map(|&(chunk, raw)| (chunk, Some(raw)));
        let map = ChunkMap::of(mapped, content.array.grid().iter().product());
        Some((path.clone(), Arc::new(map)))
    });
    let maps = maps.collect();
    for (path, node) in &stage.tree {
        match &node.kind {
            NodeKind::Unchanged if node.attributes.is_empty() => report.datasets_unchanged += 1,
            NodeKind::Unchanged => {
                report.add(DatasetReport { path: path.clone(), ..DatasetReport::default() })
            }
            _ => {}
        }
    }
    for (path, dataset) in datasets {
        let attributes = stage.tree.get(&path).is_some_and(|node| !node.attributes.is_empty());
        if dataset.unchanged && !attributes {
            report.datasets_unchanged += 1;
        } else {
            report.add(DatasetReport { path, ..dataset.chunks.report });
        }
    }
    report.datasets.sort_by(|a, b| a.path.cmp(&b.path));
    let (version, entries) = (stage.name.clone(), stage.entries());
    let latest = Latest { version, entries, bare, maps };
    stage.file.renew(|raw_data| stored.get(raw_data).copied().flatten(), latest);
    Ok(report)
}
