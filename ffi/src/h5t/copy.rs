//! Datatypes copied.

use hdf5_sys::h5t::H5Tcopy;

use super::{create, describe, equal};
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

/// A copy of a datatype in the oldest encoding that can say it, where that is known: files of newer format bounds have
/// newer encodings, which [`copy`] keeps, and in which files of older bounds take no type.
///
/// # Errors
/// [`Error::Call`].
pub fn copy_portable(lock: &Lock, datatype: &Datatype) -> Result<Datatype, Error> {
    match describe(lock, datatype).and_then(|description| create(lock, &description)) {
        Ok(made) if equal(lock, &made, datatype)? => Ok(made),
        _ => copy(lock, datatype),
    }
}
