//! H5F: files.

use std::ffi::{CString, c_uint};
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use hdf5_sys::h5f::{
    H5F_ACC_EXCL, H5F_ACC_RDONLY, H5F_ACC_RDWR, H5F_scope_t, H5Fget_access_plist,
    H5Fget_create_plist,
};
use hdf5_sys::h5i::{H5Iget_file_id, hid_t};
use hdf5_sys::h5p::{H5P_DEFAULT, H5Pget_driver};

use crate::error::{Error, check, check_truth};
use crate::id::{File, FileAccess, FileCreation, Id, Kind};
use crate::lock::Lock;
use crate::os;
use crate::text::c_bytes;

/// Opens a file for reading only (`H5Fopen`).
///
/// Without `access` the library's defaults hold. Whether the file is locked against writers is up
/// to HDF5's own rules (`HDF5_USE_FILE_LOCKING`); the lock is a shared one, which needs no right to
/// write and so works on a read-only medium.
///
/// The close degree stays the default, which for files of one descriptor is "weak": objects outlive
/// the [`File`] they came from, and the last one to be dropped closes the file. Owned ids rely on
/// it.
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::CantOpenFile`] when the system would not open it,
/// [`crate::error::Minor::NotHdf5`] when it is no HDF5 file; [`Error::InteriorNul`].
pub fn open_read_only(
    lock: &Lock,
    path: &Path,
    access: Option<&FileAccess>,
) -> Result<File, Error> {
    open(lock, path, H5F_ACC_RDONLY, access)
}

/// Opens a file for reading and writing (`H5Fopen`): see [`open_read_only`].
///
/// Where HDF5 locks files, nobody else can have it open, neither for reading nor for writing.
///
/// # Errors
/// As [`open_read_only`]; [`crate::error::Minor::CantLock`] when somebody else has it open.
pub fn open_read_write(
    lock: &Lock,
    path: &Path,
    access: Option<&FileAccess>,
) -> Result<File, Error> {
    open(lock, path, H5F_ACC_RDWR, access)
}

fn open(
    lock: &Lock,
    path: &Path,
    flags: c_uint,
    access: Option<&FileAccess>,
) -> Result<File, Error> {
    let path = c_path(path)?;
    let access = access.map_or(H5P_DEFAULT, Id::raw);
    // SAFETY: the lock is held; `path` ends in a zero byte, `access` is a live list or the default.
    let id = unsafe { hdf5_sys::h5f::H5Fopen(path.as_ptr(), flags, access) };
    // SAFETY: H5Fopen returned it, fresh or negative.
    let file = unsafe { Id::from_call(lock, "H5Fopen", id) }?;
    keep_from_children(lock, &file)?;
    Ok(file)
}

/// Closes the file's descriptor in programs that this process starts: with it they would inherit the lock of the
/// file, and hold it when it is closed here. libhdf5 leaves it open (`H5FD__sec2_open`).
fn keep_from_children(lock: &Lock, file: &File) -> Result<(), Error> {
    borrow_descriptor(lock, file)?.map_or(Ok(()), os::close_on_exec)
}

/// Creates a file, which must not be there yet, and opens it for reading and writing
/// (`H5Fcreate`).
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::FileExists`] when there is one; [`Error::InteriorNul`].
pub fn create(lock: &Lock, path: &Path, access: &FileAccess) -> Result<File, Error> {
    let path = c_path(path)?;
    // SAFETY: the lock is held; `path` ends in a zero byte, `access` is a live list.
    let id =
        unsafe { hdf5_sys::h5f::H5Fcreate(path.as_ptr(), H5F_ACC_EXCL, H5P_DEFAULT, access.raw()) };
    // SAFETY: H5Fcreate returned it, fresh or negative.
    let file = unsafe { Id::from_call(lock, "H5Fcreate", id) }?;
    keep_from_children(lock, &file)?;
    Ok(file)
}

/// Hands everything that was written to the operating system (`H5Fflush`), which may keep it from
/// the medium as long as it likes.
///
/// # Errors
/// [`Error::Call`].
pub fn flush(lock: &Lock, file: &File) -> Result<(), Error> {
    // SAFETY: the lock is held; `file` is live.
    let status = unsafe { hdf5_sys::h5f::H5Fflush(file.raw(), H5F_scope_t::H5F_SCOPE_LOCAL) };
    check(lock, "H5Fflush", status).map(|_| ())
}

/// Whether the file of an id is open for writing too.
///
/// libhdf5 refuses to write to others, but 1.10.8 then crashes when the process ends, after `H5Ocopy` and
/// `H5Dwrite_chunk`: it must be asked before these.
pub(crate) fn is_writable<K: Kind>(lock: &Lock, id: &Id<K>) -> Result<bool, Error> {
    // SAFETY: the lock is held; `id` is live; the id returned is fresh or negative.
    let file: File = unsafe { Id::from_call(lock, "H5Iget_file_id", H5Iget_file_id(id.raw())) }?;
    let mut intent = 0;
    // SAFETY: the lock is held; `file` is live, `intent` a live integer.
    let status = unsafe { hdf5_sys::h5f::H5Fget_intent(file.raw(), &mut intent) };
    check(lock, "H5Fget_intent", status)?;
    Ok(intent & H5F_ACC_RDWR != 0)
}

/// What a call that writes has come to: a failure is [`Error::ReadOnly`] where the file is open for reading only.
pub(crate) fn written<T, K: Kind>(
    lock: &Lock,
    call: &'static str,
    id: &Id<K>,
    outcome: Result<T, Error>,
) -> Result<T, Error> {
    outcome.map_err(|error| match is_writable(lock, id) {
        Ok(false) => Error::ReadOnly { call },
        _ => error,
    })
}

/// Whether the file is HDF5: has a superblock where one may be (`H5Fis_accessible`, before HDF5
/// 1.12 `H5Fis_hdf5`).
///
/// # Errors
/// [`Error::Call`] when it cannot be opened; [`Error::InteriorNul`].
pub fn is_accessible(lock: &Lock, path: &Path) -> Result<bool, Error> {
    let path = c_path(path)?;
    // SAFETY: the lock is held; `path` ends in a zero byte.
    #[cfg(hdf5_tokens)]
    let found = unsafe { hdf5_sys::h5f::H5Fis_accessible(path.as_ptr(), H5P_DEFAULT) };
    // SAFETY: the lock is held; `path` ends in a zero byte.
    #[cfg(not(hdf5_tokens))]
    let found = unsafe { hdf5_sys::h5f::H5Fis_hdf5(path.as_ptr()) };
    check_truth(lock, "H5Fis_accessible", found)
}

/// Bytes in front of the superblock: what addresses relative to the base address lack
/// (`H5Pget_userblock`).
///
/// # Errors
/// [`Error::Call`].
pub fn user_block_size(lock: &Lock, file: &File) -> Result<u64, Error> {
    // SAFETY: the lock is held; `file` is live; the id returned is fresh or negative.
    let creation: FileCreation =
        unsafe { Id::from_call(lock, "H5Fget_create_plist", H5Fget_create_plist(file.raw())) }?;
    let mut size = 0;
    // SAFETY: the lock is held; `creation` is a live file creation list, `size` a live integer.
    let status = unsafe { hdf5_sys::h5p::H5Pget_userblock(creation.raw(), &mut size) };
    check(lock, "H5Pget_userblock", status)?;
    Ok(size)
}

/// Bytes of the file, user block included (`H5Fget_filesize`).
///
/// # Errors
/// [`Error::Call`].
pub fn size(lock: &Lock, file: &File) -> Result<u64, Error> {
    let mut size = 0;
    // SAFETY: the lock is held; `file` is live, `size` a live integer.
    let status = unsafe { hdf5_sys::h5f::H5Fget_filesize(file.raw(), &mut size) };
    check(lock, "H5Fget_filesize", status)?;
    Ok(size)
}

/// Whether the file is one descriptor read and written as it stands: the sec2 driver.
///
/// # Errors
/// [`Error::Call`].
pub fn is_sec2(lock: &Lock, file: &File) -> Result<bool, Error> {
    // SAFETY: the lock is held; `file` is live; the id returned is fresh or negative.
    let access: FileAccess =
        unsafe { Id::from_call(lock, "H5Fget_access_plist", H5Fget_access_plist(file.raw())) }?;
    // SAFETY: the lock is held; `access` is a live file access list. The driver's id is only
    // borrowed from it and not closed.
    let driver = check(lock, "H5Pget_driver", unsafe { H5Pget_driver(access.raw()) })?;
    Ok(driver == sec2(lock))
}

/// A descriptor of the file's bytes, if the file is one descriptor read as it stands: the sec2
/// driver.
///
/// It is a duplicate: positional reads on it do not disturb the library, and it stays open when the
/// file is closed. `None` for other drivers, whose handle is something else.
///
/// # Errors
/// [`Error::Call`]; [`Error::Os`] when the descriptor cannot be duplicated.
pub fn descriptor(lock: &Lock, file: &File) -> Result<Option<OwnedFd>, Error> {
    let Some(descriptor) = borrow_descriptor(lock, file)? else { return Ok(None) };
    let copy = descriptor
        .try_clone_to_owned()
        .map_err(|source| Error::Os { call: "fcntl(F_DUPFD_CLOEXEC)", source })?;
    Ok(Some(copy))
}

/// The library's own descriptor of a file of the sec2 driver (`H5Fget_vfd_handle`).
fn borrow_descriptor<'f>(lock: &Lock, file: &'f File) -> Result<Option<BorrowedFd<'f>>, Error> {
    if !is_sec2(lock, file)? {
        return Ok(None);
    }
    let mut handle = ptr::null_mut();
    // SAFETY: the lock is held; `file` is live, `handle` a live pointer.
    let status = unsafe { hdf5_sys::h5f::H5Fget_vfd_handle(file.raw(), H5P_DEFAULT, &mut handle) };
    check(lock, "H5Fget_vfd_handle", status)?;
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: the handle of the sec2 driver is a pointer to its descriptor (H5FD__sec2_get_handle),
    // which stays open while `file` lives.
    Ok(Some(unsafe { BorrowedFd::borrow_raw(*handle.cast::<RawFd>()) }))
}

/// Id of the sec2 driver.
#[cfg(hdf5_2_0)]
fn sec2(_lock: &Lock) -> hid_t {
    *hdf5_sys::h5fd::H5FD_SEC2
}

/// Id of the sec2 driver.
#[cfg(not(hdf5_2_0))]
fn sec2(_lock: &Lock) -> hid_t {
    // SAFETY: the lock is held; the function registers the driver once and returns its id.
    unsafe { crate::sys::H5FD_sec2_init() }
}

/// A path for C, byte for byte.
pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    c_bytes(path.as_os_str().as_bytes())
}
