//! What can go wrong with a commit and its journal.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// What was being done to a file when the operating system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Opening a file, or asking for its size, kind or place.
    Open,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Waiting until the medium has what was written.
    Sync,
    /// Waiting until the medium has the file's name, or the lack of it.
    SyncName,
    /// Cutting off the end.
    Cut,
    /// Removing the file.
    Remove,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "cannot be opened",
            Self::Read => "cannot be read",
            Self::Write => "cannot be written",
            Self::Sync => "cannot be synced",
            Self::SyncName => "its folder cannot be synced",
            Self::Cut => "cannot be cut",
            Self::Remove => "cannot be removed",
        })
    }
}

/// A commit that failed, or a journal that cannot be used. Every variant names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused an operation.
    #[error("{}: {action}: {source}", .file.display())]
    Io {
        /// The file, its journal or their directory.
        file: PathBuf,
        /// What was refused.
        action: Action,
        /// Why.
        source: io::Error,
    },
    /// A write had failed before, so that what was written is not whole.
    #[error("{}: nothing is committed, as a write failed: {source}", .file.display())]
    Abandoned {
        /// The file.
        file: PathBuf,
        /// The first failure.
        source: io::Error,
    },
    /// The file does not end where its superblock says, so that a commit cannot begin.
    #[error("{}: the file has {size} bytes, and {committed_end} of them are committed", .file.display())]
    Size {
        /// The file.
        file: PathBuf,
        /// The byte behind the committed part.
        committed_end: u64,
        /// The size of the file in bytes.
        size: u64,
    },
    /// A step of a commit that cannot follow the one before.
    #[error("{}: {step} is out of order in this commit", .file.display())]
    OutOfOrder {
        /// The file.
        file: PathBuf,
        /// The step.
        step: &'static str,
    },
    /// The file is partly written; the journal holds the rest.
    #[error(
        "{}: the commit could not be finished; it is complete in {}, and opening the file for \
         writing finishes it: {source}", .file.display(), .journal.display()
    )]
    Unfinished {
        /// The file.
        file: PathBuf,
        /// Its journal.
        journal: PathBuf,
        /// What stopped it.
        source: Box<JournalError>,
    },
    /// The journal could not be made durable, nor removed: it is complete or it is not.
    #[error(
        "{}: the commit could be neither finished nor undone; the next one who opens the file for \
         writing does as {} tells: {source}", .file.display(), .journal.display()
    )]
    Undecided {
        /// The file.
        file: PathBuf,
        /// Its journal.
        journal: PathBuf,
        /// What stopped it.
        source: Box<JournalError>,
    },
    /// Where the journal would be there is a complete one, of another file or not yet replayed.
    #[error("{}: there is a complete journal already: {}", .file.display(), .journal.display())]
    InTheWay {
        /// The file.
        file: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// The journal has the content of the file, but was written for one at another place: both were copied or restored.
    #[error(
        "{}: the journal {} fits this file but was written for another copy of it: if both were copied or restored \
         together, `h5strata recover --moved` applies it",
        .file.display(), .journal.display()
    )]
    Moved {
        /// The file.
        file: PathBuf,
        /// The journal.
        journal: PathBuf,
    },
    /// A complete journal of a format that is not known here.
    #[error("{}: a journal of format version {found}, which is not known", .journal.display())]
    Version {
        /// The journal.
        journal: PathBuf,
        /// Its format version.
        found: u32,
    },
    /// Where the journal would be there is something else than a plain file.
    #[error("{}: not a plain file, which a journal is", .journal.display())]
    NotAFile {
        /// The journal.
        journal: PathBuf,
    },
}

impl JournalError {
    /// Gives the name of the file and what was being done to an error of the operating system.
    pub(super) fn io(file: &Path, action: Action) -> impl Fn(io::Error) -> Self + '_ {
        move |source| Self::Io { file: file.to_owned(), action, source }
    }
}

/// The same error again: its code, or its kind and text.
pub(super) fn same_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
