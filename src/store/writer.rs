//! Who may write to a file, and when.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::commit::{Digests, Mappings, Transaction};
use super::error::Error;
use super::file::{FileInner, Latest, VersionedFile};
use super::layout;
use super::open::{io_error, structure_error};
use super::stage::{Stage, StageOptions};
use super::version::Version;
use crate::atomic::{Durability, Overlay, WriterLock, committed_end, cut_tail};

/// How commits are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommitOptions {
    pub(super) durability: Durability,
    /// How long a commit waits for readers.
    pub(super) patience: Duration,
    /// Whether libhdf5 writes the lists of mappings.
    pub(super) library_mappings: bool,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            patience: Duration::from_secs(30),
            library_mappings: false,
        }
    }
}

/// What is known of the commits to an open file.
#[derive(Debug)]
pub(super) struct Writer {
    /// Whether there is a stage.
    staging: Arc<AtomicBool>,
    /// Number of commits since the file was opened.
    commits: AtomicU64,
    /// Whether a commit has failed at writing.
    broken: AtomicBool,
    /// Whether another file has taken the place of this one.
    replaced: AtomicBool,
    pub(super) options: CommitOptions,
    held: Mutex<Held>,
}

/// What only one commit at a time may have.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: File,
    /// That nobody else writes.
    pub(super) lock: WriterLock,
    /// The digests of the stored chunks of the datasets that were committed to, by the path of their table.
    pub(super) tables: HashMap<String, Digests>,
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
    pub(super) fn new(file: File, lock: WriterLock, options: CommitOptions) -> Self {
        Self {
            staging: Arc::default(),
            commits: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            replaced: AtomicBool::new(false),
            options,
            held: Mutex::new(Held { file, lock, tables: HashMap::new() }),
        }
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Has every handle of the file refuse to write.
    pub(super) fn set_broken(&self) {
        self.broken.store(true, Ordering::Release);
    }

    /// Has every handle of the file refuse to write, as its name leads to another one.
    pub(super) fn set_replaced(&self) {
        self.replaced.store(true, Ordering::Release);
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// The file at `path`, to be changed.
    pub(super) fn overlay(&self, path: &Path, durability: Durability) -> Result<Overlay, Error> {
        let end = self.end(path)?;
        // What a stopped writer has left behind the end.
        cut_tail(&self.file, end).map_err(|source| io_error(path, source))?;
        let file = self.file.try_clone().map_err(|source| io_error(path, source))?;
        Ok(Overlay::new(file, path, end, durability)?)
    }

    /// Cuts off what a stopped writer has left behind the end of the file at `path`; gives how many bytes.
    pub(super) fn cut_tail(&mut self, path: &Path) -> Result<u64, Error> {
        self.lock.ensure_held()?;
        let end = self.end(path)?;
        cut_tail(&self.file, end).map_err(|source| io_error(path, source))
    }

    fn end(&self, path: &Path) -> Result<u64, Error> {
        committed_end(&self.file).map_err(|source| structure_error(path, "/")(source))
    }
}

impl FileInner {
    /// What committing needs.
    pub(super) fn writer(&self) -> Result<&Writer, Error> {
        let file = || self.path.clone();
        let writer = self.writer.as_ref().ok_or_else(|| Error::ReadOnly { file: file() })?;
        if writer.replaced.load(Ordering::Acquire) {
            return Err(Error::Replaced { file: file() });
        }
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

    /// Makes a version the current one, as safely as a commit.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::StageOpen`], [`Error::UnknownVersion`]; else as
    /// [`Stage::commit`](super::stage::Stage::commit).
    pub fn set_current(&mut self, name: &str) -> Result<(), Error> {
        let _guard = self.begin_stage()?;
        let version: Version = self.version(name)?;
        let inner = Arc::clone(&self.inner);
        Transaction::run(&inner, Mappings::new(&inner)?, |transaction| {
            let lock = h5strata_ffi::lock();
            layout::set_current(&lock, transaction.versions(), version.name())
                .map_err(inner.library(super::names::VERSIONS))
        })?;
        self.renew(|_| None, Latest::default());
        Ok(())
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

    /// Shows the file as it is after a commit; `chunks`: how many stored chunks it has left at a path, if it has changed
    /// them.
    pub(super) fn renew(&mut self, chunks: impl Fn(&str) -> Option<u64>, latest: Latest) {
        if let Some(writer) = &self.inner.writer {
            writer.commits.fetch_add(1, Ordering::AcqRel);
        }
        let state = self.inner.reader.state_number();
        self.inner = Arc::new(self.inner.after_commit(state, chunks, latest));
    }
}
