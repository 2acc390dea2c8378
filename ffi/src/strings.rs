//! Strings of variable length: the pointers libhdf5 fills in, copied and given back.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use hdf5_sys::h5p::H5P_DEFAULT;

use crate::error::{Error, check};
use crate::h5s;
use crate::id::{Dataspace, Datatype, Id};
use crate::lock::Lock;
use crate::memory::{filled, reserved, total};

/// Pointers to strings that libhdf5 allocates, given back to it when this is dropped.
pub(crate) struct VariableStrings<'a> {
    lock: &'a Lock,
    datatype: &'a Datatype,
    /// A dataspace of as many elements as there are pointers.
    space: Dataspace,
    pointers: Vec<*mut c_char>,
}

impl<'a> VariableStrings<'a> {
    /// Room for `count` strings of the type `datatype`, which must be one of variable-length
    /// strings.
    pub(crate) fn new(
        lock: &'a Lock,
        what: &'static str,
        datatype: &'a Datatype,
        count: u64,
    ) -> Result<Self, Error> {
        if !crate::h5t::is_variable_string(lock, datatype)? {
            return Err(Error::TypeClass { what, expected: "a string of variable length" });
        }
        let pointers = total(what, count, size_of::<*mut c_char>())? / size_of::<*mut c_char>();
        Ok(Self {
            lock,
            datatype,
            space: h5s::simple(lock, &[count])?,
            pointers: filled(what, pointers, ptr::null_mut())?,
        })
    }

    /// A dataspace of as many elements as there are pointers.
    pub(crate) fn space(&self) -> &Dataspace {
        &self.space
    }

    /// Where libhdf5 is to put the pointers.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut *mut c_char {
        self.pointers.as_mut_ptr()
    }

    /// Copies of the strings, up to their first zero byte. A missing string is an empty one.
    ///
    /// # Safety
    /// libhdf5 has filled in the pointers, or they are still null.
    pub(crate) unsafe fn copies(&self) -> Vec<Vec<u8>> {
        let copy = |pointer: &*mut c_char| {
            if pointer.is_null() {
                return Vec::new();
            }
            // SAFETY: the caller promises a pointer filled in by libhdf5, which ends the strings it
            // allocates in a zero byte (H5T__vlen_mem_str_write).
            unsafe { CStr::from_ptr(*pointer) }.to_bytes().to_vec()
        };
        self.pointers.iter().map(copy).collect()
    }
}

impl Drop for VariableStrings<'_> {
    fn drop(&mut self) {
        // SAFETY: the lock is held for as long as `self` lives; the buffer has as many elements of
        // `datatype` as `space`, each null or allocated by libhdf5, and is not used after this.
        // A failure cannot be reported here; it would leak the strings.
        let _ = unsafe {
            reclaim(self.lock, self.datatype, &self.space, self.pointers.as_mut_ptr().cast())
        };
    }
}

/// Pointers to strings of ours, for libhdf5 to read.
pub(crate) struct StringPointers {
    pointers: Vec<*const c_char>,
    /// The strings, one behind the other, each with an ending zero byte.
    _arena: Vec<u8>,
}

impl StringPointers {
    /// Copies of `strings`, which must be as many as there are elements, for elements of the type
    /// `datatype`, which must be one of variable-length strings.
    pub(crate) fn new<S: AsRef<[u8]>>(
        lock: &Lock,
        what: &'static str,
        datatype: &Datatype,
        elements: u64,
        strings: &[S],
    ) -> Result<Self, Error> {
        if !crate::h5t::is_variable_string(lock, datatype)? {
            return Err(Error::TypeClass { what, expected: "a string of variable length" });
        }
        let found = u64::try_from(strings.len()).unwrap_or(u64::MAX);
        if found != elements {
            return Err(Error::Count { what, expected: elements, found });
        }
        let bytes = strings
            .iter()
            .try_fold(strings.len(), |sum, string| sum.checked_add(string.as_ref().len()))
            .ok_or(Error::Memory { what, bytes: usize::MAX })?;
        let mut arena = reserved(what, bytes)?;
        let mut starts = reserved(what, strings.len())?;
        for string in strings {
            let string = string.as_ref();
            if string.contains(&0) {
                let name = String::from_utf8_lossy(string).into_owned();
                return Err(Error::InteriorNul { name });
            }
            starts.push(arena.len());
            arena.extend_from_slice(string);
            arena.push(0);
        }
        let mut pointers = reserved(what, strings.len())?;
        pointers.extend(starts.iter().map(|start| arena[*start..].as_ptr().cast::<c_char>()));
        Ok(Self { pointers, _arena: arena })
    }

    /// One pointer a string; valid while `self` lives.
    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// Frees what the elements of a buffer point to.
///
/// # Safety
/// The buffer has as many elements of `datatype` as `space` and each was filled in by libhdf5 or is
/// null.
pub(crate) unsafe fn reclaim(
    lock: &Lock,
    datatype: &Datatype,
    space: &Dataspace,
    buffer: *mut c_void,
) -> Result<(), Error> {
    #[cfg(hdf5_tokens)]
    let (call, function) = ("H5Treclaim", hdf5_sys::h5t::H5Treclaim as Reclaim);
    #[cfg(not(hdf5_tokens))]
    let (call, function) = ("H5Dvlen_reclaim", hdf5_sys::h5d::H5Dvlen_reclaim as Reclaim);
    // SAFETY: the lock is held; promised by the caller.
    let status = unsafe { function(datatype.raw(), Id::raw(space), H5P_DEFAULT, buffer) };
    check(lock, call, status).map(|_| ())
}

/// `H5Treclaim` and the function it took the place of in HDF5 1.12.
type Reclaim = unsafe extern "C" fn(
    hdf5_sys::h5i::hid_t,
    hdf5_sys::h5i::hid_t,
    hdf5_sys::h5i::hid_t,
    *mut c_void,
) -> hdf5_sys::h5::herr_t;
