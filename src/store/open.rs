//! Opening and creating files.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use h5strata_ffi::error::Minor;
use h5strata_ffi::id::{File, FileAccess};
use h5strata_ffi::{Lock, h5f, h5g, h5l};

use super::error::Error;
use super::file::{Direct, FileInner, Handle, VersionedFile};
use super::layout;
use super::library::{file_access, plain_access, write_access};
use super::names::VERSIONS;
use super::writer::Writer;
use crate::raw::{RawPath, StringFault};

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    threads: Option<usize>,
    path: RawPath,
    accept_wrong_hashes: bool,
}

impl OpenOptions {
    /// The most threads that one file is read with.
    pub const MAX_THREADS: usize = 256;

    /// The defaults: all cores, positional reads, no broken formats.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of threads that decode and copy; 0 is one a core, in a pool that all files share, and 1 the
    /// caller's own. More than [`MAX_THREADS`](Self::MAX_THREADS) are taken as that many.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = (threads > 0).then_some(threads.min(Self::MAX_THREADS));
        self
    }

    /// Which way stored chunks are read.
    #[must_use]
    pub fn raw_path(mut self, path: RawPath) -> Self {
        self.path = path;
        self
    }

    /// Opens files of data_version 2 and 3 as well. Their hash tables of variable-length strings are known
    /// to be wrong: a version that was committed after such a table was made may hold chunks of other
    /// data, and nothing in the file tells which.
    #[must_use]
    pub fn accept_wrong_hashes(mut self, accept: bool) -> Self {
        self.accept_wrong_hashes = accept;
        self
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// As [`VersionedFile::open`]; [`Error::Threads`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        let file = open_read_only(path, file_access)?;
        self.opened(path, file, None)
    }

    /// Opens a file for reading and for committing new versions. No other process may have it open.
    ///
    /// # Errors
    /// As [`open`](Self::open); files of data_version 1, 2 and 3 are refused, as their hash tables are of other
    /// recipes: [`Error::DataVersion`].
    pub fn open_rw(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        check_regular(path, true).map_err(|source| io_error(path, source))?;
        let lock = h5strata_ffi::lock();
        let access = write_access(&lock).map_err(library_error(path, "/"))?;
        let file = h5f::open_read_write(&lock, path, Some(access)).map_err(open_error(path))?;
        self.opened(path, file, Some(Writer::default()))
    }

    /// Creates a versioned file without versions and opens it for committing some.
    ///
    /// # Errors
    /// [`Error::Io`] if there is a file already, or it cannot be made; [`Error::Library`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        check_absent(path).map_err(|source| io_error(path, source))?;
        let lock = h5strata_ffi::lock();
        let access = write_access(&lock).map_err(library_error(path, "/"))?;
        let file = h5f::create(&lock, path, access).map_err(open_error(path))?;
        layout::initialise(&lock, &file).map_err(library_error(path, VERSIONS))?;
        h5f::flush(&lock, &file).map_err(library_error(path, "/"))?;
        self.opened(path, file, Some(Writer::default()))
    }

    fn opened(
        &self,
        path: &Path,
        file: File,
        writer: Option<Writer>,
    ) -> Result<VersionedFile, Error> {
        let lock = h5strata_ffi::lock();
        if !h5l::exists(&lock, &file, VERSIONS).map_err(library_error(path, VERSIONS))? {
            return Err(Error::NotVersioned { file: path.to_owned() });
        }
        let versions = h5g::open(&lock, &file, VERSIONS).map_err(library_error(path, VERSIONS))?;
        let direct = Direct::of(&lock, &file).map_err(library_error(path, "/"))?;
        let pool = match self.threads {
            Some(threads) if threads > 1 => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|source| Error::Threads { file: path.to_owned(), source })?,
            ),
            _ => None,
        };
        let handle = Handle {
            path: path.to_owned(),
            file,
            versions,
            direct,
            raw_path: self.path,
            library_reads: AtomicU64::new(0),
            writer,
            pool,
            one_thread: self.threads == Some(1),
        };
        let inner = FileInner::open(handle, self.accept_wrong_hashes)?;
        Ok(VersionedFile { inner: Arc::new(inner) })
    }
}

/// Opens a plain HDF5 file for reading.
pub(crate) fn open_plain(path: &Path) -> Result<File, Error> {
    open_read_only(path, plain_access)
}

/// Opens any HDF5 file for reading, with what `access` makes.
fn open_read_only(
    path: &Path,
    access: fn(&Lock) -> Result<&'static FileAccess, h5strata_ffi::Error>,
) -> Result<File, Error> {
    check_regular(path, false).map_err(|source| io_error(path, source))?;
    let lock = h5strata_ffi::lock();
    let access = access(&lock).map_err(library_error(path, "/"))?;
    h5f::open_read_only(&lock, path, Some(access)).map_err(open_error(path))
}

/// Whether there is a file that may be read, and written, in the system's own words: libhdf5 reports a missing one
/// in its own, and opening a pipe would wait for its writer.
fn check_regular(path: &Path, write: bool) -> io::Result<()> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    std::fs::OpenOptions::new().read(true).write(write).open(path).map(|_| ())
}

/// Whether a file may be made at a path, in the system's own words.
pub(super) fn check_absent(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { file: path.to_owned(), source }
}

/// Tells of which object of which file a failure of libhdf5 is.
pub(super) fn library_error(
    path: &Path,
    object: &str,
) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
    let (file, object) = (path.to_owned(), object.to_owned());
    move |source| Error::Library { file, object, source }
}

/// Tells of which object of a plain file a failure of libhdf5 is; `""` is the group that it was opened at.
pub(crate) fn plain_library_error(
    path: &Path,
    object: &str,
) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
    library_error(path, if object.is_empty() { "/" } else { object })
}

/// Tells of which attribute of which object of a plain file a fault is.
pub(crate) fn plain_attribute_error(
    path: &Path,
    object: &str,
    name: &str,
) -> impl FnOnce(StringFault) -> Error + use<> {
    let object = if object.is_empty() { "/" } else { object };
    let (file, object, attribute) = (path.to_owned(), object.to_owned(), name.to_owned());
    move |fault| Error::Attribute { file, object, attribute, fault: Box::new(fault) }
}

/// Why libhdf5 would not open a file.
fn open_error(path: &Path) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
    let file = path.to_owned();
    move |source| {
        if source.has_minor(Minor::Truncated) {
            Error::Truncated { file }
        } else if source.has_minor(Minor::CantLock) {
            Error::Locked { file }
        } else if source.has_minor(Minor::NotHdf5) {
            Error::NotHdf5 { file }
        } else {
            Error::Library { file, object: "/".to_owned(), source }
        }
    }
}
