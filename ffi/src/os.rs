//! What is asked of the operating system directly: advice about files and memory, and locks on bytes of files.

mod byte_locks;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

pub use self::byte_locks::{ByteLock, is_locked, lock_bytes, unlock_bytes};

use crate::error::Error;

/// A place or length in a file, in bytes, as the system takes it.
#[cfg(target_os = "linux")]
fn file_offset(number: u64) -> Result<libc::off_t, Error> {
    libc::off_t::try_from(number).map_err(|_| Error::Limit {
        what: "the range of a file",
        found: number,
        limit: libc::off_t::MAX.unsigned_abs(),
    })
}

/// Tells the kernel that `length` bytes from `offset` of a file will be read soon
/// (`posix_fadvise`, `POSIX_FADV_WILLNEED`), so that it reads them ahead.
///
/// # Errors
/// [`Error::Os`]; [`Error::Limit`] for ranges that no file has.
#[cfg(target_os = "linux")]
pub fn will_need(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Error> {
    let (start, bytes) = (file_offset(offset)?, file_offset(length)?);
    // SAFETY: the descriptor is open while it is borrowed; the call touches no memory of ours.
    let code =
        unsafe { libc::posix_fadvise(file.as_raw_fd(), start, bytes, libc::POSIX_FADV_WILLNEED) };
    match code {
        0 => Ok(()),
        code => {
            Err(Error::Os { call: "posix_fadvise", source: io::Error::from_raw_os_error(code) })
        }
    }
}

/// Tells the kernel that a range will be read soon: not on this system.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn will_need(_file: BorrowedFd<'_>, _offset: u64, _length: u64) -> Result<(), Error> {
    Ok(())
}

/// Has the file system set blocks aside for `length` bytes from `offset` of a file on, without changing what the file
/// shows or its size (`fallocate`, `FALLOC_FL_KEEP_SIZE`).
///
/// # Errors
/// [`Error::Os`], where there is no room or the file system cannot; [`Error::Limit`] for ranges that no file has.
#[cfg(target_os = "linux")]
pub fn set_aside(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<(), Error> {
    let (start, bytes) = (file_offset(offset)?, file_offset(length)?);
    // SAFETY: the descriptor is open while it is borrowed; the call touches no memory of ours.
    let status =
        unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, start, bytes) };
    match status {
        0 => Ok(()),
        _ => Err(Error::Os { call: "fallocate", source: io::Error::last_os_error() }),
    }
}

/// Has the file system set blocks aside: not on this system.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn set_aside(_file: BorrowedFd<'_>, _offset: u64, _length: u64) -> Result<(), Error> {
    Ok(())
}

/// Has the system close a descriptor in programs that this process starts (`FD_CLOEXEC`).
///
/// # Errors
/// [`Error::Os`].
pub(crate) fn close_on_exec(file: BorrowedFd<'_>) -> Result<(), Error> {
    // SAFETY: the descriptor is open while it is borrowed; the call touches no memory.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) };
    let failed = |call| Error::Os { call, source: io::Error::last_os_error() };
    if flags < 0 {
        return Err(failed("fcntl(F_GETFD)"));
    }
    // SAFETY: as above.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, flags | libc::FD_CLOEXEC) } {
        0 => Ok(()),
        _ => Err(failed("fcntl(F_SETFD)")),
    }
}

/// Whether the byte at `offset` of a file is in the page cache (`preadv2`, `RWF_NOWAIT`); `None` where
/// the system cannot tell.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_cached(file: BorrowedFd<'_>, offset: u64) -> Option<bool> {
    let offset = libc::off_t::try_from(offset).ok()?;
    let mut byte = 0u8;
    let target = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: the descriptor is open while it is borrowed; `target` is one vector of one live byte.
    let count =
        unsafe { libc::preadv2(file.as_raw_fd(), &raw const target, 1, offset, libc::RWF_NOWAIT) };
    if count >= 0 {
        return Some(true);
    }
    (io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock).then_some(false)
}

/// Whether the byte at `offset` of a file is in the page cache: not known on this system.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_cached(_file: BorrowedFd<'_>, _offset: u64) -> Option<bool> {
    None
}

/// Asks for huge pages under the whole pages of a buffer (`madvise`, `MADV_HUGEPAGE`).
///
/// Worth it for large buffers that were not touched yet. A buffer without a whole page is left
/// alone, and so is every buffer where the system knows no such advice.
///
/// # Errors
/// [`Error::Os`] when the kernel has no huge pages.
pub fn advise_huge_pages(buffer: &mut [u8]) -> Result<(), Error> {
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page) = usize::try_from(page) else {
        return Err(Error::Os { call: "sysconf", source: io::Error::last_os_error() });
    };
    let skipped = buffer.as_ptr().align_offset(page);
    let Some(pages) = buffer.get_mut(skipped..).map(|rest| {
        let whole = rest.len() - rest.len() % page;
        &mut rest[..whole]
    }) else {
        return Ok(());
    };
    if pages.is_empty() {
        return Ok(());
    }
    advise(pages)
}

#[cfg(target_os = "linux")]
fn advise(pages: &mut [u8]) -> Result<(), Error> {
    // SAFETY: the range is borrowed for writing and starts on a page; this advice changes which
    // pages hold the bytes and not the bytes.
    let status =
        unsafe { libc::madvise(pages.as_mut_ptr().cast(), pages.len(), libc::MADV_HUGEPAGE) };
    if status == 0 {
        Ok(())
    } else {
        Err(Error::Os { call: "madvise", source: io::Error::last_os_error() })
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_pages: &mut [u8]) -> Result<(), Error> {
    Ok(())
}
