//! Who may write to a file, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::error::Error;
use super::file::{FileInner, VersionedFile};
use super::layout;
use super::stage::{Stage, StageOptions};
use super::version::Version;
use h5strata_ffi::{Lock, h5f};

/// What is known of the commits to an open file.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// Whether there is a stage.
    staging: Arc<AtomicBool>,
    /// Number of commits since the file was opened.
    commits: AtomicU64,
    /// Whether a commit has failed and what it had written could not be taken back.
    broken: AtomicBool,
}

/// The one stage that a file may have; when it is dropped there may be another.
#[derive(Debug)]
pub(super) struct StageGuard {
    staging: Arc<AtomicBool>,
}

impl Drop for StageGuard {
    fn drop(&mut self) {
        self.staging.store(false, Ordering::Release);
    }
}

impl Writer {
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    pub(super) fn committed(&self) {
        self.commits.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn set_broken(&self) {
        self.broken.store(true, Ordering::Release);
    }
}

impl FileInner {
    /// Writes everything to the file that libhdf5 still holds. Readers of metadata wait for it.
    pub(super) fn flush(&self, lock: &Lock) -> Result<(), h5strata_ffi::Error> {
        match &self.direct {
            Some(direct) => direct.bytes.change(|| h5f::flush(lock, &self.file)),
            None => h5f::flush(lock, &self.file),
        }
    }

    /// What committing needs.
    pub(super) fn writer(&self) -> Result<&Writer, Error> {
        let file = || self.path.clone();
        let writer = self.writer.as_ref().ok_or_else(|| Error::ReadOnly { file: file() })?;
        if writer.broken.load(Ordering::Acquire) {
            return Err(Error::Broken { file: file() });
        }
        Ok(writer)
    }
}

impl VersionedFile {
    /// Begins a new version, a child of the current one that becomes current.
    ///
    /// # Errors
    /// As [`StageOptions::stage`].
    pub fn stage(&mut self, name: &str) -> Result<Stage<'_>, Error> {
        StageOptions::new().stage(self, name)
    }

    /// Makes a version the current one.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::StageOpen`], [`Error::UnknownVersion`], [`Error::Library`].
    pub fn set_current(&mut self, name: &str) -> Result<(), Error> {
        let _guard = self.begin_stage()?;
        let version: Version = self.version(name)?;
        let inner = &self.inner;
        {
            let lock = h5strata_ffi::lock();
            layout::set_current(&lock, &inner.versions, version.name())
                .and_then(|()| inner.flush(&lock))
                .map_err(inner.library(super::names::VERSIONS))?;
        }
        self.renew(|_| false)
    }

    /// Takes the right to stage, and sees what clones of this handle have committed.
    pub(super) fn begin_stage(&mut self) -> Result<StageGuard, Error> {
        let writer = self.inner.writer()?;
        if writer.staging.swap(true, Ordering::AcqRel) {
            return Err(Error::StageOpen { file: self.inner.path.clone() });
        }
        let guard = StageGuard { staging: Arc::clone(&writer.staging) };
        self.inner = self.newest();
        Ok(guard)
    }

    /// Shows the file as it is after a commit.
    pub(super) fn renew(&mut self, changed: impl Fn(&str) -> bool) -> Result<(), Error> {
        self.inner.writer()?.committed();
        self.inner = Arc::new(self.inner.after_commit(changed));
        Ok(())
    }
}
