//! What the next writer does about a commit that was interrupted.

use std::fs::File;
use std::io;
use std::path::Path;

use super::durability::Durability;
use super::error::JournalError;
use super::identity::Belonging;
use super::journal::{Found, Journal};
use super::sidecar::{JournalPath, remove, sync_directory};

/// What was found beside a file, and done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// There was no journal.
    Clean,
    /// A complete journal was applied and removed: the file is the new one.
    Replayed(Replay),
    /// An incomplete journal was removed: the file is the old one.
    Discarded,
    /// A complete journal that was written for another file was left where it is, and nothing changed.
    LeftAlone(Belonging),
}

/// A journal that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// Pages of 4 KiB that were written.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The committed end before the commit, in bytes.
    pub old_end: u64,
    /// The size of the file after it, in bytes.
    pub new_end: u64,
}

/// Finishes an interrupted commit of `file`, which is open for reading and writing and whose path is `path`, or removes
/// what it left. A journal that belongs to another file is left alone. Being interrupted and done again changes nothing
/// of the outcome. The caller holds all locks.
///
/// # Errors
/// [`JournalError::Io`], [`JournalError::Version`], [`JournalError::NotAFile`].
pub(crate) fn recover(
    path: &Path,
    file: &File,
    durability: Durability,
) -> Result<Recovery, JournalError> {
    recover_if(path, file, durability, |belonging| belonging == Belonging::Own)
}

/// As [`recover`], and takes a [`Moved`](Belonging::Moved) journal for the file's own: for those who know that the file and its
/// journal were copied or restored together, or that its device has another number now.
///
/// # Errors
/// As [`recover`].
pub(crate) fn recover_moved(
    path: &Path,
    file: &File,
    durability: Durability,
) -> Result<Recovery, JournalError> {
    recover_if(path, file, durability, |belonging| belonging != Belonging::Foreign)
}

fn recover_if(
    path: &Path,
    file: &File,
    durability: Durability,
    accepts: impl Fn(Belonging) -> bool,
) -> Result<Recovery, JournalError> {
    let journal_path = JournalPath::of(path)?;
    let journal = match Journal::open(&journal_path)? {
        Found::Absent => return Ok(Recovery::Clean),
        Found::Incomplete => return remove(&journal_path).map(|()| Recovery::Discarded),
        Found::Complete(journal) => journal,
    };
    let belonging = journal.belonging(path, file)?;
    if !accepts(belonging) {
        return Ok(Recovery::LeftAlone(belonging));
    }
    journal.replay(path, file, durability)?;
    remove(journal.path())?;
    if durability == Durability::Full {
        sync_directory(journal.path())?;
    }
    let (pages, bytes) = journal.extent();
    let (old_end, new_end) = (journal.header().old_end, journal.header().new_end);
    Ok(Recovery::Replayed(Replay { pages, bytes, old_end, new_end }))
}

/// Cuts off what an interrupted commit left behind the committed end; returns its bytes.
///
/// # Errors
/// Whatever the operating system says.
pub(crate) fn cut_tail(file: &File, committed_end: u64) -> io::Result<u64> {
    let tail = file.metadata()?.len().saturating_sub(committed_end);
    if tail > 0 {
        file.set_len(committed_end)?;
    }
    Ok(tail)
}
