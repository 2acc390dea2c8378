//! Datatypes copied, and elements taken from one to another.

use std::ptr;

use hdf5_sys::h5p::H5P_DEFAULT;
use hdf5_sys::h5t::{H5Tconvert, H5Tcopy};

use super::{Class, is_variable_string, size};
use crate::error::{Error, check};
use crate::id::{Datatype, Id};
use crate::lock::Lock;
use crate::memory::total;

/// A copy of a datatype that is not stored under a name, even if the original is (`H5Tcopy`).
///
/// # Errors
/// [`Error::Call`].
pub fn copy(lock: &Lock, datatype: &Datatype) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `datatype` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Tcopy", H5Tcopy(datatype.raw())) }
}

/// Turns the `count` elements of `from` in `buffer` into as many of `to` (`H5Tconvert`).
///
/// For numbers, enumerations, bitfields and strings of fixed length. Numbers out of the range of
/// `to` become the nearest in it; strings are cut or filled up.
///
/// # Errors
/// [`Error::TypeClass`] for other types; [`Error::BufferLength`] unless `buffer` has the bytes of
/// `count` elements of `from`; [`Error::Limit`] and [`Error::Memory`]; [`Error::Call`] when there is
/// no way from one to the other, and what `buffer` then holds is not defined.
pub fn convert(
    lock: &Lock,
    from: &Datatype,
    to: &Datatype,
    count: usize,
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    let what = "H5Tconvert";
    let points = u64::try_from(count).unwrap_or(u64::MAX);
    let bytes = |datatype| {
        check_plain(lock, what, datatype)?;
        total(what, points, size(lock, datatype)?)
    };
    let (before, after) = (bytes(from)?, bytes(to)?);
    if buffer.len() != before {
        return Err(Error::BufferLength { what, expected: before, found: buffer.len() });
    }
    let more = after.saturating_sub(before);
    buffer.try_reserve(more).map_err(|_| Error::Memory { what, bytes: more })?;
    buffer.resize(before.max(after), 0);
    if count > 0 {
        // SAFETY: the lock is held; both types are live. The buffer has room for `count` elements of
        // either, and starts with as many of `from`. Neither type has members, so that no
        // background is needed.
        let status = unsafe {
            H5Tconvert(
                from.raw(),
                to.raw(),
                count,
                buffer.as_mut_ptr().cast(),
                ptr::null_mut(),
                H5P_DEFAULT,
            )
        };
        check(lock, what, status)?;
    }
    buffer.truncate(after);
    Ok(())
}

/// Refuses types whose elements have parts, or point to something.
fn check_plain(lock: &Lock, what: &'static str, datatype: &Datatype) -> Result<(), Error> {
    let plain = match Class::of(lock, datatype)? {
        Class::Integer | Class::Float | Class::Bitfield | Class::Enumeration => true,
        Class::String => !is_variable_string(lock, datatype)?,
        _ => false,
    };
    let expected = "a number, an enumeration, a bitfield or a string of fixed length";
    if plain { Ok(()) } else { Err(Error::TypeClass { what, expected }) }
}
