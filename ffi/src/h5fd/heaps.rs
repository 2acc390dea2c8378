//! A look at global heap collections before libhdf5 takes them on trust.

use std::io;
use std::sync::OnceLock;

use super::Storage;
use crate::lock::Lock;

/// Checks the global heap collection at a byte of a storage (HDF5 File Format Specification III.E). What it fails with is
/// what reading the collection fails with.
pub type HeapCheck = fn(&mut dyn Storage, u64) -> io::Result<()>;

static CHECK: OnceLock<HeapCheck> = OnceLock::new();

/// How a collection begins: signature and version.
const BEGIN: [u8; 5] = *b"GCOL\x01";

/// Bytes that libhdf5 reads of a collection at first, and its least size (`H5HG_MINSIZE`).
const FIRST_READ: usize = 4096;

/// Has all files of the driver checked, but those that are [created](super::create), for as long as the process lives. The
/// first check that is set stays.
pub fn set_heap_check(_lock: &Lock, check: HeapCheck) {
    // That there is one already is no error.
    let _set_before = CHECK.set(check);
}

/// Checks what libhdf5 has just read from `address` on, if it is how it begins to read a collection.
///
/// It tells the driver that heaps are raw data (`H5F_block_read`), so a read of as many bytes of a dataset that begin alike
/// is checked, too, and succeeds if they are a sound collection.
pub(super) fn check(storage: &mut dyn Storage, address: u64, read: &[u8]) -> io::Result<()> {
    match CHECK.get() {
        Some(check) if read.len() == FIRST_READ && read.starts_with(&BEGIN) => {
            check(storage, address)
        }
        _ => Ok(()),
    }
}
