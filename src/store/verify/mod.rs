//! Whether a file is sound: every version, every mapping, every stored chunk against its row in the hash table.
//!
//! ```text
//! versions ──► datasets ──► mappings ──► which raw chunks are used, and how much of each
//!                                             │
//!                hash table ──► rows ─────────┼──► what is lost, double or left over
//!                  raw_data ──► stored chunks ┴──► read, decoded, hashed, on all threads
//! ```
//!
//! The rows that a hash table should have are made in the same way (`anew`), for [`repair`](VersionedFile::repair) and
//! [`UpgradeOptions`](super::UpgradeOptions).
//!
//! A bad piece is a [`Finding`] and never ends the walk. In memory there are, for each raw chunk that is used, 5 bytes; of
//! one `raw_data` at a time the addresses of its chunks and the rows of its hash table, 32 and 48 bytes a chunk; of a
//! version's dataset one map; and as many chunks a thread as its core hashes side by side, or 16 MiB of them.

mod anew;
mod attributes;
mod chunks;
mod fault;
mod finding;
mod graph;
mod holes;
mod options;
mod places;
mod proof;
mod report;
mod rows;
mod storage;
mod tree;
mod usage;
mod versions;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

pub(super) use anew::{NewTable, Survey, Trust};
pub use fault::{ChunkFault, RowFault, VersionFault};
pub use finding::{ChunkUse, Finding, Severity, StoredChunks};
pub use options::VerifyOptions;
pub use report::VerifyReport;

pub(super) use self::storage::raw_data_paths;
use self::usage::Usage;
use super::dataset::Dataset;
use super::error::Error;
use super::file::{FileInner, VersionedFile};
use super::names::NEWEST_DATA_VERSION;
use crate::atomic::committed_end;

/// A walk through a file.
pub(super) struct Verifier<'o> {
    /// The file as it is, whatever the handle has found out of it before.
    file: Arc<FileInner>,
    options: &'o VerifyOptions,
    report: VerifyReport,
    /// What the versions use of each `raw_data`, by its path.
    usages: BTreeMap<String, Usage>,
    /// Whether there are versions of which nothing is known, and each `raw_data` of which it is not known what versions
    /// use.
    is_partial: bool,
    partial: HashSet<String>,
    /// Of each path the dataset whose list was decoded last: versions mostly have the same.
    last_lists: HashMap<String, Dataset>,
}

impl VersionedFile {
    /// Walks through everything in the file and tells what is wrong with it.
    ///
    /// Versions that are committed meanwhile are not looked at, and do not disturb.
    ///
    /// ```no_run
    /// use h5strata::{VerifyOptions, VersionedFile};
    /// let report = VersionedFile::open("prices.h5")?.verify(&VerifyOptions::new())?;
    /// for finding in &report.findings {
    ///     println!("{finding}");
    /// }
    /// # Ok::<(), h5strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Library`] where not even the names of the versions can be listed; [`Error::Lock`] and [`Error::Io`] of a
    /// file that cannot be read now. All else that is wrong is a [`Finding`].
    pub fn verify(&self, options: &VerifyOptions) -> Result<VerifyReport, Error> {
        let mut verifier = Verifier::new(Arc::new(self.inner.anew()), options);
        verifier.walk()?;
        Ok(verifier.report)
    }
}

impl<'o> Verifier<'o> {
    /// Of a file of which nothing is known yet.
    fn new(file: Arc<FileInner>, options: &'o VerifyOptions) -> Self {
        Self {
            file,
            options,
            report: VerifyReport::default(),
            usages: BTreeMap::new(),
            is_partial: false,
            partial: HashSet::new(),
            last_lists: HashMap::new(),
        }
    }

    fn walk(&mut self) -> Result<(), Error> {
        if self.hashes_differ() {
            let data_version = self.file.data_version();
            self.found(Finding::OtherHashes { data_version });
        }
        self.survey()?;
        self.tail();
        while let Some((raw_data, usage)) = self.usages.pop_first() {
            self.raw_data(&raw_data, &usage)?;
        }
        Ok(())
    }

    /// Finds what the versions use of each `raw_data`; gives their names, the oldest first.
    fn survey(&mut self) -> Result<Vec<Arc<str>>, Error> {
        let file = Arc::clone(&self.file);
        let _entered = file.enter()?;
        let versions = self.versions()?;
        for version in &versions {
            self.version(version);
        }
        self.last_lists.clear();
        self.raw_data_of_no_version();
        Ok(versions)
    }

    fn tail(&mut self) {
        let Some((bytes, _)) = self.file.read_at() else { return };
        let (Ok(end), Ok(size)) = (committed_end(bytes), bytes.size()) else { return };
        if let Some(bytes) = size.checked_sub(end).filter(|&bytes| bytes > 0) {
            self.found(Finding::Tail { bytes });
        }
    }

    fn found(&mut self, finding: Finding) {
        self.report.findings.push(finding);
    }

    /// Whether the file's digests are of another recipe than [`digest`](super::digest) has.
    fn hashes_differ(&self) -> bool {
        self.file.data_version() != NEWEST_DATA_VERSION
    }
}
