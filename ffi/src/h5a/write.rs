//! Attributes written and deleted.

use hdf5_sys::h5a::{H5Acreate_by_name, H5Adelete_by_name, H5Awrite};
use hdf5_sys::h5p::H5P_DEFAULT;

use super::exists;
use crate::error::{Error, check};
use crate::id::{Attribute, Dataspace, Datatype, Id, Object};
use crate::lock::Lock;
use crate::memory::total;
use crate::strings::StringPointers;
use crate::text::c_string;
use crate::{h5f, h5p, h5s, h5t};

/// Writes an attribute of the object at `path`, seen from `at`, in place of one that has the name
/// (`H5Acreate_by_name`, `H5Awrite`).
///
/// No `shape` makes an attribute of no elements at all, an empty one a scalar. `bytes` are the
/// elements, in C order.
///
/// # Errors
/// [`Error::PointersInType`]: for strings of variable length there is [`write_variable_strings`];
/// [`Error::BufferLength`] unless `bytes` are those of the elements; [`Error::Rank`] for too many
/// axes; [`Error::InteriorNul`]; [`Error::ReadOnly`]; with these the attribute stays as it was.
/// [`Error::Call`] also when there is no such object and for more than 64 KiB.
pub fn write<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    datatype: &Datatype,
    shape: Option<&[u64]>,
    bytes: &[u8],
) -> Result<(), Error> {
    let what = "H5Awrite";
    if h5t::has_pointers(lock, datatype)? {
        return Err(Error::PointersInType { what });
    }
    let space = space_of(lock, shape)?;
    let points = h5s::selected(lock, &space)?;
    let expected = total(what, points, h5t::size(lock, datatype)?)?;
    if bytes.len() != expected {
        return Err(Error::BufferLength { what, expected, found: bytes.len() });
    }
    let attribute = replace(lock, at, path, name, datatype, &space)?;
    // SAFETY: `bytes` are the elements of the attribute, whose type is `datatype`.
    unsafe { write_elements(lock, &attribute, datatype, points, bytes.as_ptr()) }
}

/// Writes an attribute of variable-length strings: see [`write()`].
///
/// # Errors
/// As [`write()`], but [`Error::TypeClass`] for other types and [`Error::Count`] unless there is a
/// string for each element; [`Error::InteriorNul`] also for a string with a zero byte inside;
/// [`Error::Memory`].
pub fn write_variable_strings<O: Object, S: AsRef<[u8]>>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    datatype: &Datatype,
    shape: Option<&[u64]>,
    strings: &[S],
) -> Result<(), Error> {
    let space = space_of(lock, shape)?;
    let points = h5s::selected(lock, &space)?;
    let pointers = StringPointers::new(lock, "H5Awrite", datatype, points, strings)?;
    let attribute = replace(lock, at, path, name, datatype, &space)?;
    // SAFETY: there is a pointer an element, to strings that end in a zero byte and live until the
    // end of this function.
    unsafe { write_elements(lock, &attribute, datatype, points, pointers.as_ptr().cast()) }
}

/// Writes the elements of an attribute that is there, of its own type (`H5Awrite`). Takes a third of the time of
/// [`write()`].
///
/// # Errors
/// As [`write()`], of an attribute with another number of elements too.
pub fn rewrite(lock: &Lock, attribute: &Attribute, bytes: &[u8]) -> Result<(), Error> {
    let what = "H5Awrite";
    let datatype = super::datatype(lock, attribute)?;
    if h5t::has_pointers(lock, &datatype)? {
        return Err(Error::PointersInType { what });
    }
    let points = h5s::selected(lock, &super::space(lock, attribute)?)?;
    let expected = total(what, points, h5t::size(lock, &datatype)?)?;
    if bytes.len() != expected {
        return Err(Error::BufferLength { what, expected, found: bytes.len() });
    }
    // SAFETY: `bytes` are the elements of the attribute, whose type is `datatype`.
    let written = unsafe { write_elements(lock, attribute, &datatype, points, bytes.as_ptr()) };
    h5f::written(lock, what, attribute, written)
}

/// Deletes an attribute of the object at `path`, seen from `at` (`H5Adelete_by_name`).
///
/// # Errors
/// [`Error::Call`] when there is no such object or attribute; [`Error::ReadOnly`];
/// [`Error::InteriorNul`].
pub fn delete<O: Object>(lock: &Lock, at: &Id<O>, path: &str, name: &str) -> Result<(), Error> {
    let what = "H5Adelete_by_name";
    let (path, name) = (c_string(path)?, c_string(name)?);
    // SAFETY: the lock is held; `at` is live, both names end in a zero byte.
    let status = unsafe { H5Adelete_by_name(at.raw(), path.as_ptr(), name.as_ptr(), H5P_DEFAULT) };
    h5f::written(lock, what, at, check(lock, what, status).map(|_| ()))
}

fn space_of(lock: &Lock, shape: Option<&[u64]>) -> Result<Dataspace, Error> {
    match shape {
        None => h5s::null(lock),
        Some([]) => h5s::scalar(lock),
        Some(dims) => h5s::simple(lock, dims),
    }
}

/// Creates an attribute in place of the one that has the name, if there is one.
pub(super) fn replace<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    datatype: &Datatype,
    space: &Dataspace,
) -> Result<Attribute, Error> {
    // Most have a new name, and looking for it takes libhdf5 as long as it takes to refuse one that is taken.
    match create(lock, at, path, name, datatype, space) {
        Err(Error::Call { .. }) if exists(lock, at, path, name)? => {
            delete(lock, at, path, name)?;
            create(lock, at, path, name, datatype, space)
        }
        created => h5f::written(lock, "H5Acreate_by_name", at, created),
    }
}

fn create<O: Object>(
    lock: &Lock,
    at: &Id<O>,
    path: &str,
    name: &str,
    datatype: &Datatype,
    space: &Dataspace,
) -> Result<Attribute, Error> {
    let creation = h5p::attribute_creation(lock, name)?;
    let (path, name) = (c_string(path)?, c_string(name)?);
    // SAFETY: the lock is held; all ids are live, both names end in a zero byte.
    let id = unsafe {
        H5Acreate_by_name(
            at.raw(),
            path.as_ptr(),
            name.as_ptr(),
            datatype.raw(),
            space.raw(),
            creation.as_ref().map_or(H5P_DEFAULT, Id::raw),
            H5P_DEFAULT,
            H5P_DEFAULT,
        )
    };
    // SAFETY: H5Acreate_by_name returned it, fresh or negative.
    unsafe { Id::from_call(lock, "H5Acreate_by_name", id) }
}

/// Writes all elements of an attribute.
///
/// # Safety
/// The attribute has `points` elements, and `elements` points to as many valid ones of `datatype`.
pub(super) unsafe fn write_elements(
    lock: &Lock,
    attribute: &Attribute,
    datatype: &Datatype,
    points: u64,
    elements: *const u8,
) -> Result<(), Error> {
    if points == 0 {
        return Ok(());
    }
    // SAFETY: the lock is held; both ids are live; the caller promises the elements.
    let status = unsafe { H5Awrite(attribute.raw(), datatype.raw(), elements.cast()) };
    check(lock, "H5Awrite", status).map(|_| ())
}
