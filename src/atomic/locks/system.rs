use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use h5strata_ffi::os::{self, ByteLock};

use super::LockError;

/// A byte that is locked in the name of something that is no byte of the file.
///
/// Offsets of files are signed numbers of 64 bits, and no file system has files of 2^62 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(super) enum Mark {
    /// Somebody writes the file.
    Writer = 1 << 62,
    /// A writer waits for readers to go.
    Pending = (1 << 62) + 1,
}

/// What became of the wish for a lock.
#[derive(Debug)]
pub(super) enum Answer {
    Taken,
    /// Somebody else has a lock that does not go with it.
    Refused,
    /// The file system has no such locks.
    Unsupported(io::Error),
}

/// A file and its name, and the calls that lock it: none of them waits.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Shares the open file description of `file`.
    pub(super) fn of(file: &File, path: &Path) -> Result<Self, LockError> {
        match file.try_clone() {
            Ok(file) => Ok(Self { file, path: path.to_owned() }),
            Err(source) => Err(LockError::Io {
                file: path.to_owned(),
                what: "duplicate its descriptor",
                source,
            }),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Locks the whole file together with others that do so.
    ///
    /// A lock of the other kind is given up first, and stays given up where the answer is not [`Answer::Taken`].
    pub(super) fn share(&self) -> Result<Answer, LockError> {
        self.answer("flock(LOCK_SH)", || flock(self.file.try_lock_shared()))
    }

    /// Locks the whole file alone.
    ///
    /// As with [`share`](Self::share), a shared lock is given up first.
    pub(super) fn exclude(&self) -> Result<Answer, LockError> {
        self.answer("flock(LOCK_EX)", || flock(self.file.try_lock()))
    }

    /// Gives up the lock of the whole file. Nothing is to be done where that fails: closing the file does it too.
    pub(super) fn unlock(&self) {
        let _ = self.file.unlock();
    }

    /// Locks a byte alone.
    pub(super) fn mark(&self, mark: Mark) -> Result<Answer, LockError> {
        self.answer("fcntl(F_OFD_SETLK)", || {
            os::lock_bytes(self.file.as_fd(), mark as u64, 1, ByteLock::Exclusive).map_err(plain)
        })
    }

    /// Gives up the lock of a byte; as [`unlock`](Self::unlock).
    pub(super) fn unmark(&self, mark: Mark) {
        let _ = os::unlock_bytes(self.file.as_fd(), mark as u64, 1);
    }

    /// Whether somebody else has locked a byte; `false` also where the file system has no such locks.
    pub(super) fn is_marked(&self, mark: Mark) -> Result<bool, LockError> {
        let answer = self.answer("fcntl(F_OFD_GETLK)", || {
            os::is_locked(self.file.as_fd(), mark as u64, 1).map(|marked| !marked).map_err(plain)
        })?;
        Ok(matches!(answer, Answer::Refused))
    }

    /// Asks the system, again where a signal came between.
    fn answer(
        &self,
        what: &'static str,
        mut ask: impl FnMut() -> io::Result<bool>,
    ) -> Result<Answer, LockError> {
        loop {
            return match ask() {
                Ok(true) => Ok(Answer::Taken),
                Ok(false) => Ok(Answer::Refused),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_unsupported(&error) => Ok(Answer::Unsupported(error)),
                Err(source) => Err(LockError::Io { file: self.path(), what, source }),
            };
        }
    }
}

/// The system's error without the name of the call, which [`LockError`] has as well.
fn plain(error: h5strata_ffi::Error) -> io::Error {
    match error {
        h5strata_ffi::Error::Os { source, .. } => source,
        other => io::Error::other(other),
    }
}

/// `false` where somebody else has the lock.
fn flock(outcome: Result<(), TryLockError>) -> io::Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the system says that this file cannot be locked, rather than that something went wrong: Lustre mounted
/// without locks says `ENOSYS` (the one that libhdf5 knows), NFS without its lock server `ENOLCK`, others `EOPNOTSUPP`.
fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
        || matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::ENOLCK | libc::EOPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_that_there_are_no_locks() {
        for code in [libc::ENOSYS, libc::ENOLCK, libc::EOPNOTSUPP] {
            assert!(is_unsupported(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [libc::EIO, libc::EBADF, libc::EAGAIN, libc::EACCES] {
            assert!(!is_unsupported(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }
}
