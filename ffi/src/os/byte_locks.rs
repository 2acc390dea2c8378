//! Locks on ranges of bytes of a file that belong to an open file description ("OFD locks", Linux `fcntl_locking(2)`).
//!
//! Unlike the older locks of POSIX, which belong to a process, they exclude two opens in one process from each other,
//! and closing another descriptor of the file does not release them. Duplicates of a descriptor (`dup`, `fork`) share
//! them; the system releases them when the last duplicate is closed, so a killed process leaves none. The range may
//! lie behind the end of the file. They do not meet the locks of `flock`.

use std::os::fd::BorrowedFd;

use crate::error::Error;

/// Whom a lock on bytes keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteLock {
    /// Exclusive locks; needs a descriptor open for reading.
    Shared,
    /// All other locks; needs a descriptor open for writing.
    Exclusive,
}

/// Locks `length` bytes from byte `offset` on without waiting (`fcntl`, `F_OFD_SETLK`); `false` when somebody else
/// holds a lock in the way.
///
/// A lock that this open file already has there is converted, in one step. `length` 0 reaches to the highest offset.
///
/// # Errors
/// [`Error::Os`], of the kind [`std::io::ErrorKind::Unsupported`] on systems other than Linux; [`Error::Limit`] for
/// ranges that no file has.
pub fn lock_bytes(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
    kind: ByteLock,
) -> Result<bool, Error> {
    system::lock(file, offset, length, kind)
}

/// Gives back the locks that this open file has on `length` bytes from byte `offset` on (`fcntl`, `F_OFD_SETLK`,
/// `F_UNLCK`). It is no error when it has none there.
///
/// # Errors
/// As [`lock_bytes`].
pub fn unlock_bytes(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Error> {
    system::unlock(file, offset, length)
}

/// Whether somebody else holds a lock, shared or exclusive, on any of `length` bytes from byte `offset` on (`fcntl`,
/// `F_OFD_GETLK`). Locks of this open file itself do not count.
///
/// # Errors
/// As [`lock_bytes`].
pub fn is_locked(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<bool, Error> {
    system::is_locked(file, offset, length)
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd};

    use libc::{c_int, c_short};

    use super::ByteLock;
    use crate::error::Error;
    use crate::os::file_offset;

    // `struct flock` holds in a short what the constants have as an int.
    const UNLOCKED: c_short = short(libc::F_UNLCK);

    const fn short(value: c_int) -> c_short {
        assert!(value >= 0 && value <= c_short::MAX as c_int);
        #[expect(clippy::cast_possible_truncation, reason = "asserted above, when compiled")]
        let value = value as c_short;
        value
    }

    const fn code(kind: ByteLock) -> c_short {
        const SHARED: c_short = short(libc::F_RDLCK);
        const EXCLUSIVE: c_short = short(libc::F_WRLCK);
        match kind {
            ByteLock::Shared => SHARED,
            ByteLock::Exclusive => EXCLUSIVE,
        }
    }

    pub(super) fn lock(
        file: BorrowedFd<'_>,
        offset: u64,
        length: u64,
        kind: ByteLock,
    ) -> Result<bool, Error> {
        let mut range = range(code(kind), offset, length)?;
        match call(file, libc::F_OFD_SETLK, &mut range) {
            Ok(()) => Ok(true),
            // POSIX allows either for a lock that is taken.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
                Ok(false)
            }
            Err(source) => Err(Error::Os { call: "fcntl(F_OFD_SETLK)", source }),
        }
    }

    pub(super) fn unlock(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Error> {
        let mut range = range(UNLOCKED, offset, length)?;
        call(file, libc::F_OFD_SETLK, &mut range)
            .map_err(|source| Error::Os { call: "fcntl(F_OFD_SETLK)", source })
    }

    pub(super) fn is_locked(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<bool, Error> {
        // What would stand in the way of an exclusive lock is any lock.
        let mut range = range(code(ByteLock::Exclusive), offset, length)?;
        call(file, libc::F_OFD_GETLK, &mut range)
            .map_err(|source| Error::Os { call: "fcntl(F_OFD_GETLK)", source })?;
        Ok(range.l_type != UNLOCKED)
    }

    fn range(kind: c_short, offset: u64, length: u64) -> Result<libc::flock, Error> {
        // SAFETY: a struct of integers, for which zeros are values.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = kind;
        range.l_whence = const { short(libc::SEEK_SET) };
        range.l_start = file_offset(offset)?;
        range.l_len = file_offset(length)?;
        Ok(range)
    }

    fn call(file: BorrowedFd<'_>, command: c_int, range: &mut libc::flock) -> io::Result<()> {
        loop {
            // SAFETY: the descriptor is open while it is borrowed; these commands take a pointer to a `flock`, which
            // is live, and have its process id 0, as they must.
            let status = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut *range) };
            if status >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::os::fd::BorrowedFd;

    use super::ByteLock;
    use crate::error::Error;

    fn unsupported() -> Error {
        Error::Os { call: "fcntl", source: io::ErrorKind::Unsupported.into() }
    }

    pub(super) fn lock(_: BorrowedFd<'_>, _: u64, _: u64, _: ByteLock) -> Result<bool, Error> {
        Err(unsupported())
    }

    pub(super) fn unlock(_: BorrowedFd<'_>, _: u64, _: u64) -> Result<(), Error> {
        Err(unsupported())
    }

    pub(super) fn is_locked(_: BorrowedFd<'_>, _: u64, _: u64) -> Result<bool, Error> {
        Err(unsupported())
    }
}
