//! Datatypes copied.

use hdf5_sys::h5t::H5Tcopy;

use crate::error::Error;
use crate::id::{Datatype, Id};
use crate::lock::Lock;

/// A copy of a datatype that is not stored under a name, even if the original is (`H5Tcopy`).
///
/// # Errors
/// [`Error::Call`].
pub fn copy(lock: &Lock, datatype: &Datatype) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `datatype` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Tcopy", H5Tcopy(datatype.raw())) }
}
