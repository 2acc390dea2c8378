//! Other settings for datasets, in all versions: chunk shape, type, fill value, filters.
//!
//! A file is [rebuilt](super::rebuild) with all its versions; the chunks of the datasets that change are not copied as
//! they are stored but brought to the new settings (see [`transcode`]).

mod blocks;
mod carry;
mod convert;
mod error;
mod known;
mod options;
mod report;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod transcode;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub(super) use self::carry::Carriers;
pub use self::error::RewriteFault;
pub use self::options::RewriteOptions;
pub use self::report::{DatasetSettings, RewriteReport, RewrittenDataset};
use self::settings::Change;
use super::error::{DatasetFault, Error, nearest};
use super::file::VersionedFile;
use super::names::{RAW_DATA, ROOT};
use super::open::io_error;
use super::rebuild::{Plan, rebuild};
use super::version::trim;

/// What becomes of datasets, by the path that their stored chunks are named after.
type Changes = BTreeMap<String, Change>;

impl VersionedFile {
    /// Gives datasets other settings in all versions: chunk shape, type, fill value, filters. Values, attributes, shapes,
    /// and settings that are not named, stay as they are. Elements that are the old fill value become the new one; what
    /// else a new type does to values is what a [`Cast`](crate::dtype::Cast) does.
    ///
    /// The file is written anew and takes the place of the old one, all of it or nothing, as
    /// [`repack_in_place`](Self::repack_in_place) does it; other datasets are copied as they are stored. Chunks are read,
    /// changed and written few at a time, each once however many versions have it. If no setting becomes another one
    /// nothing is written.
    ///
    /// # Errors
    /// [`Error::Rewrite`] with what is wrong, before anything is written; else as
    /// [`repack_in_place`](Self::repack_in_place).
    pub fn rewrite<S: AsRef<str>>(
        &mut self,
        datasets: &[S],
        options: &RewriteOptions,
    ) -> Result<RewriteReport, Error> {
        let paths: Vec<&str> = datasets.iter().map(|path| trim(path.as_ref())).collect();
        self.rewrite_some(Some(&paths), options)
    }

    /// As [`rewrite`](Self::rewrite), of all datasets.
    ///
    /// # Errors
    /// As [`rewrite`](Self::rewrite).
    pub fn rewrite_all(&mut self, options: &RewriteOptions) -> Result<RewriteReport, Error> {
        self.rewrite_some(None, options)
    }

    fn rewrite_some(
        &mut self,
        paths: Option<&[&str]>,
        options: &RewriteOptions,
    ) -> Result<RewriteReport, Error> {
        if !options.dry_run {
            // What clones have committed is there too.
            drop(self.begin_stage()?);
        }
        let changes = self.changes(paths, options)?;
        if options.dry_run || !changes.values().any(Change::is_any) {
            let size = std::fs::metadata(self.path()).map_err(|e| io_error(self.path(), e))?.len();
            return Ok(report(&changes, Vec::new(), (size, size), false));
        }
        self.replace(|file, new| {
            // Again, now that no clone commits anything.
            let changes = file.changes(paths, options)?;
            let survivors = file.survivors(&HashSet::new())?;
            let carriers = Carriers::new(file, &changes)?;
            let carrier = |path: &str| carriers.of(path);
            let on_progress = options.on_progress.as_ref();
            let plan = Plan { survivors: &survivors, carrier: &carrier, on_progress };
            let rebuilt = rebuild(file, new, &plan)?;
            let sizes = (rebuilt.old_bytes, rebuilt.new_bytes);
            Ok(report(&changes, carriers.reports(), sizes, true))
        })
    }

    /// How chunks get to a new file in which all datasets have other settings.
    pub(super) fn carriers(&self, options: &RewriteOptions) -> Result<Carriers, Error> {
        Carriers::new(self, &self.changes(None, options)?)
    }

    /// What becomes of the datasets at some paths, or of all, checked.
    fn changes(&self, paths: Option<&[&str]>, options: &RewriteOptions) -> Result<Changes, Error> {
        let raw_data: Vec<(String, String)> = match paths {
            Some(paths) => paths
                .iter()
                .map(|&path| Ok((path.to_owned(), self.raw_data_of(path)?)))
                .collect::<Result<_, Error>>()?,
            None => self.all_raw_data()?.into_iter().collect(),
        };
        let mut changes = Changes::new();
        for (path, raw_data) in raw_data {
            let storage = self.inner.storage(&raw_data);
            let storage = storage.map_err(|fault| self.storage_error(&path, fault))?;
            let change = Change::new(&storage, options);
            changes.insert(named_after(&raw_data), change.map_err(|f| self.refused(&path, f))?);
        }
        Ok(changes)
    }

    /// Where the chunks of the dataset at a path are stored, as the latest version has it.
    fn raw_data_of(&self, path: &str) -> Result<String, Error> {
        for version in self.versions()?.iter().rev() {
            let version = self.version(&version.name)?;
            if version.has_dataset(path) {
                return Ok(version.dataset(path)?.raw_data().0.to_owned());
            }
        }
        let known: Vec<String> = self.all_raw_data()?.into_keys().collect();
        Err(self.refused(path, RewriteFault::Unknown { nearest: nearest(path, &known) }))
    }

    /// The paths of all datasets of all versions, and where the chunks of each are stored.
    fn all_raw_data(&self) -> Result<BTreeMap<String, String>, Error> {
        let (mut all, mut seen) = (BTreeMap::new(), BTreeSet::new());
        for version in self.versions()?.iter().rev() {
            let version = self.version(&version.name)?;
            for path in version.datasets()? {
                if seen.insert(path.clone()) {
                    let raw_data = version.dataset(&path)?.raw_data().0.to_owned();
                    all.insert(path, raw_data);
                }
            }
        }
        Ok(all)
    }

    fn refused(&self, dataset: &str, fault: RewriteFault) -> Error {
        let (file, dataset) = (self.inner.path.clone(), dataset.to_owned());
        Error::Rewrite { file, dataset, fault: Box::new(fault) }
    }

    fn storage_error(&self, dataset: &str, fault: DatasetFault) -> Error {
        let (file, version) = (self.inner.path.clone(), String::new());
        Error::Dataset { file, version, dataset: dataset.to_owned(), fault: Box::new(fault) }
    }
}

/// The path of the dataset that stored chunks are named after.
fn named_after(raw_data: &str) -> String {
    let path = raw_data.strip_prefix(ROOT).and_then(|path| path.strip_suffix(RAW_DATA));
    path.unwrap_or(raw_data).trim_matches('/').to_owned()
}

/// What was done, and would be done, with each dataset.
fn report(
    changes: &Changes,
    done: Vec<RewrittenDataset>,
    (bytes_before, bytes): (u64, u64),
    rewritten: bool,
) -> RewriteReport {
    let mut done: HashMap<String, RewrittenDataset> =
        done.into_iter().map(|report| (report.path.clone(), report)).collect();
    let datasets = changes
        .iter()
        .map(|(path, change)| {
            done.remove(path).unwrap_or_else(|| RewrittenDataset::new(path, change))
        })
        .collect();
    RewriteReport { rewritten, datasets, bytes_before, bytes }
}
