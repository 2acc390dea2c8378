//! libhdf5 made ready for us, once in the process.

use std::sync::OnceLock;

use h5strata_ffi::h5::{self, FreeLists};
use h5strata_ffi::id::FileAccess;
use h5strata_ffi::{Lock, h5p};

use super::{library_filters, library_heaps};

/// Freed structures that libhdf5 keeps. Every open file has a metadata cache with a hash table of half a
/// megabyte (`H5C_t`), which otherwise goes back to the system at each close, and costs its page faults
/// again at each open.
const KEPT_STRUCTURES: (i32, i32) = (8 << 20, 4 << 20);

/// How files are opened for reading.
///
/// Without chunk caches: chunks are read whole and once, and the hash table of a cache costs more than
/// all else of opening a dataset.
pub(super) fn file_access(lock: &Lock) -> Result<&'static FileAccess, h5strata_ffi::Error> {
    static ACCESS: OnceLock<FileAccess> = OnceLock::new();
    made_once(lock, &ACCESS, |access| h5p::set_no_read_ahead(lock, access))
}

/// How plain HDF5 files are opened for reading: with the library's chunk caches, as their chunks may be read in other
/// shapes than they are stored in.
pub(super) fn plain_access(lock: &Lock) -> Result<&'static FileAccess, h5strata_ffi::Error> {
    static ACCESS: OnceLock<FileAccess> = OnceLock::new();
    made_once(lock, &ACCESS, |_| Ok(()))
}

/// How files are created and opened for writing: what is written to them opens in HDF5 1.10.
pub(super) fn write_access(lock: &Lock) -> Result<&'static FileAccess, h5strata_ffi::Error> {
    static ACCESS: OnceLock<FileAccess> = OnceLock::new();
    made_once(lock, &ACCESS, |access| {
        h5p::set_no_read_ahead(lock, access)?;
        h5p::set_libver_bounds_earliest_to_v110(lock, access)
    })
}

fn made_once(
    lock: &Lock,
    access: &'static OnceLock<FileAccess>,
    set: impl FnOnce(&FileAccess) -> Result<(), h5strata_ffi::Error>,
) -> Result<&'static FileAccess, h5strata_ffi::Error> {
    if let Some(access) = access.get() {
        return Ok(access);
    }
    h5::set_free_lists(lock, FreeLists { structures: KEPT_STRUCTURES, ..FreeLists::DEFAULT })?;
    library_filters::register(lock)?;
    library_heaps::register(lock);
    let made = h5p::file_access(lock)?;
    set(&made)?;
    Ok(access.get_or_init(|| made))
}
