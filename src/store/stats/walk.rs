//! The walk through all versions, from the oldest on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use h5strata_ffi::h5o;

use super::super::dataset::Dataset;
use super::super::error::{DatasetFault, Error};
use super::super::file::FileInner;
use super::super::history::VersionInfo;
use super::super::names::{HASH_TABLE, RAW_DATA, ROOT};
use super::super::storage::Storage;
use super::super::verify::raw_data_paths;
use super::super::version::Version;
use super::options::StatsOptions;
use super::outside;
use super::report::{DatasetStats, Stats, StatsFault, VersionStats};
use super::strings::string_bytes;
use super::uses::{ChunkUses, Mapped};
use crate::dims::byte_count;
use crate::ondisk::size_in_collection;

/// The number in [`List::version`] that stands for several versions.
const SEVERAL: u32 = 0;

/// What is known of a file so far.
pub(super) struct Walk<'w> {
    file: &'w Arc<FileInner>,
    options: &'w StatsOptions,
    stats: Stats,
    /// By the path of `raw_data`.
    stored: BTreeMap<String, Stored>,
    /// By where they are in the file.
    lists: HashMap<u64, List>,
    /// Of each path the list that was decoded last: versions mostly have the same.
    last_lists: HashMap<String, LastList>,
}

/// What is stored of one dataset.
struct Stored {
    stats: DatasetStats,
    uses: ChunkUses,
    /// The last version that was found to have the dataset.
    last_version: u32,
}

/// A list of mappings in the file.
struct List {
    /// Number of the version that has it, or [`SEVERAL`].
    version: u32,
    bytes: u64,
}

/// A list of mappings that was decoded.
struct LastList {
    dataset: Dataset,
    mapped: Mapped,
    /// Whether two versions have it, so that all of its chunks are known to be shared.
    is_shared: bool,
}

impl<'w> Walk<'w> {
    pub(super) fn new(file: &'w Arc<FileInner>, options: &'w StatsOptions) -> Self {
        Self {
            file,
            options,
            stats: Stats::default(),
            stored: BTreeMap::new(),
            lists: HashMap::new(),
            last_lists: HashMap::new(),
        }
    }

    /// Looks at all versions, the oldest first.
    pub(super) fn versions(&mut self, versions: &[VersionInfo]) {
        for (number, info) in (1..).zip(versions) {
            let mut stats = VersionStats { version: info.name.clone(), ..VersionStats::default() };
            if let Err(error) = self.version(number, &info.name, &mut stats) {
                self.fault_of_version(error);
            }
            self.stats.versions.push(stats);
            self.options.tell(number.into(), versions.len() as u64);
        }
        self.last_lists.clear();
    }

    fn version(&mut self, number: u32, name: &str, stats: &mut VersionStats) -> Result<(), Error> {
        let version = Version::open(Arc::clone(self.file), name)?;
        for path in version.datasets()? {
            stats.datasets += 1;
            let looked = Dataset::open(Arc::clone(&version.inner), &path)
                .and_then(|dataset| self.dataset(number, &dataset, stats));
            if let Err(error) = looked {
                self.fault_of_version(error);
            }
        }
        Ok(())
    }

    fn fault_of_version(&mut self, error: Error) {
        self.stats.faults.push(StatsFault::Version(Box::new(error)));
    }

    fn dataset(
        &mut self,
        number: u32,
        dataset: &Dataset,
        stats: &mut VersionStats,
    ) -> Result<(), Error> {
        let inner = &dataset.inner;
        let storage = &inner.storage;
        self.find_stored(storage);
        let list_bytes = self.list(number, dataset);
        let mapped = self.mapped(number, dataset).map_err(inner.error())?;
        let elements = byte_count(inner.list.shape(), storage.raw.element_size());
        let logical = elements.unwrap_or(u64::MAX).saturating_add(mapped.strings);
        stats.logical = stats.logical.saturating_add(logical);
        stats.mapped.add_all(mapped.chunks);
        if let Some(stored) = self.stored.get_mut(&storage.path) {
            let of_dataset = &mut stored.stats;
            of_dataset.versions += u64::from(stored.last_version != number);
            stored.last_version = number;
            of_dataset.logical = of_dataset.logical.saturating_add(logical);
            of_dataset.mapped.add_all(mapped.chunks);
            of_dataset.lists = of_dataset.lists.saturating_add(list_bytes);
        }
        Ok(())
    }

    /// Counts a list of mappings; returns its bytes if it was not known before.
    fn list(&mut self, number: u32, dataset: &Dataset) -> u64 {
        let Some(range) = dataset.inner.list.stored_list() else { return 0 };
        let bytes = size_in_collection(range.len);
        let mut is_new = false;
        let list = self.lists.entry(range.offset).or_insert_with(|| {
            is_new = true;
            List { version: number, bytes }
        });
        if list.version != number {
            list.version = SEVERAL;
        }
        if is_new { bytes } else { 0 }
    }

    /// Counts what a dataset maps of the stored chunks.
    fn mapped(&mut self, number: u32, dataset: &Dataset) -> Result<Mapped, DatasetFault> {
        let inner = &dataset.inner;
        let last = self.last_lists.get(dataset.path());
        let last = last.filter(|last| {
            let other = &last.dataset.inner;
            inner.shares_stored_chunks(other) && inner.has_same_mappings(other).unwrap_or(false)
        });
        if let Some(LastList { mapped, is_shared: true, .. }) = last {
            return Ok(*mapped);
        }
        let is_shared = last.is_some();
        let map = inner.map_once()?;
        let Some(stored) = self.stored.get_mut(&inner.storage.path) else {
            return Ok(Mapped::default());
        };
        let mapped = stored.uses.add(&map, number);
        let last = LastList { dataset: dataset.clone(), mapped, is_shared };
        self.last_lists.insert(dataset.path().to_owned(), last);
        Ok(mapped)
    }

    /// Finds the stored chunks of all versions of a dataset, if they are not known yet.
    fn find_stored(&mut self, storage: &Storage) {
        let path = &storage.path;
        if self.stored.contains_key(path) {
            return;
        }
        let uses = self.chunks(storage).unwrap_or_else(|fault| {
            self.fault_of_raw_data(path, fault);
            ChunkUses::default()
        });
        let group = path.strip_suffix(RAW_DATA).unwrap_or(path);
        let dataset = group.strip_prefix(ROOT).unwrap_or(group).trim_matches('/').to_owned();
        let is_counted = storage.dtype.is_variable_string() && !self.options.quick;
        let stats = DatasetStats {
            dataset,
            raw_data: path.clone(),
            stored: uses.stored(),
            strings: is_counted.then(|| uses.strings()),
            hash_table: outside::stored_bytes(self.file, &format!("{group}{HASH_TABLE}")),
            ..DatasetStats::default()
        };
        self.stored.insert(path.clone(), Stored { stats, uses, last_version: 0 });
    }

    fn chunks(&mut self, storage: &Storage) -> Result<ChunkUses, DatasetFault> {
        let stored = storage.raw.stored_once(self.file.addresses());
        let stored = stored.map_err(DatasetFault::Index)?;
        let mut strings = None;
        if storage.dtype.is_variable_string() && !self.options.quick {
            // Chunks whose references cannot be read are chunks all the same.
            strings = string_bytes(self.file, storage, &stored).unwrap_or_else(|fault| {
                self.fault_of_raw_data(&storage.path, fault);
                None
            });
        }
        Ok(ChunkUses::new(&stored, strings))
    }

    fn fault_of_raw_data(&mut self, path: &str, fault: DatasetFault) {
        let (raw_data, fault) = (path.to_owned(), Box::new(fault));
        self.stats.faults.push(StatsFault::RawData { raw_data, fault });
    }

    /// Finds the stored chunks of datasets that no version has.
    pub(super) fn raw_data_of_no_version(&mut self) {
        let (paths, unlisted) = raw_data_paths(self.file);
        if let Some((group, fault)) = unlisted {
            self.stats.faults.push(StatsFault::Group { group, fault });
        }
        for path in paths {
            if self.stored.contains_key(&path) {
                continue;
            }
            match self.file.storage(&path) {
                Ok(storage) => self.find_stored(&storage),
                Err(fault) => self.fault_of_raw_data(&path, fault),
            }
        }
    }

    /// What is known in the end; `size`: bytes of the file.
    pub(super) fn finish(self, size: u64) -> Stats {
        let Self { file, mut stats, stored, lists, .. } = self;
        stats.size = size;
        let of = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
        for list in lists.into_values() {
            if let Some(version) = of(list.version).and_then(|at| stats.versions.get_mut(at)) {
                version.own_lists = version.own_lists.saturating_add(list.bytes);
            }
        }
        let known = stored.keys().flat_map(|path| {
            let group = path.strip_suffix(RAW_DATA).unwrap_or(path);
            [path.clone(), format!("{group}{HASH_TABLE}")]
        });
        stats.outside = outside::outside(file, addresses(file, known));
        for Stored { stats: mut of_dataset, uses, .. } in stored.into_values() {
            for (user, bytes) in uses.lone() {
                match of(user).and_then(|at| stats.versions.get_mut(at)) {
                    Some(version) => version.own.add(bytes),
                    None => of_dataset.orphans.add(bytes),
                }
            }
            stats.datasets.push(of_dataset);
        }
        stats
    }
}

/// Where the objects at some paths are.
fn addresses(file: &FileInner, paths: impl Iterator<Item = String>) -> HashSet<u64> {
    let Ok(session) = file.session() else { return HashSet::new() };
    paths.filter_map(|path| h5o::address(session.lock(), &session.file, &path).ok()).collect()
}
