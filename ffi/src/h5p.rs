//! H5P: property lists, what files and datasets are created and opened with.

mod create;
mod filters;
mod mappings;

use hdf5_sys::h5p::{
    H5P_CLS_ATTRIBUTE_CREATE, H5P_CLS_FILE_ACCESS, H5P_CLS_LINK_CREATE, H5Pcreate, H5Pget_cache,
    H5Pget_chunk, H5Pget_fill_value, H5Pset_cache, H5Pset_char_encoding,
    H5Pset_create_intermediate_group, H5Pset_sieve_buf_size,
};
use hdf5_sys::h5t::H5T_cset_t;

pub(crate) use self::create::file_creation;
pub use self::create::{
    dataset_creation, set_chunk, set_fill_value, set_fill_variable_string, set_no_times,
};
pub use self::filters::{Filter, MAX_FILTER_PARAMETERS, add_filter, filter, filter_count};
pub use self::mappings::{Mapping, mapping, mapping_count, set_virtual, set_virtual_layout};

use crate::error::{Error, check};
use crate::h5s::{MAX_RANK, PerAxis};
use crate::h5t;
use crate::id::{AttributeCreation, DatasetCreation, Datatype, FileAccess, Id, LinkCreation};
use crate::lock::Lock;
use crate::memory::zeroed;
use crate::strings::VariableStrings;
use crate::sys;

/// Makes a file access list with the library's defaults (`H5Pcreate`).
///
/// # Errors
/// [`Error::Call`].
pub fn file_access(lock: &Lock) -> Result<FileAccess, Error> {
    // SAFETY: the lock is held, and taking it set the id of the class; the id returned is fresh or
    // negative.
    unsafe { Id::from_call(lock, "H5Pcreate", H5Pcreate(*H5P_CLS_FILE_ACCESS)) }
}

/// Has libhdf5 write nothing that HDF5 1.10 cannot read, and of that the oldest forms that will do
/// (`H5Pset_libver_bounds`).
///
/// # Errors
/// [`Error::Call`].
pub fn set_libver_bounds_earliest_to_v110(lock: &Lock, access: &FileAccess) -> Result<(), Error> {
    // H5F_LIBVER_EARLIEST and H5F_LIBVER_V110 of H5Fpublic.h, the same since HDF5 1.10.2.
    let (earliest, v110) = (0, 2);
    // SAFETY: the lock is held; `access` is a live file access list.
    let status = unsafe { sys::H5Pset_libver_bounds(access.raw(), earliest, v110) };
    check(lock, "H5Pset_libver_bounds", status).map(|_| ())
}

/// Makes a list for links whose names are UTF-8 and for which the groups on the way are made
/// (`H5Pset_char_encoding`, `H5Pset_create_intermediate_group`).
pub(crate) fn link_creation_with_parents(lock: &Lock) -> Result<LinkCreation, Error> {
    // SAFETY: the lock is held, and taking it set the id of the class; the id returned is fresh or
    // negative.
    let links: LinkCreation =
        unsafe { Id::from_call(lock, "H5Pcreate", H5Pcreate(*H5P_CLS_LINK_CREATE)) }?;
    // SAFETY: the lock is held; `links` is a live link creation list.
    let status = unsafe { H5Pset_create_intermediate_group(links.raw(), 1) };
    check(lock, "H5Pset_create_intermediate_group", status)?;
    // SAFETY: as above.
    let status = unsafe { H5Pset_char_encoding(links.raw(), H5T_cset_t::H5T_CSET_UTF8) };
    check(lock, "H5Pset_char_encoding", status)?;
    Ok(links)
}

/// Makes a list for an attribute of this name, which is UTF-8 if not ASCII
/// (`H5Pset_char_encoding`). Names in ASCII are not said to be UTF-8, which takes a newer form of
/// the attribute: for them the library's defaults will do, and there is no list.
pub(crate) fn attribute_creation(
    lock: &Lock,
    name: &str,
) -> Result<Option<AttributeCreation>, Error> {
    if name.is_ascii() {
        return Ok(None);
    }
    // SAFETY: the lock is held, and taking it set the id of the class; the id returned is fresh or
    // negative.
    let creation: AttributeCreation =
        unsafe { Id::from_call(lock, "H5Pcreate", H5Pcreate(*H5P_CLS_ATTRIBUTE_CREATE)) }?;
    // SAFETY: the lock is held; `creation` is a live attribute creation list.
    let status = unsafe { H5Pset_char_encoding(creation.raw(), H5T_cset_t::H5T_CSET_UTF8) };
    check(lock, "H5Pset_char_encoding", status)?;
    Ok(Some(creation))
}

/// Has libhdf5 read no more than is asked for: no chunk cache, no sieve buffer (`H5Pset_cache`,
/// `H5Pset_sieve_buf_size`).
///
/// For reads of parts of unfiltered chunks into contiguous memory: with the sieve buffer libhdf5
/// 2.x reads the whole chunk, 64 KiB at a time.
///
/// # Errors
/// [`Error::Call`].
pub fn set_no_read_ahead(lock: &Lock, access: &FileAccess) -> Result<(), Error> {
    let (mut unused, mut slots, mut bytes, mut preemption) = (0, 0, 0, 0.0);
    // SAFETY: the lock is held; `access` is a live file access list, the pointers are to live
    // numbers.
    let status =
        unsafe { H5Pget_cache(access.raw(), &mut unused, &mut slots, &mut bytes, &mut preemption) };
    check(lock, "H5Pget_cache", status)?;
    // SAFETY: the lock is held; `access` is a live file access list.
    let status = unsafe { H5Pset_cache(access.raw(), unused, slots, 0, preemption) };
    check(lock, "H5Pset_cache", status)?;
    // SAFETY: the lock is held; `access` is a live file access list.
    let status = unsafe { H5Pset_sieve_buf_size(access.raw(), 0) };
    check(lock, "H5Pset_sieve_buf_size", status).map(|_| ())
}

/// How the elements of a dataset are laid out in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// In the object header.
    Compact,
    /// In one piece, or not stored at all yet.
    Contiguous,
    /// In chunks.
    Chunked,
    /// In other datasets.
    Virtual,
}

/// Layout of a dataset (`H5Pget_layout`).
///
/// # Errors
/// [`Error::Call`]; [`Error::UnknownValue`].
pub fn layout(lock: &Lock, creation: &DatasetCreation) -> Result<Layout, Error> {
    // SAFETY: the lock is held; `creation` is a live dataset creation list.
    let layout = unsafe { sys::H5Pget_layout(creation.raw()) };
    // H5D_layout_t of H5Dpublic.h.
    Ok(match check(lock, "H5Pget_layout", layout)? {
        0 => Layout::Compact,
        1 => Layout::Contiguous,
        2 => Layout::Chunked,
        3 => Layout::Virtual,
        value => return Err(Error::UnknownValue { call: "H5Pget_layout", value: value.into() }),
    })
}

/// Shape of the chunks of a chunked dataset, in elements (`H5Pget_chunk`).
///
/// # Errors
/// [`Error::Call`] for other layouts; [`Error::UnknownValue`].
pub fn chunk_shape(lock: &Lock, creation: &DatasetCreation) -> Result<PerAxis, Error> {
    let mut shape = PerAxis::zeros(MAX_RANK);
    let room = i32::try_from(MAX_RANK).unwrap_or(0);
    // SAFETY: the lock is held; `creation` is a live dataset creation list; at most `room` numbers
    // are written.
    let rank = unsafe { H5Pget_chunk(creation.raw(), room, shape.as_mut_ptr()) };
    let rank = check(lock, "H5Pget_chunk", rank)?;
    let unknown = Error::UnknownValue { call: "H5Pget_chunk", value: rank.into() };
    usize::try_from(rank).ok().and_then(|rank| shape.truncated(rank)).ok_or(unknown)
}

/// What elements that were never written hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillValue {
    /// Nothing defined.
    Undefined,
    /// Zero bytes, which is the library's default; for strings of variable length the empty string.
    Default,
    /// The bytes of one element of the type that was asked for.
    Bytes(Vec<u8>),
    /// One string of variable length.
    VariableString(Vec<u8>),
}

/// Fill value of a dataset, as an element of `datatype`, often the dataset's own
/// (`H5Pget_fill_value`).
///
/// # Errors
/// [`Error::PointersInType`] for types that hold pointers and are no plain variable-length string;
/// [`Error::Call`] also when the fill value cannot be converted.
pub fn fill_value(
    lock: &Lock,
    creation: &DatasetCreation,
    datatype: &Datatype,
) -> Result<FillValue, Error> {
    let call = "H5Pget_fill_value";
    let mut status = 0;
    // SAFETY: the lock is held; `creation` is a live dataset creation list, `status` a live
    // integer.
    let outcome = unsafe { sys::H5Pfill_value_defined(creation.raw(), &mut status) };
    check(lock, "H5Pfill_value_defined", outcome)?;
    // H5D_fill_value_t of H5Dpublic.h.
    match status {
        0 => return Ok(FillValue::Undefined),
        1 => return Ok(FillValue::Default),
        2 => {}
        value => {
            let call = "H5Pfill_value_defined";
            return Err(Error::UnknownValue { call, value: value.into() });
        }
    }
    if h5t::is_variable_string(lock, datatype)? {
        let mut strings = VariableStrings::new(lock, call, datatype, 1)?;
        // SAFETY: the lock is held; the ids are live; there is room for one pointer.
        let outcome = unsafe {
            H5Pget_fill_value(creation.raw(), datatype.raw(), strings.as_mut_ptr().cast())
        };
        check(lock, call, outcome)?;
        // SAFETY: the call succeeded, so libhdf5 has filled in the pointer.
        let string = unsafe { strings.copies() }.pop().unwrap_or_default();
        return Ok(FillValue::VariableString(string));
    }
    if h5t::has_pointers(lock, datatype)? {
        return Err(Error::PointersInType { what: call });
    }
    let mut bytes = zeroed("a fill value", h5t::size(lock, datatype)?)?;
    // SAFETY: the lock is held; the ids are live; `bytes` has room for one element.
    let outcome =
        unsafe { H5Pget_fill_value(creation.raw(), datatype.raw(), bytes.as_mut_ptr().cast()) };
    check(lock, call, outcome)?;
    Ok(FillValue::Bytes(bytes))
}
