//! All that a file shows.

use std::collections::BTreeMap;

use h5strata::store::{Attribute, EntryKind, Fill};
use h5strata::{Dtype, VerifyOptions, VersionedFile};

use crate::support::values::Values;

/// What a file shows of its versions, by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) versions: BTreeMap<String, VersionPicture>,
    pub(crate) current: Option<String>,
}

/// What a version shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VersionPicture {
    pub(crate) parent: Option<String>,
    timestamp: String,
    attributes: Vec<Attribute>,
    groups: BTreeMap<String, Vec<Attribute>>,
    datasets: BTreeMap<String, DatasetPicture>,
}

#[derive(Clone, Debug, PartialEq)]
struct DatasetPicture {
    dtype: Dtype,
    chunk_shape: Vec<u64>,
    filters: Vec<(u16, Vec<u32>)>,
    fill: Fill,
    stored: u64,
    attributes: Vec<Attribute>,
    values: Values,
}

impl Picture {
    pub(crate) fn of(file: &VersionedFile) -> Self {
        let versions = file.versions().unwrap().iter().map(|version| {
            let picture = VersionPicture {
                parent: version.parent.clone(),
                timestamp: version.timestamp.to_rfc3339(),
                attributes: Vec::new(),
                groups: BTreeMap::new(),
                datasets: BTreeMap::new(),
            };
            (version.name.clone(), picture.fill(file, &version.name))
        });
        Self { versions: versions.collect(), current: file.current_name().ok() }
    }

    /// As it is to be without some versions, each of which is not the parent of a deleted one's child twice removed.
    pub(crate) fn without(&self, deleted: &[&str]) -> Self {
        let survivor = |mut name: Option<String>| {
            while let Some(found) = name.clone().filter(|name| deleted.contains(&name.as_str())) {
                name = self.versions[&found].parent.clone();
            }
            name
        };
        let versions = self.versions.iter().filter(|(name, _)| !deleted.contains(&name.as_str()));
        let versions = versions.map(|(name, version)| {
            let parent = survivor(version.parent.clone());
            (name.clone(), VersionPicture { parent, ..version.clone() })
        });
        Self { versions: versions.collect(), current: survivor(self.current.clone()) }
    }
}

impl VersionPicture {
    fn fill(mut self, file: &VersionedFile, name: &str) -> Self {
        let version = file.version(name).unwrap();
        self.attributes = version.attributes().unwrap();
        for entry in version.entries().unwrap() {
            let attributes = version.attributes_of(&entry.path).unwrap();
            if entry.kind == EntryKind::Group {
                self.groups.insert(entry.path, attributes);
                continue;
            }
            let dataset = version.dataset(&entry.path).unwrap();
            let filters =
                dataset.filters().iter().map(|filter| (filter.id, filter.params.clone())).collect();
            let picture = DatasetPicture {
                dtype: dataset.dtype().clone(),
                chunk_shape: dataset.chunk_shape().to_vec(),
                filters,
                fill: dataset.fill_value().clone(),
                stored: dataset.chunk_map().unwrap().stored(),
                attributes,
                values: Values::whole(&dataset).unwrap(),
            };
            self.datasets.insert(entry.path, picture);
        }
        self
    }
}

/// Checks that a file is sound, with nothing in it that no version needs.
pub(crate) fn check_sound(file: &VersionedFile) {
    let report = file.verify(&VerifyOptions::new()).unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}
