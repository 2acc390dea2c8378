//! H5G: groups.

use hdf5_sys::h5p::H5P_DEFAULT;

use crate::error::Error;
use crate::id::{Container, Group, Id};
use crate::lock::Lock;
use crate::text::c_string;
use crate::{h5f, h5p};

/// Opens the group at `path`, seen from `at` (`H5Gopen2`).
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::InteriorNul`].
pub fn open<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<Group, Error> {
    let path = c_string(path)?;
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte.
    let id = unsafe { hdf5_sys::h5g::H5Gopen2(at.raw(), path.as_ptr(), H5P_DEFAULT) };
    // SAFETY: H5Gopen2 returned it, fresh or negative.
    unsafe { Id::from_call(lock, "H5Gopen2", id) }
}

/// Creates a group at `path`, seen from `at`, and the groups on the way that are missing
/// (`H5Gcreate2`).
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::Exists`] when the name is taken;
/// [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn create<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<Group, Error> {
    let what = "H5Gcreate2";
    let (path, links) = (c_string(path)?, h5p::link_creation_with_parents(lock)?);
    // SAFETY: the lock is held; the ids are live, `path` ends in a zero byte.
    let id = unsafe {
        hdf5_sys::h5g::H5Gcreate2(at.raw(), path.as_ptr(), links.raw(), H5P_DEFAULT, H5P_DEFAULT)
    };
    // SAFETY: H5Gcreate2 returned it, fresh or negative.
    h5f::written(lock, what, at, unsafe { Id::from_call(lock, what, id) })
}
