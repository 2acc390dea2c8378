//! Links made, moved and removed.

use hdf5_sys::h5l::{H5Lcreate_hard, H5Ldelete, H5Lmove};
use hdf5_sys::h5p::H5P_DEFAULT;

use crate::error::{Error, check};
use crate::id::{Container, Id};
use crate::lock::Lock;
use crate::text::c_string;
use crate::{h5f, h5p};

/// Gives the object at `from_path`, seen from `from_at`, one more name: `to_path`, seen from
/// `to_at`, with the groups on the way that are missing (`H5Lcreate_hard`).
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::Exists`] when the name is taken; also when there is no
/// such object or it is in another file; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn hard_link<F: Container, T: Container>(
    lock: &Lock,
    from_at: &Id<F>,
    from_path: &str,
    to_at: &Id<T>,
    to_path: &str,
) -> Result<(), Error> {
    h5f::check_writable(lock, "H5Lcreate_hard", to_at)?;
    let (from_path, to_path) = (c_string(from_path)?, c_string(to_path)?);
    let links = h5p::link_creation_with_parents(lock)?;
    // SAFETY: the lock is held; the ids are live, both paths end in a zero byte.
    let status = unsafe {
        H5Lcreate_hard(
            from_at.raw(),
            from_path.as_ptr(),
            to_at.raw(),
            to_path.as_ptr(),
            links.raw(),
            H5P_DEFAULT,
        )
    };
    check(lock, "H5Lcreate_hard", status).map(|_| ())
}

/// Removes the link at `path`, seen from `at` (`H5Ldelete`). With its last hard link an object is
/// gone, and a group takes those along that have no other.
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn delete<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<(), Error> {
    h5f::check_writable(lock, "H5Ldelete", at)?;
    let path = c_string(path)?;
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte.
    let status = unsafe { H5Ldelete(at.raw(), path.as_ptr(), H5P_DEFAULT) };
    check(lock, "H5Ldelete", status).map(|_| ())
}

/// Moves the link at `from` to `to`, both seen from `at`, with the groups on the way that are
/// missing (`H5Lmove`). The object stays where it is.
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::NotFound`] when there is no link to move and, in the words
/// of libhdf5, also when the name is taken; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn rename<C: Container>(lock: &Lock, at: &Id<C>, from: &str, to: &str) -> Result<(), Error> {
    h5f::check_writable(lock, "H5Lmove", at)?;
    let (from, to) = (c_string(from)?, c_string(to)?);
    let links = h5p::link_creation_with_parents(lock)?;
    // SAFETY: the lock is held; the ids are live, both paths end in a zero byte.
    let status = unsafe {
        H5Lmove(at.raw(), from.as_ptr(), at.raw(), to.as_ptr(), links.raw(), H5P_DEFAULT)
    };
    check(lock, "H5Lmove", status).map(|_| ())
}
