//! H5Z: filters.

use std::ffi::{CStr, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use hdf5_sys::h5::{H5allocate_memory, H5free_memory};
use hdf5_sys::h5z::{
    H5Z_CLASS_T_VERS, H5Z_FLAG_REVERSE, H5Z_class2_t, H5Zfilter_avail, H5Zregister,
};
use libc::size_t;

use crate::error::{Error, check, check_truth};
use crate::lock::Lock;

/// A filter in Rust that libhdf5 can run.
///
/// libhdf5 hands its callback no data of ours, so a filter is a type and not a value.
pub trait FilterCodec {
    /// Its number, as registered with the HDF Group.
    const ID: i32;
    /// What it is called.
    const NAME: &'static CStr;

    /// Undoes the filter; `None` when `input` is not what it makes.
    ///
    /// `size_hint` is the bytes that libhdf5 has for the input, and no promise about the output.
    fn decode(parameters: &[u32], input: &[u8], size_hint: usize) -> Option<Vec<u8>>;

    /// Applies the filter; `None` to leave the chunk without it, which is a failure unless the
    /// filter is optional.
    fn encode(parameters: &[u32], input: &[u8]) -> Option<Vec<u8>>;
}

/// Whether libhdf5 can run a filter, built in, registered or as a plugin (`H5Zfilter_avail`).
///
/// # Errors
/// [`Error::Call`].
pub fn is_available(lock: &Lock, id: i32) -> Result<bool, Error> {
    // SAFETY: the lock is held; any number may be asked for.
    check_truth(lock, "H5Zfilter_avail", unsafe { H5Zfilter_avail(id) })
}

/// Has libhdf5 use `F` for the filter of its number, in place of another one (`H5Zregister`). May
/// be repeated.
///
/// # Errors
/// [`Error::Call`].
pub fn register<F: FilterCodec>(lock: &Lock) -> Result<(), Error> {
    let class = H5Z_class2_t {
        version: i32::try_from(H5Z_CLASS_T_VERS).unwrap_or(0),
        id: F::ID,
        encoder_present: 1,
        decoder_present: 1,
        name: F::NAME.as_ptr(),
        can_apply: None,
        set_local: None,
        filter: Some(run::<F>),
    };
    // SAFETY: the lock is held; libhdf5 copies the struct and keeps its name and functions, which
    // are static.
    let status = unsafe { H5Zregister((&raw const class).cast()) };
    check(lock, "H5Zregister", status).map(|_| ())
}

/// Runs `F` on a buffer of libhdf5: `H5Z_func_t`. Returns the bytes of the new contents, 0 for a
/// failure.
///
/// The buffer is libhdf5's, and so is the one put in its place: both through its own allocator, as
/// H5Zdevelop.h asks of filters that may be built with another C library.
unsafe extern "C" fn run<F: FilterCodec>(
    flags: c_uint,
    parameter_count: size_t,
    parameters: *const c_uint,
    length: size_t,
    capacity: *mut size_t,
    buffer: *mut *mut c_void,
) -> size_t {
    let output = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: libhdf5 passes `parameter_count` parameters, a buffer with `length` bytes of
        // contents, and the number of bytes the buffer has.
        let (parameters, input, capacity) = unsafe {
            (
                view(parameters, parameter_count),
                view((*buffer).cast_const().cast::<u8>(), length),
                *capacity,
            )
        };
        if flags & H5Z_FLAG_REVERSE == 0 {
            F::encode(parameters, input)
        } else {
            F::decode(parameters, input, capacity)
        }
    }));
    let Ok(Some(output)) = output else { return 0 };
    // SAFETY: called by libhdf5, so under the lock.
    let replacement = unsafe { H5allocate_memory(output.len(), 0) };
    if replacement.is_null() {
        return 0;
    }
    // SAFETY: `replacement` has room for the output and is not part of it. The old buffer is
    // libhdf5's own, freed once and replaced, with the size of the new one beside it.
    unsafe {
        ptr::copy_nonoverlapping(output.as_ptr(), replacement.cast::<u8>(), output.len());
        H5free_memory(*buffer);
        *buffer = replacement;
        *capacity = output.len();
    }
    output.len()
}

/// A slice from C, where an empty one may be null.
///
/// # Safety
/// `data` points to `length` values that stay as they are for `'a`, or `length` is 0.
unsafe fn view<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { slice::from_raw_parts(data, length) }
}
