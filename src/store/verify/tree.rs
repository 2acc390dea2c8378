//! What a version holds: groups, attributes, datasets and their mappings.

use std::sync::Arc;

use super::super::dataset::Dataset;
use super::super::error::{DatasetFault, Error};
use super::super::names::raw_data_path;
use super::super::version::{Entry, EntryKind, Version};
use super::fault::VersionFault;
use super::finding::Finding;
use super::{Verifier, attributes};
use crate::chunk_map::MapError;
use crate::dims::Dims;

/// Mappings of one list that are told of: a list with more that do not fit is given up.
const MOST_FAULTS: usize = 100;

impl Verifier<'_> {
    /// Walks through a version.
    pub(super) fn version(&mut self, name: &Arc<str>) {
        let listed = Version::open(Arc::clone(&self.file), name).and_then(|version| {
            let entries = version.entries_below("")?;
            Ok((version, entries))
        });
        let (version, entries) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                self.is_partial = true;
                return self.object(name, "", error);
            }
        };
        if let Err(error) = version.attributes() {
            self.object(name, "", error);
        }
        for Entry { path, kind } in entries {
            let looked_at = match kind {
                EntryKind::Group => version.attributes_of(&path).map(drop),
                EntryKind::Dataset => self.dataset(&version, name, &path),
                EntryKind::Other => version.kind(&path).map(drop),
            };
            if let Err(error) = looked_at {
                self.object(name, &path, error);
            }
        }
    }

    fn object(&mut self, version: &Arc<str>, path: &str, error: Error) {
        // It may be a dataset: then its chunks are those of the same path.
        if !path.is_empty() {
            self.partial.insert(raw_data_path(path));
        }
        let version = Arc::clone(version);
        self.found(match error {
            Error::Dataset { dataset, fault, .. } => {
                Finding::Dataset { version, dataset: dataset.into(), fault }
            }
            error => Finding::Object { version, path: path.to_owned(), fault: error.into() },
        });
    }

    fn dataset(&mut self, version: &Version, name: &Arc<str>, path: &str) -> Result<(), Error> {
        self.report.datasets += 1;
        let dataset = Dataset::open(Arc::clone(&version.inner), path)?;
        self.mappings(&dataset, name, path).map_err(dataset.inner.error())?;
        for fault in attributes::faults(&dataset, &version.inner.attributes(path, &[])?) {
            let (version, path) = (Arc::clone(name), path.to_owned());
            self.found(Finding::Object { version, path, fault: VersionFault::Format(fault) });
        }
        Ok(())
    }

    /// Decodes a list of mappings, and counts what it uses.
    fn mappings(
        &mut self,
        dataset: &Dataset,
        name: &Arc<str>,
        path: &str,
    ) -> Result<(), DatasetFault> {
        let inner = &dataset.inner;
        let usage = self.usages.entry(inner.storage.path.clone()).or_default();
        usage.raw_chunks = inner.storage.raw.chunks();
        let path: Arc<str> = match usage.users.last() {
            Some((_, last)) if &**last == path => Arc::clone(last),
            _ => path.into(),
        };
        // What is the same as in the version before, byte by byte, is known already.
        let last = self.last_lists.get(&*path);
        let is_known = last.is_some_and(|last| {
            inner.shares_stored_chunks(&last.inner)
                && inner.has_same_mappings(&last.inner).unwrap_or(false)
        });
        let mut faults = Vec::new();
        if !is_known {
            self.last_lists.remove(&*path);
            let map = inner.decode_map_but(|fault| {
                if faults.len() == MOST_FAULTS {
                    return Err(fault);
                }
                faults.push(fault);
                Ok(())
            });
            let chunk_shape = inner.storage.raw.chunk_shape();
            if map.is_err() || !faults.is_empty() {
                self.partial.insert(inner.storage.path.clone());
            }
            usage.add(&map?, inner.list.shape(), inner.geometry.grid(), chunk_shape);
            if faults.is_empty() {
                self.last_lists.insert(path.to_string(), dataset.clone());
            }
        }
        usage.users.push((Arc::clone(name), Arc::clone(&path)));
        for fault in faults {
            let chunk = match &fault {
                MapError::Mapping { start, .. } => {
                    let axes = start.iter().zip(inner.storage.raw.chunk_shape());
                    axes.map(|(start, chunk)| start / chunk.max(&1)).collect::<Dims>().to_vec()
                }
                _ => Vec::new(),
            };
            let (version, dataset) = (Arc::clone(name), Arc::clone(&path));
            self.found(Finding::Mapping { version, dataset, chunk, fault });
        }
        Ok(())
    }
}
