//! Links removed and copied.

use hdf5_sys::h5l::{H5Lcopy, H5Ldelete};
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

/// Copies the soft or external link at `from_path`, seen from `from_at`, to `to_path`, seen from `to_at`, as it is: also
/// to another file (`H5Lcopy`). Hard links lead to objects, for which there is [`crate::h5o::copy`].
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::Exists`] when the name is taken; also when there is no link, and for a hard
/// one to another file; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn copy<F: Container, T: Container>(
    lock: &Lock,
    from_at: &Id<F>,
    from_path: &str,
    to_at: &Id<T>,
    to_path: &str,
) -> Result<(), Error> {
    let what = "H5Lcopy";
    let (from_path, to_path) = (c_string(from_path)?, c_string(to_path)?);
    // SAFETY: the lock is held; the ids are live, both paths end in a zero byte.
    let status = unsafe {
        H5Lcopy(
            from_at.raw(),
            from_path.as_ptr(),
            to_at.raw(),
            to_path.as_ptr(),
            H5P_DEFAULT,
            H5P_DEFAULT,
        )
    };
    h5f::written(lock, what, to_at, check(lock, what, status).map(|_| ()))
}
