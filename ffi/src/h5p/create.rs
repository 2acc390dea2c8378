//! What a new file or dataset is to be created with.

use hdf5_sys::h5p::{
    H5P_CLS_DATASET_CREATE, H5P_CLS_FILE_CREATE, H5Pcreate, H5Pset_chunk, H5Pset_fill_value,
    H5Pset_obj_track_times, H5Pset_userblock,
};

use crate::error::{Error, check};
use crate::h5s::MAX_RANK;
use crate::h5t;
use crate::id::{DatasetCreation, Datatype, FileCreation, Id};
use crate::lock::Lock;
use crate::text::c_bytes;

/// Makes a dataset creation list with the library's defaults: contiguous, no filter, no fill value
/// (`H5Pcreate`).
///
/// # Errors
/// [`Error::Call`].
pub fn dataset_creation(lock: &Lock) -> Result<DatasetCreation, Error> {
    // SAFETY: the lock is held, and taking it set the id of the class; the id returned is fresh or
    // negative.
    unsafe { Id::from_call(lock, "H5Pcreate", H5Pcreate(*H5P_CLS_DATASET_CREATE)) }
}

/// Makes a file creation list with the library's defaults, and a user block of so many bytes (`H5Pset_userblock`).
///
/// # Errors
/// [`Error::Call`], also for a size that is neither 0 nor a power of two from 512 on.
pub(crate) fn file_creation(lock: &Lock, user_block: u64) -> Result<FileCreation, Error> {
    // SAFETY: the lock is held, and taking it set the id of the class; the id returned is fresh or
    // negative.
    let creation: FileCreation =
        unsafe { Id::from_call(lock, "H5Pcreate", H5Pcreate(*H5P_CLS_FILE_CREATE)) }?;
    // SAFETY: the lock is held; `creation` is a live file creation list.
    let status = unsafe { H5Pset_userblock(creation.raw(), user_block) };
    check(lock, "H5Pset_userblock", status)?;
    Ok(creation)
}

/// Makes the dataset a chunked one, of chunks of this shape in elements (`H5Pset_chunk`).
///
/// # Errors
/// [`Error::Rank`] for more than [`MAX_RANK`] axes; [`Error::Call`] also for no axes, for a length
/// of 0 and for chunks of 2^32 elements and more.
pub fn set_chunk(lock: &Lock, creation: &DatasetCreation, shape: &[u64]) -> Result<(), Error> {
    let rank = i32::try_from(shape.len())
        .ok()
        .filter(|_| shape.len() <= MAX_RANK)
        .ok_or(Error::Rank { what: "H5Pset_chunk", expected: MAX_RANK, found: shape.len() })?;
    // SAFETY: the lock is held; `creation` is a live dataset creation list, `shape` has `rank`
    // numbers.
    let status = unsafe { H5Pset_chunk(creation.raw(), rank, shape.as_ptr()) };
    check(lock, "H5Pset_chunk", status).map(|_| ())
}

/// Sets what elements that were never written hold: one element of `datatype`, as bytes
/// (`H5Pset_fill_value`).
///
/// # Errors
/// [`Error::PointersInType`]: for strings of variable length there is
/// [`set_fill_variable_string`]; [`Error::BufferLength`] unless `element` has the bytes of one;
/// [`Error::Call`].
pub fn set_fill_value(
    lock: &Lock,
    creation: &DatasetCreation,
    datatype: &Datatype,
    element: &[u8],
) -> Result<(), Error> {
    let what = "H5Pset_fill_value";
    if h5t::has_pointers(lock, datatype)? {
        return Err(Error::PointersInType { what });
    }
    let expected = h5t::size(lock, datatype)?;
    if element.len() != expected {
        return Err(Error::BufferLength { what, expected, found: element.len() });
    }
    // SAFETY: the lock is held; the ids are live; `element` is one element of `datatype`, which the
    // call copies.
    let status =
        unsafe { H5Pset_fill_value(creation.raw(), datatype.raw(), element.as_ptr().cast()) };
    check(lock, what, status).map(|_| ())
}

/// Sets what elements of a dataset of variable-length strings hold that were never written
/// (`H5Pset_fill_value`).
///
/// # Errors
/// [`Error::TypeClass`] for other types; [`Error::InteriorNul`]; [`Error::Call`].
pub fn set_fill_variable_string(
    lock: &Lock,
    creation: &DatasetCreation,
    datatype: &Datatype,
    string: &[u8],
) -> Result<(), Error> {
    let what = "H5Pset_fill_value";
    if !h5t::is_variable_string(lock, datatype)? {
        return Err(Error::TypeClass { what, expected: "a string of variable length" });
    }
    let string = c_bytes(string)?;
    let element = string.as_ptr();
    // SAFETY: the lock is held; the ids are live; an element of `datatype` is a pointer to a string
    // that ends in a zero byte, which the call copies.
    let status =
        unsafe { H5Pset_fill_value(creation.raw(), datatype.raw(), (&raw const element).cast()) };
    check(lock, what, status).map(|_| ())
}

/// Has the dataset not keep when it was created and changed (`H5Pset_obj_track_times`), so that the
/// same calls make the same bytes.
///
/// # Errors
/// [`Error::Call`].
pub fn set_no_times(lock: &Lock, creation: &DatasetCreation) -> Result<(), Error> {
    // SAFETY: the lock is held; `creation` is a live dataset creation list.
    let status = unsafe { H5Pset_obj_track_times(creation.raw(), 0) };
    check(lock, "H5Pset_obj_track_times", status).map(|_| ())
}
