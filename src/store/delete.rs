//! Versions that are deleted for good.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::error::Error;
use super::file::VersionedFile;
use super::history::VersionInfo;
use super::rebuild::{Copy, Plan, RebuildReport, rebuild};
use crate::snapshot::OnProgress;

/// Which versions are deleted. A version that any part asks for is deleted; but the current one only if it is
/// [named](Self::names).
#[derive(Clone, Debug, Default)]
pub struct DeleteSelection {
    names: Vec<String>,
    keep_last: Option<usize>,
    before: Option<DateTime<Utc>>,
    keep_every: Option<usize>,
}

impl DeleteSelection {
    /// No version.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Versions of these names.
    #[must_use]
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// All versions but the `count` latest.
    #[must_use]
    pub fn keep_last(mut self, count: usize) -> Self {
        self.keep_last = Some(count);
        self
    }

    /// All versions that are older than a time.
    #[must_use]
    pub fn before(mut self, time: DateTime<Utc>) -> Self {
        self.before = Some(time);
        self
    }

    /// All versions but every `step`-th in order of time, of which the first is one; with 0, all.
    #[must_use]
    pub fn keep_every(mut self, step: usize) -> Self {
        self.keep_every = Some(step);
        self
    }

    /// Names of the versions of a file that are selected, in order of time.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`]; else as [`VersionedFile::versions`] and [`VersionedFile::current_name`].
    pub fn of(&self, file: &VersionedFile) -> Result<Vec<String>, Error> {
        let current = match file.current_name() {
            Ok(name) => Some(name),
            Err(Error::NoVersions { .. }) => None,
            Err(error) => return Err(error),
        };
        let versions = file.versions()?;
        let named: HashSet<&str> = self.names.iter().map(String::as_str).collect();
        file.check_names(&named)?;
        let selected = versions.iter().enumerate().filter(|&(at, version)| {
            let is_current = current.as_deref() == Some(&version.name);
            named.contains(version.name.as_str())
                || (!is_current && self.is_old(at, version, versions.len()))
        });
        Ok(selected.map(|(_, version)| version.name.clone()).collect())
    }

    /// Whether a version is selected by its place in time, which is `at` of `count`.
    fn is_old(&self, at: usize, version: &VersionInfo, count: usize) -> bool {
        self.keep_last.is_some_and(|last| at < count.saturating_sub(last))
            || self.before.is_some_and(|time| version.timestamp < time)
            || self.keep_every.is_some_and(|step| !at.is_multiple_of(step) || step == 0)
    }
}

/// How versions are deleted.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    dry_run: bool,
    on_progress: Option<OnProgress>,
}

impl DeleteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it is only told what would be deleted.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Is told how far each dataset has come.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}

/// What was deleted, or would be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeleteReport {
    /// Names of the versions, in order of time.
    pub deleted: Vec<String>,
    /// Versions that have another parent then, each with its name; `None` for one that has become a root.
    pub moved: Vec<(String, Option<String>)>,
    /// The current version then; `None` if there is none.
    pub current: Option<String>,
    /// What the file has then; `None` if nothing was written.
    pub file: Option<RebuildReport>,
}

impl VersionedFile {
    /// Deletes versions for good: the file is written anew without them and takes the place of the old one, all of it or
    /// nothing. Not a byte of what only they had is left in it, neither in padding nor in what was freed, and the space
    /// is given back.
    ///
    /// Children of a deleted version become those of its nearest ancestor that is left, and so does the current version.
    /// If none is left the file has no version. Without a version to delete nothing is written.
    ///
    /// Who has the file open reads on in the old one, whose bytes are given back to the system when the last of them has
    /// closed it; clones of this handle take no more commits then: [`Error::Replaced`]. In copies of the file, and under
    /// other hard links of it, the versions live on.
    ///
    /// ```no_run
    /// use h5strata::{DeleteOptions, DeleteSelection, VersionedFile};
    /// let mut file = VersionedFile::open_rw("prices.h5")?;
    /// let report = file.delete_versions(&DeleteSelection::new().keep_last(30), &DeleteOptions::new())?;
    /// println!("{} versions deleted", report.deleted.len());
    /// # Ok::<(), h5strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownVersion`]; else as [`repack_in_place`](Self::repack_in_place).
    pub fn delete_versions(
        &mut self,
        selection: &DeleteSelection,
        options: &DeleteOptions,
    ) -> Result<DeleteReport, Error> {
        if options.dry_run {
            return self.plan_to_delete(selection).map(|(_, report)| report);
        }
        // What clones have committed is there too.
        drop(self.begin_stage()?);
        let (_, report) = self.plan_to_delete(selection)?;
        if report.deleted.is_empty() {
            return Ok(report);
        }
        let on_progress = options.on_progress.as_ref();
        self.replace(|file, new| {
            // Again, now that no clone commits anything.
            let (survivors, mut report) = file.plan_to_delete(selection)?;
            let plan = Plan { survivors: &survivors, carrier: &|_| &Copy, on_progress };
            report.file = Some(rebuild(file, new, &plan)?);
            Ok(report)
        })
    }

    fn plan_to_delete(
        &self,
        selection: &DeleteSelection,
    ) -> Result<(super::rebuild::Survivors, DeleteReport), Error> {
        let deleted = selection.of(self)?;
        let survivors = self.survivors(&deleted.iter().map(String::as_str).collect())?;
        let moved = survivors.versions.iter().filter(|version| version.is_moved);
        let moved = moved.map(|version| (version.name.clone(), version.parent.clone())).collect();
        let current = survivors.current.clone();
        Ok((survivors, DeleteReport { deleted, moved, current, file: None }))
    }
}
