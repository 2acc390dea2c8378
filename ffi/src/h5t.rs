//! H5T: datatypes.

mod copy;
mod create;
mod describe;
mod description;

use hdf5_sys::h5t::{H5Tget_size, H5Tget_super};

pub use self::copy::{copy, copy_portable};
pub use self::create::create;
pub use self::describe::describe;
pub use self::description::{
    ByteOrder, CharacterSet, Description, EnumMember, Float, Member, Normalization, Reference,
    StringPadding, TypeClass,
};

use crate::error::{Error, check, check_truth, failure};
use crate::id::{Datatype, Id};
use crate::lock::Lock;
use crate::sys;

/// How deep types may nest in types.
pub const MAX_DEPTH: usize = 32;

/// Bytes of an element in memory (`H5Tget_size`).
///
/// # Errors
/// [`Error::Call`].
pub fn size(lock: &Lock, datatype: &Datatype) -> Result<usize, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    match unsafe { H5Tget_size(datatype.raw()) } {
        0 => Err(failure(lock, "H5Tget_size")),
        size => Ok(size),
    }
}

/// Whether two datatypes are the same (`H5Tequal`).
///
/// # Errors
/// [`Error::Call`].
pub fn equal(lock: &Lock, one: &Datatype, other: &Datatype) -> Result<bool, Error> {
    // SAFETY: the lock is held; both are live.
    let equal = unsafe { hdf5_sys::h5t::H5Tequal(one.raw(), other.raw()) };
    check_truth(lock, "H5Tequal", equal)
}

/// Whether an element is one string of variable length (`H5Tis_variable_str`).
///
/// # Errors
/// [`Error::Call`].
pub fn is_variable_string(lock: &Lock, datatype: &Datatype) -> Result<bool, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let variable = unsafe { hdf5_sys::h5t::H5Tis_variable_str(datatype.raw()) };
    check_truth(lock, "H5Tis_variable_str", variable)
}

/// Whether elements in memory hold pointers: strings and sequences of variable length, and the
/// references of HDF5 1.12, alone or inside another type.
///
/// # Errors
/// [`Error::Call`]; [`Error::Limit`] above [`MAX_DEPTH`].
pub fn has_pointers(lock: &Lock, datatype: &Datatype) -> Result<bool, Error> {
    has_pointers_within(lock, datatype, MAX_DEPTH)
}

fn has_pointers_within(lock: &Lock, datatype: &Datatype, depth: usize) -> Result<bool, Error> {
    let depth = deeper(depth)?;
    match Class::of(lock, datatype)? {
        Class::VariableLength => Ok(true),
        Class::String => is_variable_string(lock, datatype),
        Class::Reference => Ok(reference(lock, datatype)? == Reference::Opaque),
        Class::Array => has_pointers_within(lock, &base(lock, datatype)?, depth),
        Class::Compound => {
            for index in 0..member_count(lock, datatype)? {
                if has_pointers_within(lock, &member_type(lock, datatype, index)?, depth)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

/// One level less to go.
fn deeper(depth: usize) -> Result<usize, Error> {
    let limit = u64::try_from(MAX_DEPTH).unwrap_or(u64::MAX);
    depth.checked_sub(1).ok_or(Error::Limit {
        what: "the depth of a datatype",
        found: limit + 1,
        limit,
    })
}

/// `H5T_class_t` (`H5Tpublic.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Time,
    String,
    Bitfield,
    Opaque,
    Compound,
    Reference,
    Enumeration,
    VariableLength,
    Array,
    Complex,
}

impl Class {
    fn of(lock: &Lock, datatype: &Datatype) -> Result<Self, Error> {
        // SAFETY: the lock is held; `datatype` is live.
        let class = unsafe { sys::H5Tget_class(datatype.raw()) };
        Ok(match check(lock, "H5Tget_class", class)? {
            0 => Self::Integer,
            1 => Self::Float,
            2 => Self::Time,
            3 => Self::String,
            4 => Self::Bitfield,
            5 => Self::Opaque,
            6 => Self::Compound,
            7 => Self::Reference,
            8 => Self::Enumeration,
            9 => Self::VariableLength,
            10 => Self::Array,
            11 => Self::Complex,
            value => return Err(Error::UnknownValue { call: "H5Tget_class", value: value.into() }),
        })
    }
}

/// What kind of reference a reference type is.
fn reference(lock: &Lock, datatype: &Datatype) -> Result<Reference, Error> {
    let is = |known: hdf5_sys::h5i::hid_t| {
        // SAFETY: the lock is held; both ids are live: a datatype and a type built into the
        // library.
        check_truth(lock, "H5Tequal", unsafe { hdf5_sys::h5t::H5Tequal(datatype.raw(), known) })
    };
    if is(*hdf5_sys::h5t::H5T_STD_REF_OBJ)? {
        Ok(Reference::Object)
    } else if is(*hdf5_sys::h5t::H5T_STD_REF_DSETREG)? {
        Ok(Reference::Region)
    } else {
        Ok(Reference::Opaque)
    }
}

/// The type that an array, enumeration, sequence or complex number is made of (`H5Tget_super`).
fn base(lock: &Lock, datatype: &Datatype) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `datatype` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Tget_super", H5Tget_super(datatype.raw())) }
}

/// Number of members of a compound or enumeration (`H5Tget_nmembers`).
fn member_count(lock: &Lock, datatype: &Datatype) -> Result<u32, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let count = unsafe { hdf5_sys::h5t::H5Tget_nmembers(datatype.raw()) };
    Ok(check(lock, "H5Tget_nmembers", count)?.unsigned_abs())
}

/// Datatype of one member of a compound (`H5Tget_member_type`).
fn member_type(lock: &Lock, datatype: &Datatype, index: u32) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `datatype` is live.
    let id = unsafe { hdf5_sys::h5t::H5Tget_member_type(datatype.raw(), index) };
    // SAFETY: H5Tget_member_type returned it, fresh or negative.
    unsafe { Id::from_call(lock, "H5Tget_member_type", id) }
}
