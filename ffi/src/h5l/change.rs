//! Links removed.

use hdf5_sys::h5l::H5Ldelete;
use hdf5_sys::h5p::H5P_DEFAULT;

use crate::error::{Error, check};
use crate::h5f;
use crate::id::{Container, Id};
use crate::lock::Lock;
use crate::text::c_string;

/// Removes the link at `path`, seen from `at` (`H5Ldelete`). With its last hard link an object is
/// gone, and a group takes those along that have no other.
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn delete<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<(), Error> {
    let what = "H5Ldelete";
    let path = c_string(path)?;
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte.
    let status = unsafe { H5Ldelete(at.raw(), path.as_ptr(), H5P_DEFAULT) };
    h5f::written(lock, what, at, check(lock, what, status).map(|_| ()))
}
