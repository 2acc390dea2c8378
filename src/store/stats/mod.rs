//! Where the bytes of a file are, and what each version takes of them.
//!
//! One pass through the lists of mappings, from the oldest version on: which stored chunks have no user, one version or
//! several is known when it ends. In memory there are 12 bytes for each stored chunk, 16 for each list, and one map at a
//! time. No chunk is read but those that hold the references to strings.

mod options;
mod outside;
mod report;
mod strings;
mod uses;
mod walk;

use std::sync::Arc;

pub use options::StatsOptions;
pub use report::{ChunkBytes, DatasetStats, Stats, StatsFault, VersionStats};

use self::walk::Walk;
use super::error::Error;
use super::file::VersionedFile;
use super::open::io_error;

impl VersionedFile {
    /// Counts where the bytes of the file are, and what deleting each version would free.
    ///
    /// The file is held in one state meanwhile: whoever wants to commit waits.
    ///
    /// ```no_run
    /// use h5strata::{StatsOptions, VersionedFile};
    /// let stats = VersionedFile::open("prices.h5")?.stats(&StatsOptions::new())?;
    /// for version in &stats.versions {
    ///     println!("{}: deleting it would free {} bytes", version.version, version.frees());
    /// }
    /// # Ok::<(), h5strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`versions`](Self::versions); [`Error::Io`] and [`Error::Lock`] of a file that cannot be read now. What else
    /// cannot be looked at is one of [`Stats::faults`].
    pub fn stats(&self, options: &StatsOptions) -> Result<Stats, Error> {
        let file = Self { inner: Arc::new(self.inner.anew()) };
        let _entered = file.inner.enter()?;
        let size = match file.inner.read_at() {
            Some((bytes, _)) => bytes.size(),
            None => std::fs::metadata(file.path()).map(|metadata| metadata.len()),
        };
        let size = size.map_err(|source| io_error(file.path(), source))?;
        let mut walk = Walk::new(&file.inner, options);
        walk.versions(file.versions()?);
        walk.raw_data_of_no_version();
        Ok(walk.finish(size))
    }
}
