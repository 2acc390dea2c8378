//! Writes a staged version to the file.

mod attributes;
mod chunks;
mod hash_table;
mod objects;
mod report;
mod reused;
mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::Utc;
use h5strata_ffi::id::Group;
use h5strata_ffi::{Lock, h5d, h5f, h5l, h5t};

pub(super) use self::attributes::check_attribute;
use self::chunks::{ChunkStore, StoredChunks};
use self::hash_table::HashTable;
pub use self::report::{CommitReport, DatasetReport};
use self::reused::Reused;
use self::undo::Undo;
use super::describe;
use super::error::{DatasetFault, Error};
use super::file::FileInner;
use super::layout::{self, StorageSettings};
use super::names::{FIRST_VERSION, VERSIONS, raw_data_path};
use super::stage::{Content, NodeKind, Settings, Stage, StageFault};
use super::version::VersionInner;
use crate::codec::Pipeline;
use crate::raw::RawWriter;

/// The protocol of a commit. Until the last step no reader sees the new version; if a step fails, what those before
/// it have written is taken back.
pub(super) fn commit(stage: Stage<'_>) -> Result<CommitReport, Error> {
    let _held = HeldMetadata::hold(&stage.file.inner)?;
    let mut undo = Undo::new(&stage.file.inner);
    let outcome = store_chunks(&stage, &mut undo).and_then(|datasets| {
        let version = write_version(&stage, &datasets, &mut undo)?;
        make_visible(&stage, &version, &mut undo)?;
        flush(&stage)?;
        Ok(datasets)
    });
    match outcome {
        Ok(datasets) => publish(stage, datasets),
        Err(error) => {
            undo.run();
            Err(error)
        }
    }
}

/// While it lives, metadata reaches the file by a flush alone.
struct HeldMetadata {
    file: Arc<FileInner>,
    before: h5f::MetadataCache,
}

impl HeldMetadata {
    fn hold(file: &Arc<FileInner>) -> Result<Self, Error> {
        let held = h5f::hold_metadata(&h5strata_ffi::lock(), &file.file);
        let before = held.map_err(file.library("/"))?;
        Ok(Self { file: Arc::clone(file), before })
    }
}

impl Drop for HeldMetadata {
    fn drop(&mut self) {
        // A cache that stays held only takes more memory.
        drop(h5f::release_metadata(&h5strata_ffi::lock(), &self.file.file, &self.before));
    }
}

/// Staged datasets with their chunks stored, by path.
type StoredDatasets = BTreeMap<String, StoredDataset>;

/// A staged dataset whose chunks are stored.
struct StoredDataset {
    chunks: StoredChunks,
    /// Whether values and shape turned out to be those of the parent version.
    unchanged: bool,
}

/// Step 1: the chunks of all staged datasets that are not stored yet, after them the rows of their hash tables.
fn store_chunks(stage: &Stage<'_>, undo: &mut Undo) -> Result<StoredDatasets, Error> {
    let mut datasets = StoredDatasets::new();
    for (path, node) in &stage.tree {
        let NodeKind::Staged(content) = &node.kind else { continue };
        let origin = node.origin.as_deref() == Some(path);
        let stored = store_dataset(stage, path, content, origin, undo)
            .map_err(|fault| stage.dataset_error(path, fault))?;
        datasets.insert(path.clone(), stored);
    }
    Ok(datasets)
}

fn store_dataset(
    stage: &Stage<'_>,
    path: &str,
    content: &Content,
    has_origin: bool,
    undo: &mut Undo,
) -> Result<StoredDataset, DatasetFault> {
    let file = &stage.file.inner;
    if has_origin && !content.array.is_changed() {
        return Ok(StoredDataset { chunks: StoredChunks::default(), unchanged: true });
    }
    let raw_data = raw_data_path(path);
    let storage = if has_storage_here(file, path)? { Some(file.storage(&raw_data)?) } else { None };
    let settings = &content.settings;
    let (dataset, raw_chunks) = {
        let lock = h5strata_ffi::lock();
        match &storage {
            Some(storage) => (h5d::open(&lock, &file.file, &raw_data)?, storage.raw.chunks()),
            None => {
                undo.storage(path);
                (create_storage(&lock, file, path, settings)?, 0)
            }
        }
    };
    let edge = settings.chunk_shape.first().copied().unwrap_or(1);
    let mut table = HashTable::open(file, path, edge, raw_chunks)?;
    let writer = RawWriter::new(dataset, &settings.chunk_shape);
    let end = used_chunks(stage, path, &raw_data, table.end(), raw_chunks)?;
    if storage.is_some() {
        undo.chunks(path, end, table.rows());
    }
    if end < raw_chunks {
        // What a stopped writer has left behind its last commit.
        writer.set_chunks(&h5strata_ffi::lock(), end)?;
    }
    table.complete(end)?;
    let element_size = settings.element_size();
    let chunk_bytes = settings.chunk_bytes().ok_or(DatasetFault::Memory { bytes: u64::MAX })?;
    let pipeline = Pipeline::new(settings.filters.clone(), chunk_bytes, element_size);
    let reused = storage.as_deref().filter(|_| stage.verify).map(|storage| Reused { storage });
    let store = ChunkStore {
        raw_data: &raw_data,
        content,
        pipeline: &pipeline,
        writer: &writer,
        table: &mut table,
        threads: file.threads(),
        end,
        reused,
        buffers: Arc::default(),
    };
    let mut chunks = store.run()?;
    path.clone_into(&mut chunks.report.path);
    table.write(&h5strata_ffi::lock(), file)?;
    let unchanged = has_origin && is_as_in_base(content, &chunks)?;
    Ok(StoredDataset { chunks, unchanged })
}

/// Whether a dataset has the shape and the chunks of the one it was staged from.
fn is_as_in_base(content: &Content, chunks: &StoredChunks) -> Result<bool, DatasetFault> {
    let Some(base) = content.base_dataset() else { return Ok(false) };
    if content.array.shape() != base.shape() {
        return Ok(false);
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
    file: &FileInner,
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
    Ok(layout::create_storage(lock, &file.file, path, &settings)?)
}

/// Whether some version has stored chunks for the dataset at a path.
pub(super) fn has_storage(file: &FileInner, path: &str) -> Result<bool, Error> {
    has_storage_here(file, path).map_err(file.library(&raw_data_path(path)))
}

fn has_storage_here(file: &FileInner, path: &str) -> Result<bool, h5strata_ffi::Error> {
    h5l::exists(&h5strata_ffi::lock(), &file.file, &raw_data_path(path))
}

/// Step 2: the group of the version with everything in it, not committed yet.
fn write_version<'s>(
    stage: &'s Stage<'_>,
    datasets: &StoredDatasets,
    undo: &mut Undo,
) -> Result<VersionGroup<'s>, Error> {
    let file = &stage.file.inner;
    let parent = stage.parent.as_ref().map(|parent| &*parent.inner);
    let lock = h5strata_ffi::lock();
    let object = format!("{VERSIONS}/{}", stage.name);
    if h5l::exists(&lock, &file.versions, &stage.name).map_err(file.library(&object))? {
        // What a stopped writer has left under this name.
        h5l::delete(&lock, &file.versions, &stage.name).map_err(file.library(&object))?;
    }
    undo.version(&stage.name);
    let parent_name = parent.map_or(FIRST_VERSION, |parent| &parent.name);
    let time = stage.timestamp.unwrap_or_else(Utc::now);
    let group = layout::create_version(&lock, &file.versions, &stage.name, parent_name, time)
        .map_err(file.library(&object))?;
    let version = VersionGroup { group, parent };
    for (path, node) in &stage.tree {
        objects::write(&lock, stage, &version, path, node, datasets.get(path))?;
    }
    attributes::write(&lock, &version, ".", None, &stage.attributes, &[])
        .map_err(file.library(&object))?;
    Ok(version)
}

/// The group of the version that is being written, and the version it comes from.
struct VersionGroup<'s> {
    group: Group,
    parent: Option<&'s VersionInner>,
}

/// Step 3: the version is whole, and perhaps current.
fn make_visible(
    stage: &Stage<'_>,
    version: &VersionGroup<'_>,
    undo: &mut Undo,
) -> Result<(), Error> {
    let file = &stage.file.inner;
    let lock = h5strata_ffi::lock();
    let visible = layout::mark_committed(&lock, &version.group).and_then(|()| {
        if stage.make_current {
            undo.current(stage.file.current_name().ok());
            layout::set_current(&lock, &file.versions, &stage.name)?;
        }
        Ok(())
    });
    visible.map_err(file.library(VERSIONS))
}

/// Step 4: everything that libhdf5 still holds goes to the file.
fn flush(stage: &Stage<'_>) -> Result<(), Error> {
    let file = &stage.file.inner;
    file.flush(&h5strata_ffi::lock()).map_err(file.library("/"))
}

/// Step 5: the handle shows the version.
fn publish(stage: Stage<'_>, datasets: StoredDatasets) -> Result<CommitReport, Error> {
    let mut report = CommitReport { version: stage.name.clone(), ..CommitReport::default() };
    let changed: Vec<String> = datasets.keys().map(|path| raw_data_path(path)).collect();
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
    stage.file.renew(|raw_data| changed.iter().any(|path| path == raw_data))?;
    Ok(report)
}
