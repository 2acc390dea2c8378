//! What the surviving versions hold, by the stored chunks that are behind it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::error::{DatasetFault, Error, RawDataFault};
use super::super::file::VersionedFile;
use super::super::names::{RAW_DATA, ROOT};
use super::super::storage::Storage;
use super::super::version::{Entry, EntryKind, Version};
use super::survivors::{Survivor, Survivors};
use crate::snapshot::{NotCarried, Reason};

/// Datasets of versions that are kept open from the first look at them to the last: 2 KiB each.
const MOST_OPEN: usize = 1 << 14;

/// Versions that are looked at together.
const TOGETHER: usize = 8;

/// Chunks of their maps that are kept from the first look at them to the last: 8 bytes each.
const MOST_CHUNKS: u64 = 6 << 20;

/// A surviving version.
#[derive(Debug)]
pub(super) struct OpenVersion {
    pub(super) version: Version,
    /// Its groups, each before those in it.
    pub(super) groups: Vec<String>,
}

/// A dataset of a surviving version.
#[derive(Debug)]
pub(in crate::store) struct Use {
    /// Which of the surviving versions it is of, in order of time.
    pub(in crate::store) version: usize,
    /// Its path there.
    pub(in crate::store) path: Arc<str>,
    dataset: Option<Dataset>,
    /// Whether the map stays decoded.
    pub(super) keeps_map: bool,
}

/// All datasets of the surviving versions whose chunks are stored in one place.
#[derive(Debug)]
pub(in crate::store) struct Source {
    /// Path of the dataset that the stored chunks are named after.
    pub(in crate::store) path: String,
    pub(in crate::store) storage: Arc<Storage>,
    /// In order of the versions' times.
    pub(in crate::store) uses: Vec<Use>,
}

/// What the surviving versions hold.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) versions: Vec<OpenVersion>,
    /// By the path of their stored chunks.
    pub(super) sources: BTreeMap<String, Vec<Use>>,
}

impl Content {
    /// Opens everything once.
    pub(super) fn find(file: &VersionedFile, survivors: &Survivors) -> Result<Self, Error> {
        let mut content = Self { versions: Vec::new(), sources: BTreeMap::new() };
        let mut paths: HashMap<String, Arc<str>> = HashMap::new();
        let (mut count, mut chunks) = (0, 0_u64);
        let threads = file.inner.threads();
        for together in survivors.versions.chunks(TOGETHER) {
            // Each dataset would lock the file by itself.
            let _entered = file.inner.enter()?;
            let found = together.par_iter().map(|survivor| Found::of(file, survivor));
            let found: Vec<Result<Found, Error>> = threads.install(|| found.collect());
            for found in found {
                let Found { open, datasets } = found?;
                let number = content.versions.len();
                for dataset in datasets {
                    let raw_data = dataset.raw_data().0.to_owned();
                    let path = paths.entry(dataset.path().to_owned());
                    let path = Arc::clone(path.or_insert_with_key(|path| path.as_str().into()));
                    count += 1;
                    chunks = chunks.saturating_add(dataset.chunk_count());
                    let keeps_map = count <= MOST_OPEN && chunks <= MOST_CHUNKS;
                    let dataset = Some(dataset).filter(|_| count <= MOST_OPEN);
                    let uses = content.sources.entry(raw_data).or_default();
                    uses.push(Use { version: number, path, dataset, keeps_map });
                }
                content.versions.push(open);
            }
        }
        Ok(content)
    }
}

/// What a version holds.
struct Found {
    open: OpenVersion,
    datasets: Vec<Dataset>,
}

impl Found {
    fn of(file: &VersionedFile, survivor: &Survivor) -> Result<Self, Error> {
        let version = Version::open(Arc::clone(&file.inner), &survivor.name)?;
        let (mut groups, mut datasets) = (Vec::new(), Vec::new());
        for Entry { path, kind } in version.entries()? {
            match kind {
                EntryKind::Group => groups.push(path),
                EntryKind::Dataset => {
                    datasets.push(Dataset::open(Arc::clone(&version.inner), &path)?);
                }
                EntryKind::Other => {
                    let path = format!("{}/{path}", survivor.name);
                    let not_carried = vec![NotCarried::object(path, Reason::Kind)];
                    return Err(Error::NotCarried { file: file.inner.path.clone(), not_carried });
                }
            }
        }
        Ok(Self { open: OpenVersion { version, groups }, datasets })
    }
}

impl Use {
    /// The dataset.
    pub(super) fn open(&self, versions: &[OpenVersion]) -> Result<Dataset, Error> {
        match &self.dataset {
            Some(dataset) => Ok(dataset.clone()),
            // A use is of one of them.
            None => Dataset::open(Arc::clone(&versions[self.version].version.inner), &self.path),
        }
    }
}

impl Source {
    /// The datasets whose chunks are stored at `raw_data`.
    pub(super) fn open(
        file: &VersionedFile,
        raw_data: &str,
        uses: Vec<Use>,
    ) -> Result<Self, DatasetFault> {
        let storage = file.inner.storage(raw_data)?;
        let path = raw_data
            .strip_prefix(ROOT)
            .and_then(|path| path.strip_prefix('/'))
            .and_then(|path| path.strip_suffix(RAW_DATA))
            .and_then(|path| path.strip_suffix('/'));
        let Some(path) = path.map(str::to_owned) else {
            let (raw_data, fault) = (raw_data.to_owned(), RawDataFault::Place);
            return Err(DatasetFault::RawData { raw_data, fault });
        };
        Ok(Self { path, storage, uses })
    }
}
