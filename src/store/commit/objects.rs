//! The groups and datasets of a version that is written.

use h5strata_ffi::h5s::Hyperslab;
use h5strata_ffi::id::DatasetCreation;
use h5strata_ffi::{Lock, h5d, h5g, h5o, h5p, h5s};

use super::super::describe;
use super::super::digest::Trimmed;
use super::super::error::Error;
use super::super::names::{DATASET_ATTRIBUTES, VERSIONS, raw_data_path};
use super::super::stage::{Content, Node, NodeKind, Stage};
use super::mappings::Mappings;
use super::template::{Template, Templates};
use super::{Bare, StoredDataset, VersionGroup, attributes};
use crate::dims::unravel;

/// Writes the objects of a version, one after the other.
pub(super) struct ObjectWriter<'w> {
    lock: &'w Lock,
    version: &'w VersionGroup,
    templates: Templates,
    /// The datasets of the parent version that are known to have no attributes of the user's.
    bare_before: Option<&'w Bare>,
    /// Those of this version.
    pub(super) bare: Bare,
    mappings: &'w mut Mappings,
}

impl<'w> ObjectWriter<'w> {
    pub(super) fn new(
        lock: &'w Lock,
        version: &'w VersionGroup,
        bare_before: Option<&'w Bare>,
        mappings: &'w mut Mappings,
    ) -> Result<Self, h5strata_ffi::Error> {
        let (templates, bare) = (Templates::new(lock)?, Bare::new());
        Ok(Self { lock, version, templates, bare_before, bare, mappings })
    }

    /// Writes the object at a path, which is above those at longer ones.
    pub(super) fn write(
        &mut self,
        stage: &Stage<'_>,
        path: &str,
        node: &Node,
        stored: Option<&StoredDataset>,
    ) -> Result<(), Error> {
        let (lock, version) = (self.lock, self.version);
        let written = match (&node.kind, stored) {
            (NodeKind::Group, _) => write_group(lock, version, path, node),
            (NodeKind::Staged(content), Some(stored)) if !node.is_untouched(path) => {
                self.write_dataset(path, node, content, stored)
            }
            _ => {
                if node.attributes.is_empty() && self.comes_bare(node) {
                    self.bare.insert(path.to_owned());
                }
                take_over(lock, version, path, node, self.mappings)
            }
        };
        written.map_err(stage.file.inner.library(&format!("{VERSIONS}/{}/{path}", stage.name)))
    }

    /// Whether an object's origin has no attributes of the user's, or it has no origin.
    fn comes_bare(&self, node: &Node) -> bool {
        let is_bare = |origin| self.bare_before.is_some_and(|bare| bare.contains(origin));
        node.origin.as_deref().is_none_or(is_bare)
    }

    /// Makes the virtual dataset of a version: one mapping a stored chunk (format-v4.md, "A version's dataset").
    fn write_dataset(
        &mut self,
        path: &str,
        node: &Node,
        content: &Content,
        stored: &StoredDataset,
    ) -> Result<(), h5strata_ffi::Error> {
        let origin = node.origin.as_deref().filter(|_| !self.comes_bare(node));
        let Self { lock, version, templates, bare, mappings, .. } = self;
        let version: &VersionGroup = version;
        let (settings, array) = (&content.settings, &content.array);
        let raw_data = raw_data_path(path);
        // That there is a description was checked when the dataset was staged.
        let Ok(description) = describe::description(&settings.dtype) else { return Ok(()) };
        let has_mappings = !stored.chunks.map.is_empty();
        let becomes_virtual = has_mappings && mappings.writes_staged();
        let own;
        let template = if becomes_virtual {
            // With its list. No chunk of what it is until then may be larger than the whole.
            let chunks = array.chunk_shape().iter().zip(array.shape());
            let chunks = chunks.map(|(&edge, &size)| edge.min(size)).collect();
            templates.of_chunks(lock, description, settings, chunks)?
        } else {
            own = Template::new(lock, description, settings)?;
            if has_mappings {
                map_chunks(lock, &own.creation, content, &raw_data, stored)?;
            } else {
                h5p::set_virtual_layout(lock, &own.creation)?;
            }
            &own
        };
        let space = h5s::simple(lock, array.shape())?;
        let Template { datatype, creation, .. } = template;
        let dataset = h5d::create(lock, &version.group, path, datatype, &space, creation)?;
        if becomes_virtual {
            mappings.add(h5o::object(lock, dataset.id(), ".")?.address, path);
        }
        let changes = &node.attributes;
        if attributes::write(lock, version, path, origin, changes, &DATASET_ATTRIBUTES)? == 0 {
            bare.insert(path.to_owned());
        }
        templates.attributes.write(lock, dataset.id(), &raw_data, &settings.chunk_shape)
    }
}

fn write_group(
    lock: &Lock,
    version: &VersionGroup,
    path: &str,
    node: &Node,
) -> Result<(), h5strata_ffi::Error> {
    drop(h5g::create(lock, &version.group, path)?);
    attributes::write(lock, version, path, node.origin.as_deref(), &node.attributes, &[])?;
    Ok(())
}

/// Takes an object over from the parent version, as a copy. Its list of mappings is copied later, as bytes: libhdf5
/// takes 10 microseconds a mapping.
///
/// A hard link to the parent's object would cost nothing, and versioned-hdf5 reads, stages and deletes such versions.
/// But when it changes a dataset's metadata it walks all versions with `H5Ovisit`, which comes by each object once,
/// and leaves the other names of a shared one as they were. Nor can two datasets have one list: libhdf5 frees it with the
/// first of them that is deleted, whatever its reference count says (`H5D__virtual_delete`).
fn take_over(
    lock: &Lock,
    version: &VersionGroup,
    path: &str,
    node: &Node,
    mappings: &mut Mappings,
) -> Result<(), h5strata_ffi::Error> {
    let (Some(parent), Some(origin)) = (&version.parent, &node.origin) else { return Ok(()) };
    h5o::copy(lock, parent, origin, &version.group, path)?;
    if mappings.is_hidden(origin) {
        mappings.copy(h5o::address(lock, &version.group, path)?, origin);
    }
    attributes::change(lock, version, path, &node.attributes)
}

fn map_chunks(
    lock: &Lock,
    creation: &DatasetCreation,
    content: &Content,
    raw_data: &str,
    stored: &StoredDataset,
) -> Result<(), h5strata_ffi::Error> {
    let array = &content.array;
    let chunk_shape = array.chunk_shape();
    let edge = chunk_shape.first().copied().unwrap_or(0);
    let mut extent = chunk_shape.to_vec();
    if let Some(rows) = extent.first_mut() {
        *rows = edge.saturating_mul(stored.chunks.end);
    }
    let source = h5s::simple(lock, &extent)?;
    let target = h5s::simple(lock, array.shape())?;
    let one = vec![1; chunk_shape.len()];
    let mut from = vec![0; chunk_shape.len()];
    for &(chunk, raw) in &stored.chunks.map {
        let coordinate = unravel(chunk.0, array.grid());
        let block = Trimmed::new(&coordinate, array.shape(), chunk_shape).shape;
        let to: Vec<u64> = coordinate.iter().zip(chunk_shape).map(|(at, size)| at * size).collect();
        if let Some(row) = from.first_mut() {
            *row = raw.0.saturating_mul(edge);
        }
        let select = |start| Hyperslab { start, stride: None, count: &one, block: Some(&block) };
        h5s::select_hyperslab(lock, &source, &select(&from))?;
        h5s::select_hyperslab(lock, &target, &select(&to))?;
        h5p::set_virtual(lock, creation, &target, ".", raw_data, &source)?;
    }
    Ok(())
}
