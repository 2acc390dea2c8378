//! H5FD: a virtual file driver whose bytes are somebody else's.
//!
//! A file of it is read from and written to a [`Storage`]. Its name is a name alone: no two opens share anything in
//! libhdf5, not even of one name or one storage, so none sees metadata that another one has cached. libhdf5 neither
//! locks it nor marks in its superblock that it is open.
//!
//! Mappings of virtual datasets whose source file is `.` lead back into the same open file. Files that libhdf5 opens
//! by itself (other sources of virtual datasets, targets of external links) are read and written as the files they
//! are, with the locks of HDF5's own driver.
//!
//! libhdf5 takes what it reads of a global heap on trust, up to 2.2 at least: in a damaged collection it goes round for
//! ever (`H5HG__cache_heap_deserialize`). A [`HeapCheck`] looks at each collection of any file of the driver before
//! libhdf5 sees it.

mod class;
mod driver;
mod failure;
mod heaps;
mod open_file;
mod pending;
mod plain;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hdf5_sys::h5f::{H5F_ACC_EXCL, H5F_ACC_RDONLY, H5F_ACC_RDWR, H5Fcreate, H5Fopen};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::{H5P_DEFAULT, H5Pcopy, H5Pset_driver};
use libc::c_char;

pub use self::failure::Failure;
pub use self::heaps::{HeapCheck, set_heap_check};

use self::pending::{Intent, Pending, Request};
use self::plain::Plain;
use crate::error::{Error, check};
use crate::h5f::c_path;
use crate::h5p;
use crate::id::{File, FileAccess, Id};
use crate::lock::Lock;

/// What the bytes of an open HDF5 file are read from and written to. Addresses are bytes from the start of the file,
/// user block included.
///
/// libhdf5 is told of a read or size that fails. Of a write or a new size that fails it is not, as it may crash when
/// it cannot write what it has to: the failure is kept in the [`Failure`] of the open file, and from then on the
/// storage is asked for no more changes. A panic counts as a failure.
pub trait Storage: Send {
    /// Fills `out` from byte `address` on; what lies behind the end reads as 0.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes `bytes` from byte `address` on.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()>;

    /// The size in bytes.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn size(&mut self) -> io::Result<u64>;

    /// Cuts the file off at `size` bytes, or lets it grow with zeros.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn set_size(&mut self, size: u64) -> io::Result<()>;
}

/// Opens a file whose bytes are those of `storage` (`H5Fopen`), for reading and, if `write`, for writing.
///
/// `path` is what libhdf5 shows in errors and looks for other files beside; nothing is opened there. `access` is copied
/// and keeps all but its driver. The storage is let go when the file is closed, with the last of its objects.
///
/// # Errors
/// [`Error::Os`] with what the storage said, if it failed, and of the kind [`io::ErrorKind::UnexpectedEof`] when an
/// empty one is opened for writing, in which libhdf5 would begin a file; else [`Error::Call`], such as
/// [`crate::error::Minor::NotHdf5`]; [`Error::InteriorNul`].
pub fn open(
    lock: &Lock,
    path: &Path,
    access: &FileAccess,
    storage: Arc<Mutex<dyn Storage>>,
    write: bool,
) -> Result<(File, Failure), Error> {
    let (flags, intent) =
        if write { (H5F_ACC_RDWR, Intent::Write) } else { (H5F_ACC_RDONLY, Intent::Read) };
    with_driver(lock, "H5Fopen", path, access, Request::new(storage, intent), |path, access| {
        // SAFETY: the lock is held; `path` ends in a zero byte, `access` is a live file access list.
        unsafe { H5Fopen(path, flags, access) }
    })
}

/// Opens a file of the file system for reading as it stands, with the lock that keeps writers out, as HDF5's own driver
/// takes it. The descriptor that comes with it is another one of the same open file: the lock ends with the last of both.
///
/// # Errors
/// [`Error::Os`] with what the system said, of the kind [`io::ErrorKind::WouldBlock`] where somebody writes; else as
/// [`open`].
pub fn open_plain(
    lock: &Lock,
    path: &Path,
    access: &FileAccess,
) -> Result<(File, Failure, fs::File), Error> {
    let os = |source| Error::Os { call: "open", source };
    let plain = Plain::open(path, false).map_err(os)?;
    let descriptor = plain.descriptor().map_err(os)?;
    let (file, failure) = open(lock, path, access, Arc::new(Mutex::new(plain)), false)?;
    Ok((file, failure, descriptor))
}

/// Creates a file in `storage`, which must be empty, and opens it for reading and writing (`H5Fcreate`): see [`open`].
///
/// # Errors
/// As [`open`]; [`Error::Os`] of the kind [`io::ErrorKind::AlreadyExists`] when the storage is not empty.
pub fn create(
    lock: &Lock,
    path: &Path,
    access: &FileAccess,
    storage: Arc<Mutex<dyn Storage>>,
) -> Result<(File, Failure), Error> {
    create_with(lock, path, access, storage, H5P_DEFAULT)
}

/// As [`create`], behind a user block of so many bytes, which are the caller's to write (`H5Pset_userblock`).
///
/// # Errors
/// As [`create`]; [`Error::Call`] also for a size that is no power of two from 512 on.
pub fn create_behind(
    lock: &Lock,
    path: &Path,
    access: &FileAccess,
    storage: Arc<Mutex<dyn Storage>>,
    user_block: u64,
) -> Result<(File, Failure), Error> {
    let creation = h5p::file_creation(lock, user_block)?;
    create_with(lock, path, access, storage, creation.raw())
}

fn create_with(
    lock: &Lock,
    path: &Path,
    access: &FileAccess,
    storage: Arc<Mutex<dyn Storage>>,
    creation: hid_t,
) -> Result<(File, Failure), Error> {
    let request = Request::new(storage, Intent::Create);
    with_driver(lock, "H5Fcreate", path, access, request, |path, access| {
        // SAFETY: the lock is held; `path` ends in a zero byte, `access` is a live file access list, `creation` the
        // default or a live file creation list.
        unsafe { H5Fcreate(path, H5F_ACC_EXCL, creation, access) }
    })
}

/// Makes `call`, which opens a file, with a list that names the driver and the request.
fn with_driver(
    lock: &Lock,
    call: &'static str,
    path: &Path,
    access: &FileAccess,
    request: Request,
    open: impl FnOnce(*const c_char, hid_t) -> hid_t,
) -> Result<(File, Failure), Error> {
    let path = c_path(path)?;
    let driver = driver::id(lock)?;
    // SAFETY: the lock is held; `access` is live; the id returned is fresh or negative.
    let access: FileAccess = unsafe { Id::from_call(lock, "H5Pcopy", H5Pcopy(access.raw())) }?;
    let failure = request.failure.clone();
    let pending = Pending::new(request);
    // SAFETY: the lock is held; `access` is a live file access list; libhdf5 copies the `fapl_size` bytes of the
    // driver's class, those of `number`.
    let status = unsafe { H5Pset_driver(access.raw(), driver, (&raw const pending.number).cast()) };
    check(lock, "H5Pset_driver", status)?;
    // SAFETY: `call` returned it, fresh or negative.
    let opened: Result<File, Error> =
        unsafe { Id::from_call(lock, call, open(path.as_ptr(), access.raw())) };
    match opened {
        Ok(file) => Ok((file, failure)),
        Err(error) => Err(failure.take().unwrap_or(error)),
    }
}
