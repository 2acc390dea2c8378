//! A snapshot staged as the content of a version.

use std::collections::BTreeMap;
use std::sync::Arc;

use h5strata_ffi::h5z;

use super::base::{SnapshotBase, Source};
use super::dataset::SnapshotDataset;
use super::file::Snapshot;
use super::not_carried::{NotCarried, Reason};
use super::opened::is_known;
use super::progress::OnProgress;
use super::strings::SnapshotStrings;
use crate::codec::{Filter, Pipeline};
use crate::dims::byte_count;
use crate::dtype::Dtype;
use crate::store::{
    Attribute, Entry, EntryKind, Error, Fill, Settings, Stage, StageFault, reserved_part,
};

/// The group of a versioned file that is not content.
const VERSION_DATA: &str = "_version_data";

/// How a snapshot becomes the content of a version.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    keep: bool,
    strict: bool,
    on_progress: Option<OnProgress>,
}

impl ImportOptions {
    /// The defaults: what the snapshot lacks is removed, what cannot be carried is listed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether groups and datasets that the snapshot lacks stay as they are.
    #[must_use]
    pub fn keep(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    /// Whether it is an error if anything cannot be carried.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Is told how far each dataset has come while the stage is committed.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}

/// What was staged of a snapshot.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ImportReport {
    /// Number of datasets.
    pub datasets: u64,
    /// Number of groups.
    pub groups: u64,
    /// Number of attributes.
    pub attributes: u64,
    /// Bytes of the elements of all datasets; of strings of variable length, of the references to them.
    pub bytes: u64,
    /// What was left behind.
    pub not_carried: Vec<NotCarried>,
}

/// What is going to be staged. Nothing is, before all of it is known.
#[derive(Default)]
struct Content {
    /// What becomes of each path.
    objects: BTreeMap<String, Object>,
    root_attributes: Vec<Attribute>,
    report: ImportReport,
}

struct Object {
    attributes: Vec<Attribute>,
    /// The dataset; `None` for a group.
    dataset: Option<Planned>,
}

/// A dataset with what it is going to be stored with.
struct Planned {
    dataset: SnapshotDataset,
    /// What other versions have stored at its path.
    stored: Option<Settings>,
    /// The filters that can be written.
    filters: Vec<Filter>,
}

impl Stage<'_> {
    /// Stages the whole content of a plain file: its groups, datasets and attributes, those of its root as the
    /// version's.
    ///
    /// Values are read when the stage is committed. A dataset whose path has stored chunks already keeps their chunk
    /// shape, filters and fill value; one that holds what it held before is not written again.
    ///
    /// # Errors
    /// [`Error::NotCarried`] if everything has to be carried and cannot: the stage is then as before.
    /// [`Error::Library`], [`Error::Attribute`], [`Error::PlainDataset`] if the snapshot cannot be read;
    /// [`Error::Stage`], [`Error::Dataset`].
    pub fn import(
        &mut self,
        snapshot: &Snapshot,
        options: &ImportOptions,
    ) -> Result<ImportReport, Error> {
        let content = Content::of(self, snapshot)?;
        if options.strict && !content.report.not_carried.is_empty() {
            let file = snapshot.path().to_owned();
            return Err(Error::NotCarried { file, not_carried: content.report.not_carried });
        }
        make_room(self, &content, options.keep)?;
        set_attributes(self, "", &content.root_attributes)?;
        for (path, object) in content.objects {
            match object.dataset {
                Some(planned) => stage_dataset(self, planned, options)?,
                None if self.kind(&path).is_none() => self.create_group(&path)?,
                None => {}
            }
            set_attributes(self, &path, &object.attributes)?;
        }
        Ok(content.report)
    }
}

impl Content {
    fn of(stage: &Stage<'_>, snapshot: &Snapshot) -> Result<Self, Error> {
        let mut content = Self::default();
        content.report.not_carried.extend_from_slice(snapshot.not_carried());
        content.root_attributes = content.attributes(snapshot, "", EntryKind::Group)?;
        // What lies in a group that is left behind is left behind with it.
        let mut left: Option<String> = None;
        for Entry { path, kind } in snapshot.entries() {
            if left.as_ref().is_some_and(|above| is_below(path, above)) {
                continue;
            }
            let dataset = match content.object(stage, snapshot, path, *kind)? {
                Ok(dataset) => dataset,
                Err(reason) => {
                    content.leave(NotCarried::object(path, reason));
                    left = Some(path.clone());
                    continue;
                }
            };
            let attributes = content.attributes(snapshot, path, *kind)?;
            match &dataset {
                Some(planned) => {
                    content.report.datasets += 1;
                    content.report.bytes = content.report.bytes.saturating_add(planned.bytes());
                }
                None => content.report.groups += 1,
            }
            content.objects.insert(path.clone(), Object { attributes, dataset });
        }
        Ok(content)
    }

    /// The dataset at a path, `None` for a group, or why it is left behind.
    fn object(
        &mut self,
        stage: &Stage<'_>,
        snapshot: &Snapshot,
        path: &str,
        kind: EntryKind,
    ) -> Result<Result<Option<Planned>, Reason>, Error> {
        let reserved = if path == VERSION_DATA { Some(path) } else { reserved_part(path) };
        if let Some(name) = reserved {
            return Ok(Err(Reason::Reserved { name: name.to_owned() }));
        }
        if kind != EntryKind::Dataset {
            return Ok(Ok(None));
        }
        let dataset = match snapshot.dataset(path)? {
            Ok(dataset) => dataset,
            Err(reason) => return Ok(Err(reason)),
        };
        let stored = stage.stored_settings(path)?;
        if let Some(reason) = stored.as_ref().and_then(|stored| disagreement(&dataset, stored)) {
            return Ok(Err(reason));
        }
        let mut filters = Vec::new();
        for filter in dataset.filters() {
            if can_write(&dataset.dtype, filter) {
                filters.push(filter.clone());
                continue;
            }
            let name = filter.display_name().to_string();
            if !can_read(filter) {
                return Ok(Err(Reason::UnknownFilter { filter: name }));
            }
            if stored.is_none() {
                self.leave(NotCarried::object(path, Reason::Filter { filter: name }));
            }
        }
        Ok(Ok(Some(Planned { dataset, stored, filters })))
    }

    fn attributes(
        &mut self,
        snapshot: &Snapshot,
        path: &str,
        kind: EntryKind,
    ) -> Result<Vec<Attribute>, Error> {
        let (attributes, left) = snapshot.attributes(path, kind)?;
        self.report.attributes += attributes.len() as u64;
        self.report.not_carried.extend(left);
        Ok(attributes)
    }

    fn leave(&mut self, left: NotCarried) {
        self.report.not_carried.push(left);
    }
}

impl Planned {
    /// Bytes of its elements.
    fn bytes(&self) -> u64 {
        let size = self.dataset.dtype.size().unwrap_or(super::base::REFERENCE);
        byte_count(&self.dataset.shape, size).unwrap_or(u64::MAX)
    }
}

/// Whether a path lies in the group at `above`.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// Why a dataset cannot go on from what is stored at its path.
fn disagreement(dataset: &SnapshotDataset, stored: &Settings) -> Option<Reason> {
    let found = &dataset.dtype;
    let both_strings = found.is_variable_string() && stored.dtype.is_variable_string();
    if *found != stored.dtype && !both_strings {
        return Some(Reason::OtherType { stored: stored.dtype.clone(), found: found.clone() });
    }
    let (stored, found) = (stored.chunk_shape.len(), dataset.shape.len());
    (stored != found).then_some(Reason::OtherRank { stored, found })
}

/// Whether chunks can be written with a filter.
fn can_write(dtype: &Dtype, filter: &Filter) -> bool {
    if dtype.is_variable_string() {
        // libhdf5 writes them.
        return is_available(filter);
    }
    // What is asked is not about any chunk.
    Pipeline::new(vec![filter.clone()], 0, dtype.size().unwrap_or(1)).can_encode().is_ok()
}

/// Whether chunks can be read that a filter was applied to.
fn can_read(filter: &Filter) -> bool {
    is_known(filter) || is_available(filter)
}

fn is_available(filter: &Filter) -> bool {
    h5z::is_available(&h5strata_ffi::lock(), filter.id.into()).unwrap_or(false)
}

/// Removes what the content lacks, if that is not kept, and what is in its way.
fn make_room(stage: &mut Stage<'_>, content: &Content, keep: bool) -> Result<(), Error> {
    for Entry { path, kind } in stage.entries() {
        // Gone with the group it was in.
        if stage.kind(&path).is_none() {
            continue;
        }
        let goes = match content.objects.get(&path) {
            None => !keep,
            Some(object) => {
                let wanted =
                    if object.dataset.is_some() { EntryKind::Dataset } else { EntryKind::Group };
                kind != wanted
            }
        };
        if goes {
            stage.delete(&path)?;
        }
    }
    Ok(())
}

fn stage_dataset(
    stage: &mut Stage<'_>,
    planned: Planned,
    options: &ImportOptions,
) -> Result<(), Error> {
    let Planned { dataset, stored, filters } = planned;
    let (path, dtype, parallel) =
        (dataset.path.clone(), dataset.dtype.clone(), stage.is_parallel());
    let wrong_shape = |error| {
        let fault = StageFault::from(crate::staged::StagedError::Dims(error));
        Error::NotCarried {
            file: dataset.snapshot.inner.path.clone(),
            not_carried: vec![NotCarried::object(&path, fault.into())],
        }
    };
    let mut builder = stage.create_dataset(&path).replacing();
    let mut fill = dataset.fill.clone();
    match stored {
        Some(stored) => fill = stored.fill,
        None => {
            builder = builder.stored_filters(filters);
            if let Some(chunk_shape) = &dataset.chunk_shape {
                builder = builder.chunks(chunk_shape);
            }
            if let Fill::Element(element) = &fill {
                builder = builder.fill(element);
            }
        }
    }
    let chunk_shape = builder.chunk_shape_for(&dtype, &dataset.shape)?;
    let source = Source::new(dataset.clone(), &chunk_shape, options.on_progress.clone())
        .map_err(wrong_shape)?;
    if dtype.is_variable_string() {
        let empty_fill = dataset.fill.as_bytes().is_empty();
        builder.string_source(dtype, Arc::new(SnapshotStrings::new(source, empty_fill)))?;
    } else {
        builder.source(dtype, Arc::new(SnapshotBase::new(source, &fill, parallel)))?;
    }
    Ok(())
}

/// Gives the object at a path these attributes and no others.
fn set_attributes(stage: &mut Stage<'_>, path: &str, wanted: &[Attribute]) -> Result<(), Error> {
    let present = stage.attributes(path)?;
    for attribute in &present {
        if !wanted.iter().any(|wanted| wanted.name == attribute.name) {
            stage.delete_attribute(path, &attribute.name)?;
        }
    }
    for attribute in wanted {
        if !present.contains(attribute) {
            stage.set_attribute(path, attribute.clone())?;
        }
    }
    Ok(())
}
