//! H5: the library itself.

use std::ffi::c_uint;

use crate::error::{Error, check};
use crate::lock::Lock;

/// How many freed bytes libhdf5 keeps for later use: of blocks of one size and of all together, for
/// single structures, for arrays of them, and for buffers (`H5set_free_list_limits`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeLists {
    /// Single structures: (all, each size).
    pub structures: (i32, i32),
    /// Arrays of structures: (all, each size).
    pub arrays: (i32, i32),
    /// Buffers: (all, each size).
    pub buffers: (i32, i32),
}

impl FreeLists {
    /// What libhdf5 starts with (`H5FL.c` of HDF5 1.10 to 2.2).
    pub const DEFAULT: Self = Self {
        structures: (1 << 20, 64 << 10),
        arrays: (4 << 20, 256 << 10),
        buffers: (16 << 20, 1 << 20),
    };
}

/// Sets how many freed bytes libhdf5 keeps.
///
/// # Errors
/// [`Error::Call`].
pub fn set_free_lists(lock: &Lock, limits: FreeLists) -> Result<(), Error> {
    let FreeLists { structures, arrays, buffers } = limits;
    // SAFETY: the lock is held; the call takes numbers only.
    let status = unsafe {
        hdf5_sys::h5::H5set_free_list_limits(
            structures.0,
            structures.1,
            arrays.0,
            arrays.1,
            buffers.0,
            buffers.1,
        )
    };
    check(lock, "H5set_free_list_limits", status).map(|_| ())
}

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
