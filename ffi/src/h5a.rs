//! H5A: attributes of objects by path, without opening the objects.
//!
//! `H5Aopen_by_name`, `H5Aexists_by_name` and `H5Aget_name_by_idx` find the location of the object
//! and read its header (`H5A__open_by_name`, `H5A__exists_by_name`, `H5A__open_by_idx` in
//! H5Aint.c); none opens it as a dataset, which for a virtual one would decode all its mappings.
//! `H5Aiterate_by_name` would.

mod copy;
mod write;

use hdf5_sys::h5::{H5_INDEX_NAME, H5_ITER_INC};
use hdf5_sys::h5a::{
    H5Aexists_by_name, H5Aget_name_by_idx, H5Aget_space, H5Aget_type, H5Aopen_by_name, H5Aread,
};
use hdf5_sys::h5p::H5P_DEFAULT;

pub use self::copy::copy;
pub use self::write::{delete, rewrite, write, write_variable_strings};

use crate::error::{Error, check, check_truth};
use crate::id::{Attribute, Container, Dataspace, Datatype, Id, Object};
use crate::lock::Lock;
use crate::memory::{total, zeroed};
use crate::strings::VariableStrings;
use crate::text::{c_string, sized};
use crate::{h5o, h5s, h5t};

/// Opens an attribute of the object at `path`, seen from `at` (`H5Aopen_by_name`).
///
/// # Errors
/// [`Error::Call`] when there is no such object or attribute; [`Error::InteriorNul`].
pub fn open<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
) -> Result<Attribute, Error> {
    let (path, name) = (c_string(path)?, c_string(name)?);
    // SAFETY: the lock is held; `at` is live, both names end in a zero byte.
    let id = unsafe {
        H5Aopen_by_name(at.raw(), path.as_ptr(), name.as_ptr(), H5P_DEFAULT, H5P_DEFAULT)
    };
    // SAFETY: H5Aopen_by_name returned it, fresh or negative.
    unsafe { Id::from_call(lock, "H5Aopen_by_name", id) }
}

/// Whether the object at `path` has an attribute of this name (`H5Aexists_by_name`).
///
/// # Errors
/// [`Error::Call`] when there is no such object; [`Error::InteriorNul`].
pub fn exists<O: Object>(lock: &Lock, at: &Id<O>, path: &str, name: &str) -> Result<bool, Error> {
    let (path, name) = (c_string(path)?, c_string(name)?);
    // SAFETY: the lock is held; `at` is live, both names end in a zero byte.
    let found = unsafe { H5Aexists_by_name(at.raw(), path.as_ptr(), name.as_ptr(), H5P_DEFAULT) };
    check_truth(lock, "H5Aexists_by_name", found)
}

/// Names of the attributes of the object at `path`, in ascending order (`H5Aget_name_by_idx`).
///
/// libhdf5 sorts the attributes again for each name: meant for the few that objects have.
///
/// # Errors
/// [`Error::Call`]; [`Error::InteriorNul`]; [`Error::NotUtf8`].
pub fn names<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<Vec<String>, Error> {
    let count = h5o::object(lock, at, path)?.attributes;
    let path = c_string(path)?;
    let name = |index| {
        sized(lock, "H5Aget_name_by_idx", "the name of an attribute", |buffer, size| {
            // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte, and `buffer` has
            // room for `size` bytes.
            unsafe {
                H5Aget_name_by_idx(
                    at.raw(),
                    path.as_ptr(),
                    H5_INDEX_NAME,
                    H5_ITER_INC,
                    index,
                    buffer,
                    size,
                    H5P_DEFAULT,
                )
            }
        })
    };
    (0..count).map(name).collect()
}

/// Datatype of an attribute (`H5Aget_type`).
///
/// # Errors
/// [`Error::Call`].
pub fn datatype(lock: &Lock, attribute: &Attribute) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `attribute` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Aget_type", H5Aget_type(attribute.raw())) }
}

/// Dataspace of an attribute (`H5Aget_space`).
///
/// # Errors
/// [`Error::Call`].
pub fn space(lock: &Lock, attribute: &Attribute) -> Result<Dataspace, Error> {
    // SAFETY: the lock is held; `attribute` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Aget_space", H5Aget_space(attribute.raw())) }
}

/// The values of an attribute as bytes of its own datatype, in C order (`H5Aread`).
///
/// # Errors
/// [`Error::PointersInType`] for types with elements of variable length; [`Error::Call`];
/// [`Error::Limit`] and [`Error::Memory`] for more than fits.
pub fn read(lock: &Lock, attribute: &Attribute) -> Result<Vec<u8>, Error> {
    let datatype = datatype(lock, attribute)?;
    if h5t::has_pointers(lock, &datatype)? {
        return Err(Error::PointersInType { what: "H5Aread" });
    }
    let points = h5s::selected(lock, &space(lock, attribute)?)?;
    let bytes = total("the values of an attribute", points, h5t::size(lock, &datatype)?)?;
    let mut values = zeroed("the values of an attribute", bytes)?;
    if !values.is_empty() {
        // SAFETY: the lock is held; both ids are live, and `values` has the bytes of all elements
        // of that type, which is what the call writes.
        let status =
            unsafe { H5Aread(attribute.raw(), datatype.raw(), values.as_mut_ptr().cast()) };
        check(lock, "H5Aread", status)?;
    }
    Ok(values)
}

/// The strings of an attribute of variable-length strings, in C order, each up to its first zero
/// byte.
///
/// # Errors
/// [`Error::TypeClass`] for other types; [`Error::Call`]; [`Error::Limit`] and [`Error::Memory`].
pub fn read_variable_strings(lock: &Lock, attribute: &Attribute) -> Result<Vec<Vec<u8>>, Error> {
    let datatype = datatype(lock, attribute)?;
    let points = h5s::selected(lock, &space(lock, attribute)?)?;
    let mut strings = VariableStrings::new(lock, "H5Aread", &datatype, points)?;
    if points > 0 {
        // SAFETY: the lock is held; both ids are live, and there is room for one pointer an
        // element.
        let status =
            unsafe { H5Aread(attribute.raw(), datatype.raw(), strings.as_mut_ptr().cast()) };
        check(lock, "H5Aread", status)?;
    }
    // SAFETY: the call succeeded, so libhdf5 has filled in the pointers.
    Ok(unsafe { strings.copies() })
}
