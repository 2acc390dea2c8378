//! The cache of a file's metadata, held still while changes are gathered in it.

use std::mem::MaybeUninit;

use hdf5_sys::h5ac::{H5AC__CURR_CACHE_CONFIG_VERSION, H5AC_cache_config_t};
use hdf5_sys::h5c::{H5C_cache_decr_mode, H5C_cache_flash_incr_mode, H5C_cache_incr_mode};
use hdf5_sys::h5f::{H5Fget_mdc_config, H5Fset_mdc_config};

use crate::error::{Error, check};
use crate::id::File;
use crate::lock::Lock;

/// How a metadata cache was set before [`hold_metadata`].
pub struct MetadataCache {
    config: H5AC_cache_config_t,
}

/// Has libhdf5 keep all changed metadata in memory until the file is flushed (`H5Fset_mdc_config`, evictions
/// disabled): what is in the file stays whole until then.
///
/// # Errors
/// [`Error::Call`].
pub fn hold_metadata(lock: &Lock, file: &File) -> Result<MetadataCache, Error> {
    let mut config = MaybeUninit::<H5AC_cache_config_t>::zeroed();
    // SAFETY: the pointer is to memory for the structure; only its version is written.
    unsafe { (&raw mut (*config.as_mut_ptr()).version).write(H5AC__CURR_CACHE_CONFIG_VERSION) };
    // SAFETY: the lock is held; `file` is live, and `config` has room for the structure of the version it states.
    let status = unsafe { H5Fget_mdc_config(file.raw(), config.as_mut_ptr()) };
    check(lock, "H5Fget_mdc_config", status)?;
    // SAFETY: the call succeeded, so libhdf5 has filled in every field, enumerations with values of their own.
    let before = unsafe { config.assume_init() };
    let mut held = before;
    held.evictions_enabled = 0;
    // Without evictions the cache may not change its size by itself.
    held.incr_mode = H5C_cache_incr_mode::H5C_incr__off;
    held.flash_incr_mode = H5C_cache_flash_incr_mode::H5C_flash_incr__off;
    held.decr_mode = H5C_cache_decr_mode::H5C_decr__off;
    set(lock, file, held)?;
    Ok(MetadataCache { config: before })
}

/// Lets libhdf5 write metadata when it likes to again.
///
/// # Errors
/// [`Error::Call`].
pub fn release_metadata(lock: &Lock, file: &File, before: &MetadataCache) -> Result<(), Error> {
    set(lock, file, before.config)
}

fn set(lock: &Lock, file: &File, mut config: H5AC_cache_config_t) -> Result<(), Error> {
    // SAFETY: the lock is held; `file` is live, `config` a whole structure that came from libhdf5.
    let status = unsafe { H5Fset_mdc_config(file.raw(), &raw mut config) };
    check(lock, "H5Fset_mdc_config", status).map(|_| ())
}
