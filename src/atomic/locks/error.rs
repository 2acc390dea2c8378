use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long was waited, if one did.
fn since(waited: Duration) -> String {
    match waited {
        Duration::ZERO => String::new(),
        waited => format!(", after {:.1} s still", waited.as_secs_f64()),
    }
}

/// Why a lock could not be had. Every variant names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another handle of h5strata, in this process or another, has the file open for writing.
    #[error("{}: another h5strata writer has the file open", .file.display())]
    Writer {
        /// The file.
        file: PathBuf,
    },
    /// Another program has the file open for writing, or a commit is taking longer than was waited.
    #[error(
        "{}: another process has the file open for writing{} (HDF5 file locking; see \
         HDF5_USE_FILE_LOCKING)", .file.display(), since(*.waited))]
    Busy {
        /// The file.
        file: PathBuf,
        /// How long was waited for it.
        waited: Duration,
    },
    /// Readers had the file open for all the time that a writer could wait for them. The writer may try again.
    #[error(
        "{}: readers kept the file open for {:.1} s: nothing was changed",
        .file.display(), .waited.as_secs_f64())]
    Timeout {
        /// The file.
        file: PathBuf,
        /// How long was waited for them.
        waited: Duration,
    },
    /// While a writer waited for readers to go, somebody changed the file. It must be opened anew.
    #[error("{}: another program changed the file meanwhile; open it again", .file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// While a writer changed its lock from one kind to the other, another program took the file for writing. The
    /// file must be opened anew.
    #[error(
        "{}: another program opened the file for writing meanwhile; open it again", .file.display())]
    Lost {
        /// The file.
        file: PathBuf,
    },
    /// The file system has no locks, and a writer was not told to go without.
    #[error(
        "{}: the file system has no file locks ({source}); where nobody else uses the file, set \
         HDF5_USE_FILE_LOCKING=FALSE to write without them", .file.display())]
    Unsupported {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system would not do what a lock needs.
    #[error("{}: {what}: {source}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What was asked of it.
        what: &'static str,
        /// Why it did not.
        source: io::Error,
    },
}
