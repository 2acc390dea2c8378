//! H5O: objects by path, without opening them.
//!
//! Opening a virtual dataset decodes its whole mapping list; looking at its object header does not
//! (`H5O__get_info_by_name` finds the location and reads the header, no more).

use std::mem::MaybeUninit;

use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5o::{H5O_INFO_BASIC, H5O_INFO_NUM_ATTRS, H5Ocopy};
use hdf5_sys::h5p::H5P_DEFAULT;

use crate::error::{Error, check};
use crate::h5l::{self, Link};
use crate::id::{self, Container, Id};
use crate::lock::Lock;
use crate::text::c_string;
use crate::{h5f, h5p, sys};

/// What kind of object a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A group.
    Group,
    /// A dataset.
    Dataset,
    /// A datatype stored under a name.
    NamedDatatype,
    /// Anything else.
    Other,
}

/// What an object header says about its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// What kind of object it is.
    pub kind: ObjectKind,
    /// Address of its header in bytes from the base address: the user block is not counted.
    pub address: u64,
    /// Number of attributes.
    pub attributes: u64,
    /// Number of the open file it is in; two objects of one file have the same.
    pub file_number: u64,
}

/// The object at `path`, seen from `at` (`H5Oget_info_by_name`). Links are followed.
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::InteriorNul`].
pub fn object<O: id::Object>(lock: &Lock, at: &Id<O>, path: &str) -> Result<Object, Error> {
    let path = c_string(path)?;
    let mut info = MaybeUninit::<sys::ObjectInfo>::zeroed();
    let fields = H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS;
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte, `info` has room for the
    // struct.
    let status = unsafe {
        sys::H5Oget_info_by_name(at.raw(), path.as_ptr(), info.as_mut_ptr(), fields, H5P_DEFAULT)
    };
    check(lock, "H5Oget_info_by_name", status)?;
    // SAFETY: it was zeroed, which is a valid value, and then filled by the call.
    let info = unsafe { info.assume_init() };
    Ok(Object {
        // H5O_TYPE_GROUP, H5O_TYPE_DATASET and H5O_TYPE_NAMED_DATATYPE of H5Opublic.h.
        kind: match info.kind {
            0 => ObjectKind::Group,
            1 => ObjectKind::Dataset,
            2 => ObjectKind::NamedDatatype,
            _ => ObjectKind::Other,
        },
        address: address_of(lock, at, info.target)?,
        attributes: info.attributes,
        file_number: info.file_number,
    })
}

/// Address of the header of the object at `path`, seen from `at`, in bytes from the base address:
/// the user block is not counted.
///
/// # Errors
/// As [`object`]; [`Error::OtherFile`] when an external link leads out of the file of `at`.
pub fn address<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<u64, Error> {
    // A hard link says where it leads to; only what is on the way to it could lead out of the file.
    let is_name = !matches!(path, "" | ".") && !path.contains('/');
    if is_name && let Ok(Link::Hard { address }) = h5l::link(lock, at, path) {
        return Ok(address);
    }
    let found = object(lock, at, path)?;
    let here = object(lock, at, ".")?;
    if found.file_number == here.file_number {
        Ok(found.address)
    } else {
        Err(Error::OtherFile { path: path.to_owned() })
    }
}

/// Copies the object at `from_path`, seen from `from_at`, with its attributes and all that is in it,
/// to `to_path`, seen from `to_at`, with the groups on the way that are missing (`H5Ocopy`).
///
/// Takes a virtual dataset for what it is: the copy has the same mappings, none is followed.
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::Exists`] when the name is taken; also when there is no
/// such object; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn copy<F: Container, T: Container>(
    lock: &Lock,
    from_at: &Id<F>,
    from_path: &str,
    to_at: &Id<T>,
    to_path: &str,
) -> Result<(), Error> {
    let what = "H5Ocopy";
    if !h5f::is_writable(lock, to_at)? {
        return Err(Error::ReadOnly { call: what });
    }
    let (from_path, to_path) = (c_string(from_path)?, c_string(to_path)?);
    let links = h5p::link_creation_with_parents(lock)?;
    // SAFETY: the lock is held; the ids are live, both paths end in a zero byte.
    let status = unsafe {
        H5Ocopy(
            from_at.raw(),
            from_path.as_ptr(),
            to_at.raw(),
            to_path.as_ptr(),
            H5P_DEFAULT,
            links.raw(),
        )
    };
    check(lock, what, status).map(|_| ())
}

/// The address a token stands for.
#[cfg(hdf5_tokens)]
pub(crate) fn address_of<O: id::Object>(
    lock: &Lock,
    at: &Id<O>,
    token: sys::Token,
) -> Result<u64, Error> {
    let mut address = 0;
    // SAFETY: the lock is held; `at` is live, `address` a live integer.
    let status = unsafe { sys::H5VLnative_token_to_addr(at.raw(), token, &mut address) };
    check(lock, "H5VLnative_token_to_addr", status)?;
    Ok(address)
}

/// The address a token stands for: before HDF5 1.12 the address itself.
#[cfg(not(hdf5_tokens))]
pub(crate) fn address_of<O: id::Object>(
    _lock: &Lock,
    _at: &Id<O>,
    address: u64,
) -> Result<u64, Error> {
    Ok(address)
}

/// Opens the object whose header is at `address`, in bytes from the base address, in the file of `at`
/// (`H5Oopen_by_token`). What comes back is an id of whatever is there, or negative.
#[cfg(hdf5_tokens)]
pub(crate) fn open_at<O: id::Object>(
    lock: &Lock,
    at: &Id<O>,
    address: u64,
) -> Result<hid_t, Error> {
    let mut token = MaybeUninit::<sys::Token>::zeroed();
    // SAFETY: the lock is held; `at` is live, `token` has room for the struct.
    let status = unsafe { sys::H5VLnative_addr_to_token(at.raw(), address, token.as_mut_ptr()) };
    check(lock, "H5VLnative_addr_to_token", status)?;
    // SAFETY: the lock is held; `at` is live, and any bytes are a token, the zeros from before too.
    Ok(unsafe { sys::H5Oopen_by_token(at.raw(), token.assume_init()) })
}

/// The same: before HDF5 1.12 the address itself names the object (`H5Oopen_by_addr`).
#[cfg(not(hdf5_tokens))]
pub(crate) fn open_at<O: id::Object>(
    _lock: &Lock,
    at: &Id<O>,
    address: u64,
) -> Result<hid_t, Error> {
    // SAFETY: the lock is held; `at` is live.
    Ok(unsafe { hdf5_sys::h5o::H5Oopen_by_addr(at.raw(), address) })
}
