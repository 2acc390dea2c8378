//! Strings to and from C.

use std::ffi::{CStr, CString, c_char};

use libc::{size_t, ssize_t};

use crate::error::{Error, failure};
use crate::lock::Lock;

/// Copies a name for C.
///
/// # Errors
/// [`Error::InteriorNul`].
pub(crate) fn c_string(name: &str) -> Result<CString, Error> {
    c_bytes(name.as_bytes())
}

/// Copies a string for C.
///
/// # Errors
/// [`Error::InteriorNul`].
pub(crate) fn c_bytes(string: &[u8]) -> Result<CString, Error> {
    CString::new(string)
        .map_err(|_| Error::InteriorNul { name: String::from_utf8_lossy(string).into_owned() })
}

/// Copies a name that C hands out.
///
/// # Errors
/// [`Error::NotUtf8`].
///
/// # Safety
/// `name` points to bytes that end in a zero byte and stay as they are during the call.
pub(crate) unsafe fn owned(what: &'static str, name: *const c_char) -> Result<String, Error> {
    // SAFETY: promised by the caller.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    utf8(what, bytes.to_vec())
}

/// A string that C allocated for us with libhdf5's allocator, copied and freed.
///
/// # Errors
/// The failure of `call` when `string` is null; [`Error::NotUtf8`].
///
/// # Safety
/// `string` is what `call` has just returned: null, or a string that is ours to free.
pub(crate) unsafe fn taken(
    lock: &Lock,
    call: &'static str,
    what: &'static str,
    string: *mut c_char,
) -> Result<String, Error> {
    if string.is_null() {
        return Err(failure(lock, call));
    }
    // SAFETY: not null, so it is a string that libhdf5 allocated; it is freed once, after the copy.
    let text = unsafe { owned(what, string) };
    // SAFETY: as above.
    unsafe { hdf5_sys::h5::H5free_memory(string.cast()) };
    text
}

/// Bytes of names that take one call.
const SHORT: usize = 64;

/// Calls a function of the usual shape "name into a buffer, length returned", and again where the name is long.
///
/// `fill` gets a pointer and a size in bytes, the ending zero byte included.
///
/// # Errors
/// The failure of `call`; [`Error::NotUtf8`]; [`Error::Memory`].
pub(crate) fn sized(
    lock: &Lock,
    call: &'static str,
    what: &'static str,
    mut fill: impl FnMut(*mut c_char, size_t) -> ssize_t,
) -> Result<String, Error> {
    let mut bytes = vec![0; SHORT];
    let length = usize::try_from(fill(bytes.as_mut_ptr().cast(), SHORT));
    let length = length.map_err(|_| failure(lock, call))?;
    if length >= SHORT {
        let size = length.saturating_add(1);
        bytes.clear();
        bytes.try_reserve_exact(size).map_err(|_| Error::Memory { what, bytes: size })?;
        bytes.resize(size, 0);
        if fill(bytes.as_mut_ptr().cast(), size) < 0 {
            return Err(failure(lock, call));
        }
    }
    bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(length));
    utf8(what, bytes)
}

fn utf8(what: &'static str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| Error::NotUtf8 {
        what,
        name: String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}
