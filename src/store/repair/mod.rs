//! What verifying finds and can be put right without losing anything.
//!
//! ```text
//! verify ──► findings ──► plan ──► one transaction ──► verify
//! ```
//!
//! A chunk that does not fit its row is damage, of the one or of the other. The row gives way only where a filter has
//! checked the chunk (fletcher32, deflate), or where that is asked for. Else a new row would make the damage look like
//! what was committed.

mod options;
mod plan;
mod report;

use std::sync::Arc;

use h5strata_ffi::h5l;

pub use options::RepairOptions;
pub use report::{Repair, RepairReport};

use self::plan::Plan;
use super::commit::{Transaction, replace_table};
use super::error::{DatasetFault, Error};
use super::file::{FileInner, Latest, VersionedFile};
use super::layout;
use super::names::{FIRST_VERSION, RAW_DATA, ROOT, VERSIONS};
use super::verify::NewTable;

impl VersionedFile {
    /// Verifies the file and puts right what can be without losing anything, all of it or nothing:
    ///
    /// - hash tables that are missing, unreadable or wrong, or count fewer chunks than versions use, are made anew from the
    ///   stored chunks;
    /// - the current version, where there is none of that name, becomes the newest one by time;
    /// - what stopped writers have left is dropped: versions that were never committed, stored chunks that neither a
    ///   version nor a row tells of, and bytes behind the end of the file.
    ///
    /// All else that is damaged stays, and is told. The file is verified again if anything was changed, and else not
    /// written to.
    ///
    /// ```no_run
    /// use h5strata::{RepairOptions, VersionedFile};
    /// let report = VersionedFile::open_rw("prices.h5")?.repair(&RepairOptions::new())?;
    /// for repair in &report.repairs {
    ///     println!("{repair}");
    /// }
    /// assert!(report.remaining.is_sound());
    /// # Ok::<(), h5strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::StageOpen`]; as [`verify`](Self::verify), and as
    /// [`Stage::commit`](super::stage::Stage::commit): then the file is as it was.
    pub fn repair(&mut self, options: &RepairOptions) -> Result<RepairReport, Error> {
        let _guard = self.begin_stage()?;
        let found = self.verify(&options.verify)?;
        let plan = Plan::new(&self.inner, &found, options)?;
        let repairs = plan.carry_out(self)?;
        let remaining = if repairs.is_empty() { found } else { self.verify(&options.verify)? };
        Ok(RepairReport { repairs, remaining })
    }
}

impl Plan {
    fn carry_out(mut self, file: &mut VersionedFile) -> Result<Vec<Repair>, Error> {
        let mut repairs = Vec::new();
        if self.has_tail {
            let bytes = file.inner.writer()?.held().cut_tail(&file.inner.path)?;
            repairs.push(Repair::Tail { bytes });
        }
        let inner = Arc::clone(&file.inner);
        let mut changed = self.change(&inner);
        if matches!(changed, Err(Error::Library { .. })) && !self.not_committed.is_empty() {
            // What is half-written may be such that libhdf5 cannot remove it. It is in nobody's way.
            self.not_committed.clear();
            changed = self.change(&inner);
        }
        changed?;
        if self.is_empty() {
            return Ok(repairs);
        }
        for (raw_data, _) in &self.tables {
            inner.forget_storage(raw_data);
        }
        file.renew(|_| None, Latest::default());
        repairs.extend(self.repairs());
        Ok(repairs)
    }

    /// Does what is to be done inside the file, if anything is.
    fn change(&self, inner: &FileInner) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        Transaction::mend(inner, |transaction| {
            replace_tables(transaction, inner, &self.tables)?;
            let lock = h5strata_ffi::lock();
            let versions = transaction.versions();
            for version in &self.not_committed {
                h5l::delete(&lock, versions, version)
                    .map_err(inner.library(&format!("{VERSIONS}/{version}")))?;
            }
            if let Some(version) = &self.current {
                let name = version.as_deref().unwrap_or(FIRST_VERSION);
                layout::set_current(&lock, versions, name).map_err(inner.library(VERSIONS))?;
            }
            Ok(())
        })
    }
}

/// Puts new hash tables in the place of those of these `raw_data`.
pub(super) fn replace_tables(
    transaction: &mut Transaction<'_>,
    inner: &FileInner,
    tables: &[(String, NewTable)],
) -> Result<(), Error> {
    for (raw_data, table) in tables {
        let Some(path) = dataset_of(raw_data) else { continue };
        let replaced = replace_table(transaction, path, &table.chunk_shape, &table.rows);
        replaced.map_err(|fault: DatasetFault| {
            let (file, raw_data) = (inner.path.clone(), raw_data.clone());
            Error::Storage { file, raw_data, fault: Box::new(fault) }
        })?;
    }
    Ok(())
}

/// The path of the dataset whose stored chunks are at a path, if they are where a dataset's are.
fn dataset_of(raw_data: &str) -> Option<&str> {
    let path = raw_data.strip_prefix(ROOT)?.strip_suffix(RAW_DATA)?;
    path.strip_prefix('/')?.strip_suffix('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::names::raw_data_path;

    #[test]
    fn stored_chunks_belong_to_the_dataset_of_their_path() {
        for path in ["a", "group/of/a", "raw_data"] {
            assert_eq!(dataset_of(&raw_data_path(path)), Some(path));
        }
        for path in ["/other/a/raw_data", "/_version_data/raw_data", "/_version_data/a", ""] {
            assert_eq!(dataset_of(path), None, "{path}");
        }
    }
}
