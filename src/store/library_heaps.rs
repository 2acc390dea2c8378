//! Global heap collections checked before libhdf5 reads them: in damaged ones it goes round for ever.

use std::io;
use std::sync::{Mutex, PoisonError};

use h5strata_ffi::Lock;
use h5strata_ffi::h5fd::{self, Failure, Storage};

use crate::ondisk::{OndiskError, ReadAt, Superblock, check_collection};
use crate::raw::StringFault;

/// Has libhdf5 see sound collections only, in all files that are opened from now on.
pub(super) fn register(lock: &Lock) {
    h5fd::set_heap_check(lock, |storage, address| {
        check(storage, address).map_err(io::Error::other)
    });
}

/// Checks the collection at a byte of a file. Those of files whose superblock is not decoded here are refused.
fn check(storage: &mut dyn Storage, address: u64) -> Result<(), OndiskError> {
    let size = storage.size().map_err(|source| OndiskError::FileSize { source })?;
    let file = Stored { storage: Mutex::new(storage), size };
    let superblock = Superblock::read(&file)?;
    // libhdf5 adds the base address to all that it reads.
    check_collection(&file, &superblock, address.saturating_sub(superblock.base_address))
}

/// What libhdf5 reads, read by position.
struct Stored<'s> {
    storage: Mutex<&'s mut dyn Storage>,
    /// In bytes.
    size: u64,
}

impl ReadAt for Stored<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = buf.len().min(left);
        let mut storage = self.storage.lock().unwrap_or_else(PoisonError::into_inner);
        storage.read(offset, &mut buf[..count])?;
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

/// What libhdf5 has found out of the strings of an attribute, or why it has failed: a collection that it was not to see, or
/// what it said itself. `failure`: that of the file.
pub(crate) fn library_strings<T>(
    failure: &Failure,
    read: impl FnOnce() -> Result<T, h5strata_ffi::Error>,
) -> Result<T, StringFault> {
    // One that is kept is of another call.
    drop(failure.take());
    read().map_err(|error| match failure.take() {
        Some(h5strata_ffi::Error::Os { source, .. }) => {
            source.downcast().map_or(StringFault::Library(error), StringFault::Heap)
        }
        _ => StringFault::Library(error),
    })
}
