use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::patience::Patience;
use super::system::{Answer, LockFile, Mark};
use super::{LockError, LockPolicy};

/// Whether somebody else is the writer of a file; `false` too where that cannot be told.
///
/// # Errors
/// [`LockError::Io`].
pub(crate) fn has_writer(file: &File, path: &Path, policy: LockPolicy) -> Result<bool, LockError> {
    match policy {
        LockPolicy::Off => Ok(false),
        _ => LockFile::of(file, path)?.is_marked(Mark::Writer),
    }
}

/// The right to be the one writer of a file, given back when it is dropped.
///
/// Other writers are kept out; readers only for the time of an [`Exclusion`].
#[derive(Debug)]
pub struct WriterLock {
    file: LockFile,
    /// Whether the writer byte is locked. It is not where the policy or the file system is to go without.
    byte: bool,
    /// Whether the whole file is locked, shared with readers.
    whole: bool,
    /// Whether another program may have written the file since.
    lost: bool,
}

impl WriterLock {
    /// Makes the caller the writer of `file`, without waiting. Errors call the file `path`.
    ///
    /// `file` must have been opened for this, to read and write: the lock shares its open file description, which is
    /// what owns the locks, and they are given back when the `WriterLock` is dropped, even
    /// if `file` is open for longer.
    ///
    /// # Errors
    /// [`LockError::Writer`], [`LockError::Busy`], [`LockError::Unsupported`]; [`LockError::Io`], also where `file` is
    /// not open for writing.
    pub fn acquire(file: &File, path: &Path, policy: LockPolicy) -> Result<Self, LockError> {
        let file = LockFile::of(file, path)?;
        // What is taken is in here at once, so that a failure further down gives it back.
        let mut lock = Self { file, byte: false, whole: false, lost: false };
        if policy == LockPolicy::Off {
            return Ok(lock);
        }
        let answer = lock.file.mark(Mark::Writer)?;
        lock.byte = lock.is_taken(answer, policy, |file| LockError::Writer { file })?;
        let answer = lock.file.share()?;
        let busy = |file| LockError::Busy { file, waited: Duration::ZERO };
        lock.whole = lock.is_taken(answer, policy, busy)?;
        Ok(lock)
    }

    /// Whether a wanted lock is there now: not so, but no error, where one may go without.
    fn is_taken(
        &self,
        answer: Answer,
        policy: LockPolicy,
        refused: impl FnOnce(PathBuf) -> LockError,
    ) -> Result<bool, LockError> {
        match answer {
            Answer::Taken => Ok(true),
            Answer::Refused => Err(refused(self.file.path())),
            Answer::Unsupported(_) if policy != LockPolicy::Required => Ok(false),
            Answer::Unsupported(source) => {
                Err(LockError::Unsupported { file: self.file.path(), source })
            }
        }
    }

    /// Whether this keeps other writers out: not so where the policy or the file system is to go without locks.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.byte
    }

    /// Fails when another program had the file to itself after an [`Exclusion`]: then the file may be another than it
    /// was, and nothing must be written to it.
    ///
    /// # Errors
    /// [`LockError::Lost`].
    pub fn ensure_held(&self) -> Result<(), LockError> {
        if self.lost { Err(LockError::Lost { file: self.file.path() }) } else { Ok(()) }
    }

    /// Waits until no reader uses the file, up to `patience`, and keeps them out; then has `check` say whether the
    /// file is still what this writer left.
    ///
    /// Readers of h5strata let a waiting writer go first. Other programs are in the way for as long as they have the
    /// file open. A thread that excludes readers must not be in a [`ReaderGate`](super::ReaderGate) of the
    /// file, nor enter one before the end: it would wait for itself.
    ///
    /// `check` is needed because `flock` gives up one kind of lock before it tries the other: for a moment the file is
    /// free for another program to write. Without locks it is called all the same.
    ///
    /// # Errors
    /// [`LockError::Timeout`], after which the writer may go on and try again. [`LockError::Lost`] and
    /// [`LockError::Changed`], after which it may not. [`LockError::Io`], also where `check` fails.
    pub fn exclude_readers(
        &mut self,
        patience: Duration,
        check: impl FnOnce() -> io::Result<bool>,
    ) -> Result<Exclusion<'_>, LockError> {
        self.ensure_held()?;
        let mut patience = Patience::new(patience);
        let mut exclusion = Exclusion { lock: self, pending: false, alone: false };
        exclusion.announce(&mut patience)?;
        exclusion.take(&mut patience)?;
        let file = || exclusion.lock.file.path();
        match check() {
            Ok(true) => Ok(exclusion),
            Ok(false) => Err(LockError::Changed { file: file() }),
            Err(source) => {
                Err(LockError::Io { file: file(), what: "look whether it changed", source })
            }
        }
    }

    /// Shares the whole file with readers again, having had it alone or having tried to.
    fn share_again(&mut self) {
        if !matches!(self.file.share(), Ok(Answer::Taken)) {
            self.lost = true;
        }
    }
}

impl Drop for WriterLock {
    /// Closing the file would do it too, but not before the last clone of it is closed: a program that another thread
    /// is about to start has one for a moment.
    fn drop(&mut self) {
        if self.whole {
            self.file.unlock();
        }
        if self.byte {
            self.file.unmark(Mark::Writer);
        }
    }
}

/// A time without readers. When it is dropped they are let in again.
///
/// Should another program take the file for writing in just that moment, [`WriterLock::ensure_held`] tells.
#[derive(Debug)]
#[must_use = "readers are let in again when it is dropped"]
pub struct Exclusion<'a> {
    lock: &'a mut WriterLock,
    /// Whether the pending byte is locked.
    pending: bool,
    /// Whether the whole file is locked alone.
    alone: bool,
}

impl Exclusion<'_> {
    /// Gives up the right to write together with the file. Readers that come then find a file without a writer, and read
    /// through its journal: for one that could not be applied.
    pub fn give_up(mut self) {
        if self.lock.byte {
            self.lock.file.unmark(Mark::Writer);
        }
        if self.alone {
            self.lock.file.unlock();
        }
        self.alone = false;
        (self.lock.byte, self.lock.whole, self.lock.lost) = (false, false, true);
    }

    /// Has readers of ours stop before they take the file.
    fn announce(&mut self, patience: &mut Patience) -> Result<(), LockError> {
        while self.lock.byte && !self.pending {
            match self.lock.file.mark(Mark::Pending)? {
                Answer::Taken => self.pending = true,
                Answer::Refused if patience.wait() => {}
                Answer::Refused => return Err(self.timeout(patience)),
                Answer::Unsupported(_) => break,
            }
        }
        Ok(())
    }

    /// Takes the file from those who read it, once they are gone.
    fn take(&mut self, patience: &mut Patience) -> Result<(), LockError> {
        while self.lock.whole && !self.alone {
            let answer = self.lock.file.exclude();
            if let Ok(Answer::Taken) = answer {
                self.alone = true;
                break;
            }
            // The attempt cost the shared lock. Nobody may write while this waits.
            self.lock.share_again();
            self.lock.ensure_held()?;
            if let Answer::Unsupported(source) = answer? {
                return Err(LockError::Unsupported { file: self.lock.file.path(), source });
            }
            if !patience.wait() {
                return Err(self.timeout(patience));
            }
        }
        Ok(())
    }

    fn timeout(&self, patience: &Patience) -> LockError {
        LockError::Timeout { file: self.lock.file.path(), waited: patience.waited() }
    }
}

impl Drop for Exclusion<'_> {
    fn drop(&mut self) {
        if self.alone {
            self.lock.share_again();
        }
        if self.pending {
            self.lock.file.unmark(Mark::Pending);
        }
    }
}
