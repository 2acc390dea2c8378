//! H5: the library itself.

use std::ffi::c_uint;

use crate::error::{Error, check};
use crate::lock::Lock;

/// Version of the libhdf5 that runs, as (major, minor, release) (`H5get_libversion`).
///
/// # Errors
/// [`Error::Call`].
pub fn version(lock: &Lock) -> Result<(u32, u32, u32), Error> {
    let (mut major, mut minor, mut release): (c_uint, c_uint, c_uint) = (0, 0, 0);
    // SAFETY: the lock is held; the three pointers are to live integers.
    let status = unsafe { hdf5_sys::h5::H5get_libversion(&mut major, &mut minor, &mut release) };
    check(lock, "H5get_libversion", status)?;
    Ok((major, minor, release))
}
