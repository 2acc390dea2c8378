//! Files of older formats made files of the newest one (format-v4.md, "Tree").
//!
//! | data_version | hash tables | what is done |
//! |---|---|---|
//! | 1 | of strings of variable length: digests of addresses in memory; all others right | those of strings are made anew |
//! | 2 | rows may be of other chunks than they say | all are made anew, where that is asked for |
//! | 3 | strings are hashed without their lengths | the same |
//!
//! Values stay as they are. A version that was committed by a wrong table may hold chunks of other data, which no new table
//! finds out: so 2 and 3 are never upgraded unasked.

use std::path::Path;
use std::sync::Arc;

use super::commit::Transaction;
use super::error::Error;
use super::file::VersionedFile;
use super::layout;
use super::names::{DATA_VERSION, NEWEST_DATA_VERSION, VERSIONS};
use super::open::OpenOptions;
use super::repair::replace_tables;
use super::verify::{NewTable, Survey, Trust, VerifyOptions};
use crate::snapshot::OnProgress;

/// Upgrades files of older formats.
///
/// Files of data_version 1 are upgraded by [`VersionedFile::open_rw`] as well.
///
/// ```no_run
/// use h5strata::UpgradeOptions;
/// let report = UpgradeOptions::new().rebuild_hashes(true).upgrade("old.h5")?;
/// println!("it was of data_version {}", report.from);
/// # Ok::<(), h5strata::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct UpgradeOptions {
    open: OpenOptions,
}

/// What an upgrade has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpgradeReport {
    /// The format that the file was of.
    pub from: i64,
    /// The hash tables that were made anew, in order of their paths; none in a file of the newest format.
    pub tables: Vec<UpgradedTable>,
}

/// A hash table that was made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpgradedTable {
    /// Path of the `raw_data` that it is of.
    pub raw_data: String,
    /// Its rows, one for each stored chunk.
    pub rows: u64,
    /// Of these, how many have a digest. The others are of chunks that no version uses, that hold what another one holds,
    /// or that cannot be read: they are not used again.
    pub digests: u64,
}

impl UpgradeReport {
    /// Whether the file was of the newest format already.
    pub fn was_newest(&self) -> bool {
        self.from == NEWEST_DATA_VERSION
    }

    /// Whether versions of the file may hold chunks of other data, which nothing in it tells.
    pub fn may_hold_wrong_chunks(&self) -> bool {
        matches!(self.from, 2 | 3)
    }
}

impl UpgradeOptions {
    /// Only files whose values are right are upgraded: those of data_version 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether files of data_version 2 and 3 are upgraded too. All their hash tables are made anew. What versions hold
    /// stays as it is: those that were committed after a wrong table was made may hold chunks of other data.
    #[must_use]
    pub fn rebuild_hashes(mut self, rebuild: bool) -> Self {
        self.open.rebuild_hashes = rebuild;
        self
    }

    /// How the file is opened: threads, durability, patience, and who is told how far it has come.
    #[must_use]
    pub fn open_options(mut self, options: OpenOptions) -> Self {
        let rebuild_hashes = self.open.rebuild_hashes;
        self.open = options;
        self.open.rebuild_hashes = rebuild_hashes;
        self
    }

    /// Upgrades a file, as safely as a commit; one of the newest format is left as it is.
    ///
    /// # Errors
    /// As [`OpenOptions::open_rw`]; [`Error::DataVersion`] for a file of data_version 2 or 3 unless that was asked for.
    pub fn upgrade(&self, path: impl AsRef<Path>) -> Result<UpgradeReport, Error> {
        let file = self.open.open_rw(path)?;
        let newest = || UpgradeReport { from: NEWEST_DATA_VERSION, tables: Vec::new() };
        Ok(file.upgraded().cloned().unwrap_or_else(newest))
    }
}

/// Makes a file that is open for writing one of the newest format, if it is not.
pub(super) fn upgrade(
    file: &mut VersionedFile,
    on_progress: Option<&OnProgress>,
) -> Result<(), Error> {
    let inner = Arc::clone(&file.inner);
    let from = inner.data_version();
    if from == NEWEST_DATA_VERSION {
        return Ok(());
    }
    let mut options = VerifyOptions::new();
    if let Some(on_progress) = on_progress {
        options = options.on_progress(on_progress.clone());
    }
    let mut survey = Survey::of(Arc::new(inner.anew()), &options)?;
    let mut tables: Vec<(String, NewTable)> = Vec::new();
    for raw_data in survey.raw_data() {
        if from == 1 && !survey.is_of_strings(&raw_data) {
            continue;
        }
        // What cannot be opened can't be committed to either.
        if let Ok(table) = survey.table(&raw_data, Trust::Chunks) {
            tables.push((raw_data, table));
        }
    }
    Transaction::mend(&inner, |transaction| {
        replace_tables(transaction, &inner, &tables)?;
        let lock = h5strata_ffi::lock();
        let versions = transaction.versions();
        layout::write_integer(&lock, versions, ".", DATA_VERSION, NEWEST_DATA_VERSION)
            .map_err(inner.library(VERSIONS))
    })?;
    let tables = tables.into_iter().map(|(raw_data, table)| {
        let digests = table.rows.iter().filter(|row| row.digest().is_some()).count() as u64;
        UpgradedTable { raw_data, rows: table.rows.len() as u64, digests }
    });
    let report = UpgradeReport { from, tables: tables.collect() };
    file.inner = Arc::new(inner.after_upgrade(report));
    Ok(())
}
