//! The driver as libhdf5 knows it: its registration and its callbacks.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::{Arc, Mutex, OnceLock};

use hdf5_sys::h5::{haddr_t, herr_t};
use hdf5_sys::h5f::{H5F_ACC_CREAT, H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_TRUNC};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::H5Pget_driver_info;
use libc::{c_char, c_int, c_uint, c_ulong, c_void};

use super::class::{FREE_LISTS, H5FD_class_t, H5FD_t, H5FDregister, Purpose};
use super::open_file::{MAX_ADDRESS, OpenFile, Refused, Told};
use super::pending::{self, Intent};
use super::plain::Plain;
use crate::error::{Error, check};
use crate::lock::Lock;

/// `HADDR_UNDEF`.
const UNDEFINED: haddr_t = haddr_t::MAX;

const CLASS: H5FD_class_t = H5FD_class_t {
    // H5FD_CLASS_VERSION.
    #[cfg(hdf5_versioned_driver)]
    version: 1,
    // From the range that is left to tests and to drivers of one program (H5FDpublic.h, H5_VFD_RESERVED).
    #[cfg(hdf5_versioned_driver)]
    value: 0x153,
    name: c"h5strata".as_ptr(),
    maxaddr: MAX_ADDRESS,
    // H5F_CLOSE_WEAK, as sec2: objects outlive the id of their file.
    fc_degree: 1,
    terminate: None,
    sb_size: None,
    sb_encode: None,
    sb_decode: None,
    fapl_size: size_of::<u64>(),
    // None: a file that libhdf5 opens like another one does not get its number.
    fapl_get: None,
    fapl_copy: None,
    fapl_free: None,
    dxpl_size: 0,
    dxpl_copy: None,
    dxpl_free: None,
    open: Some(open),
    close: Some(close),
    cmp: Some(cmp),
    query: Some(query),
    get_type_map: None,
    alloc: None,
    free: None,
    get_eoa: Some(get_eoa),
    set_eoa: Some(set_eoa),
    get_eof: Some(get_eof),
    get_handle: None,
    read: Some(read),
    write: Some(write),
    #[cfg(hdf5_versioned_driver)]
    read_vector: None,
    #[cfg(hdf5_versioned_driver)]
    write_vector: None,
    #[cfg(hdf5_versioned_driver)]
    read_selection: None,
    #[cfg(hdf5_versioned_driver)]
    write_selection: None,
    flush: None,
    truncate: Some(truncate),
    // Without them libhdf5 neither locks the file nor marks in its superblock that it is open (H5F_open).
    lock: None,
    unlock: None,
    #[cfg(hdf5_versioned_driver)]
    del: None,
    #[cfg(hdf5_versioned_driver)]
    ctl: None,
    fl_map: FREE_LISTS,
};

/// Id of the driver, which the first call registers (`H5FDregister`).
pub(super) fn id(lock: &Lock) -> Result<hid_t, Error> {
    static DRIVER: OnceLock<hid_t> = OnceLock::new();
    if let Some(id) = DRIVER.get() {
        return Ok(*id);
    }
    // SAFETY: the lock is held; the class is laid out as C declares it, libhdf5 copies it, and its name and functions
    // live as long as the process.
    let id = check(lock, "H5FDregister", unsafe { H5FDregister(&CLASS) })?;
    // Nobody else has come in between: the lock is held.
    Ok(*DRIVER.get_or_init(|| id))
}

fn status(outcome: Result<(), Refused>) -> herr_t {
    if outcome.is_ok() { 0 } else { -1 }
}

/// # Safety
/// libhdf5 passes a file that `open` made and `close` has not been called for, and uses it for nothing else meanwhile.
unsafe fn file<'f>(file: *mut H5FD_t) -> &'f mut OpenFile {
    // SAFETY: `open` returned a pointer to an `OpenFile`, which begins with an `H5FD_t`; the rest is the caller's
    // promise.
    unsafe { &mut *file.cast::<OpenFile>() }
}

/// # Safety
/// As [`file`].
unsafe fn shared<'f>(file: *const H5FD_t) -> &'f OpenFile {
    // SAFETY: as in `file`.
    unsafe { &*file.cast::<OpenFile>() }
}

unsafe extern "C" fn open(
    name: *const c_char,
    flags: c_uint,
    access: hid_t,
    _max_address: haddr_t,
) -> *mut H5FD_t {
    let opened = catch_unwind(|| {
        // SAFETY: libhdf5 calls back under the lock; `access` is its live file access list. The information is null or
        // the `fapl_size` bytes that `set_driver` gave, of whatever alignment.
        let number = unsafe {
            let information = H5Pget_driver_info(access).cast::<u64>();
            (!information.is_null()).then(|| information.read_unaligned())
        };
        match number.and_then(pending::find) {
            Some(request) => open_request(request, flags),
            // SAFETY: libhdf5 passes the name as a C string.
            None => open_plain(unsafe { CStr::from_ptr(name) }, flags),
        }
    });
    match opened {
        Ok(Some(file)) => Box::into_raw(Box::new(file)).cast(),
        Ok(None) | Err(_) => ptr::null_mut(),
    }
}

fn open_request(request: pending::Request, flags: c_uint) -> Option<OpenFile> {
    let pending::Request { storage, intent, failure } = request;
    let (write, is_new) = (intent != Intent::Read, intent == Intent::Create);
    let file = OpenFile::new(storage, write, is_new, Told::Opener(failure.clone()));
    let refusal = match intent {
        Intent::Read => (flags & H5F_ACC_RDWR != 0).then_some(io::ErrorKind::ReadOnlyFilesystem),
        Intent::Write => (file.size().ok()? == 0).then_some(io::ErrorKind::UnexpectedEof),
        Intent::Create => (file.size().ok()? > 0).then_some(io::ErrorKind::AlreadyExists),
    };
    if let Some(kind) = refusal {
        failure.keep("open", kind.into());
        return None;
    }
    Some(file)
}

/// A file that libhdf5 opens with the list of one of ours.
fn open_plain(name: &CStr, flags: c_uint) -> Option<OpenFile> {
    if flags & (H5F_ACC_CREAT | H5F_ACC_EXCL | H5F_ACC_TRUNC) != 0 {
        return None;
    }
    let write = flags & H5F_ACC_RDWR != 0;
    let plain = Plain::open(Path::new(OsStr::from_bytes(name.to_bytes())), write).ok()?;
    Some(OpenFile::new(Arc::new(Mutex::new(plain)), write, false, Told::Library))
}

unsafe extern "C" fn close(file: *mut H5FD_t) -> herr_t {
    // SAFETY: `open` made the box, and libhdf5 closes a file once and does not use it after that.
    let file = unsafe { Box::from_raw(file.cast::<OpenFile>()) };
    // The storage goes with its last owner, and what it does then may panic.
    if catch_unwind(AssertUnwindSafe(|| drop(file))).is_ok() { 0 } else { -1 }
}

/// No file is another one, whatever their names: none is ever shared.
unsafe extern "C" fn cmp(a: *const H5FD_t, b: *const H5FD_t) -> c_int {
    // SAFETY: both are live files of this driver: libhdf5 compares files of one driver alone (H5FD_cmp).
    let (a, b) = unsafe { (shared(a), shared(b)) };
    a.number().cmp(&b.number()) as c_int
}

/// What libhdf5 may do to the order and size of reads and writes; with no file it asks about all.
unsafe extern "C" fn query(_file: *const H5FD_t, flags: *mut c_ulong) -> herr_t {
    // H5FD_FEAT_AGGREGATE_METADATA, _ACCUMULATE_METADATA, _DATA_SIEVE, _AGGREGATE_SMALLDATA and
    // _DEFAULT_VFD_COMPATIBLE of H5FDpublic.h. The last says that addresses are places in one file that sec2 can open;
    // HDF5 2 checks more of a superblock with it.
    const FEATURES: c_ulong = 0x1 | 0x6 | 0x8 | 0x10 | 0x8000;
    if !flags.is_null() {
        // SAFETY: libhdf5 passes a pointer to a live number.
        unsafe { flags.write(FEATURES) };
    }
    0
}

unsafe extern "C" fn get_eoa(file: *const H5FD_t, _purpose: Purpose) -> haddr_t {
    // SAFETY: a live file.
    unsafe { shared(file) }.end_of_allocation
}

unsafe extern "C" fn set_eoa(file: *mut H5FD_t, _purpose: Purpose, address: haddr_t) -> herr_t {
    if address > MAX_ADDRESS {
        return -1;
    }
    // SAFETY: a live file.
    unsafe { self::file(file) }.end_of_allocation = address;
    0
}

unsafe extern "C" fn get_eof(file: *const H5FD_t, _purpose: Purpose) -> haddr_t {
    // SAFETY: a live file.
    unsafe { shared(file) }.size().unwrap_or(UNDEFINED)
}

unsafe extern "C" fn read(
    file: *mut H5FD_t,
    _purpose: Purpose,
    _transfer: hid_t,
    address: haddr_t,
    size: usize,
    buffer: *mut c_void,
) -> herr_t {
    if size == 0 {
        return 0;
    }
    if buffer.is_null() || isize::try_from(size).is_err() {
        return -1;
    }
    // SAFETY: a live file; `buffer` has `size` bytes that nobody else uses during the call.
    let (file, out) =
        unsafe { (self::file(file), slice::from_raw_parts_mut(buffer.cast::<u8>(), size)) };
    status(file.read(address, out))
}

unsafe extern "C" fn write(
    file: *mut H5FD_t,
    _purpose: Purpose,
    _transfer: hid_t,
    address: haddr_t,
    size: usize,
    buffer: *const c_void,
) -> herr_t {
    if size == 0 {
        return 0;
    }
    if buffer.is_null() || isize::try_from(size).is_err() {
        return -1;
    }
    // SAFETY: a live file; `buffer` has `size` bytes that nobody changes during the call.
    let (file, bytes) =
        unsafe { (self::file(file), slice::from_raw_parts(buffer.cast::<u8>(), size)) };
    status(file.write(address, bytes))
}

unsafe extern "C" fn truncate(file: *mut H5FD_t, _transfer: hid_t, _closing: u8) -> herr_t {
    // SAFETY: a live file.
    status(unsafe { self::file(file) }.truncate())
}
