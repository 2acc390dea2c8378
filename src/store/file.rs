use std::collections::HashMap;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::{DateTime, Utc};
use h5strata_ffi::error::Minor;
use h5strata_ffi::h5t::{ByteOrder, TypeClass};
use h5strata_ffi::id::{File, FileAccess, Group};
use h5strata_ffi::{Lock, h5a, h5f, h5g, h5l, h5t};

use super::error::{DataVersionReason, Error, FormatFault, nearest};
use super::history::{History, VersionInfo};
use super::layout;
use super::library::{file_access, plain_access, write_access};
use super::names::{CURRENT_VERSION, DATA_VERSION, FIRST_VERSION, NEWEST_DATA_VERSION, VERSIONS};
use super::storage::Storage;
use super::version::Version;
use super::writer::Writer;
use crate::ondisk::{ReadAt, Superblock};
use crate::raw::{FileBytes, IoCounts, RawPath, StringFault, Threads};

/// A versioned HDF5 file. Cheap to clone; may be shared between threads.
///
/// Opening takes no lock beyond HDF5's own rules for readers, and writes nothing.
///
/// ```no_run
/// use h5strata::VersionedFile;
/// let file = VersionedFile::open("prices.h5")?;
/// let close = file.current()?.dataset("equity/close")?;
/// let last_year: ndarray::ArrayD<f64> = close.read(ndarray::s![-250.., ..;7])?;
/// # Ok::<(), h5strata::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VersionedFile {
    pub(super) inner: Arc<FileInner>,
}

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    threads: Option<usize>,
    path: RawPath,
    accept_wrong_hashes: bool,
}

/// The file as it was when it was opened or last committed to: what was found out of it since.
#[derive(Debug)]
pub(super) struct FileInner {
    handle: Arc<Handle>,
    storages: Mutex<HashMap<String, Arc<Storage>>>,
    history: OnceLock<History>,
    data_version: i64,
    /// Number of commits that it shows.
    pub(super) commits: u64,
}

/// The open file, one for all that was made of it.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) versions: Group,
    /// Positional reads, where the file's driver has a descriptor and its superblock is one we decode.
    pub(super) direct: Option<Direct>,
    pub(super) raw_path: RawPath,
    pub(super) library_reads: AtomicU64,
    /// What committing needs; `None` in a file opened for reading.
    pub(super) writer: Option<Writer>,
    pool: Option<rayon::ThreadPool>,
    one_thread: bool,
}

impl Deref for FileInner {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

/// Positional access to an open file.
#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) bytes: FileBytes,
    pub(crate) superblock: Superblock,
}

impl Direct {
    /// `None` for drivers without a descriptor, and for superblocks that we do not decode.
    pub(crate) fn of(lock: &Lock, file: &File) -> Result<Option<Self>, h5strata_ffi::Error> {
        let bytes = h5f::descriptor(lock, file)?.map(FileBytes::new);
        Ok(bytes.and_then(|bytes| {
            let superblock = Superblock::read(&bytes).ok()?;
            Some(Self { bytes, superblock })
        }))
    }
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
        let writable = writer.is_some();
        let mut inner = FileInner::new(Arc::new(Handle {
            path: path.to_owned(),
            file,
            versions,
            direct,
            raw_path: self.path,
            library_reads: AtomicU64::new(0),
            writer,
            pool,
            one_thread: self.threads == Some(1),
        }));
        inner.data_version = inner.read_data_version()?;
        inner.check_data_version(self.accept_wrong_hashes, writable)?;
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

impl FileInner {
    fn new(handle: Arc<Handle>) -> Self {
        let (storages, history) = (Mutex::new(HashMap::new()), OnceLock::new());
        let commits = handle.writer.as_ref().map_or(0, Writer::commits);
        Self { handle, storages, history, data_version: 1, commits }
    }

    /// The file as it is after a commit: what is known of datasets that it left alone stays known.
    pub(super) fn after_commit(&self, changed: impl Fn(&str) -> bool) -> Self {
        let storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = storages.iter().filter(|(raw_data, _)| !changed(raw_data));
        let kept = kept.map(|(path, storage)| (path.clone(), Arc::clone(storage))).collect();
        let mut inner = Self::new(Arc::clone(&self.handle));
        inner.storages = Mutex::new(kept);
        inner.data_version = self.data_version;
        inner
    }

    /// Tells of which object a failure of libhdf5 is.
    pub(super) fn library(
        &self,
        object: &str,
    ) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
        library_error(&self.path, object)
    }

    /// A fault of the format in one object.
    pub(super) fn format(&self, object: &str, fault: FormatFault) -> Error {
        Error::Format { file: self.path.clone(), object: object.to_owned(), fault }
    }

    /// Tells of which attribute of which object a fault is.
    pub(super) fn attribute(
        &self,
        object: &str,
        name: &str,
    ) -> impl FnOnce(StringFault) -> Error + use<> {
        plain_attribute_error(&self.path, object, name)
    }

    pub(super) fn threads(&self) -> Threads<'_> {
        match &self.pool {
            Some(pool) => Threads::Pool(pool),
            None if self.one_thread => Threads::One,
            None => Threads::Shared,
        }
    }

    /// What `read` finds out of metadata that no commit was changing meanwhile.
    pub(super) fn read_whole<T>(&self, mut read: impl FnMut() -> T) -> T {
        match &self.direct {
            Some(direct) => direct.bytes.read_whole(read),
            None => read(),
        }
    }

    /// Positional access to the file and its superblock, if there is any.
    pub(super) fn read_at(&self) -> Option<(&dyn ReadAt, &Superblock)> {
        self.direct.as_ref().map(|direct| (&direct.bytes as &dyn ReadAt, &direct.superblock))
    }

    /// A string attribute of an object seen from the group of versions; `None` if there is none.
    pub(super) fn text_attribute(
        &self,
        path: &str,
        name: &'static str,
    ) -> Result<Option<String>, Error> {
        let object = format!("{VERSIONS}/{path}");
        let wrong = || self.format(&object, FormatFault::Attribute { name, expected: "a string" });
        let text = |bytes| String::from_utf8(bytes).map(Some).map_err(|_| wrong());
        let strings = self.attribute_strings(&self.versions, path, name);
        if let Some(mut strings) = strings.map_err(self.attribute(&object, name))? {
            return text(strings.pop().ok_or_else(wrong)?);
        }
        let lock = h5strata_ffi::lock();
        let found = h5a::exists(&lock, &self.versions, path, name);
        if !found.map_err(self.library(&object))? {
            return Ok(None);
        }
        let attribute =
            h5a::open(&lock, &self.versions, path, name).map_err(self.library(&object))?;
        let datatype = h5a::datatype(&lock, &attribute).map_err(self.library(&object))?;
        let described = h5t::describe(&lock, &datatype).map_err(self.library(&object))?;
        let bytes = match described.class {
            TypeClass::VariableString { .. } => {
                let strings = h5a::read_variable_strings(&lock, &attribute);
                strings.map_err(self.library(&object))?.pop().ok_or_else(wrong)?
            }
            TypeClass::FixedString { .. } => {
                let mut bytes = h5a::read(&lock, &attribute).map_err(self.library(&object))?;
                bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
                bytes
            }
            _ => return Err(wrong()),
        };
        text(bytes)
    }

    fn read_data_version(&self) -> Result<i64, Error> {
        let lock = h5strata_ffi::lock();
        let found = h5a::exists(&lock, &self.versions, ".", DATA_VERSION);
        if !found.map_err(self.library(VERSIONS))? {
            // The first format did not say its number.
            return Ok(1);
        }
        let attribute =
            h5a::open(&lock, &self.versions, ".", DATA_VERSION).map_err(self.library(VERSIONS))?;
        let datatype = h5a::datatype(&lock, &attribute).map_err(self.library(VERSIONS))?;
        let described = h5t::describe(&lock, &datatype).map_err(self.library(VERSIONS))?;
        let expected = "a little-endian integer of 8 bytes";
        let wrong =
            || self.format(VERSIONS, FormatFault::Attribute { name: DATA_VERSION, expected });
        let TypeClass::Integer { order: ByteOrder::Little, .. } = described.class else {
            return Err(wrong());
        };
        let bytes = h5a::read(&lock, &attribute).map_err(self.library(VERSIONS))?;
        let bytes = bytes.try_into().map_err(|_| wrong())?;
        Ok(i64::from_le_bytes(bytes))
    }

    fn check_data_version(&self, accept_wrong_hashes: bool, write: bool) -> Result<(), Error> {
        let reason = match self.data_version {
            NEWEST_DATA_VERSION => return Ok(()),
            1 if write => DataVersionReason::OldHashes,
            1 => return Ok(()),
            2 | 3 if accept_wrong_hashes && !write => return Ok(()),
            2 | 3 => DataVersionReason::WrongHashes,
            found if found > NEWEST_DATA_VERSION => DataVersionReason::TooNew,
            _ => DataVersionReason::Unknown,
        };
        Err(Error::DataVersion { file: self.path.clone(), found: self.data_version, reason })
    }
}

impl VersionedFile {
    /// Opens a file for reading with the default options.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotHdf5`], [`Error::Truncated`], [`Error::Locked`], [`Error::NotVersioned`],
    /// [`Error::DataVersion`], [`Error::Format`], [`Error::Library`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open(path)
    }

    /// Opens a file for reading and committing with the default options.
    ///
    /// # Errors
    /// As [`OpenOptions::open_rw`].
    pub fn open_rw(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open_rw(path)
    }

    /// Creates a versioned file without versions.
    ///
    /// # Errors
    /// As [`OpenOptions::create`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().create(path)
    }

    /// The file's path, as it was opened.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Number of the file's format (format-v4.md, "Tree").
    pub fn data_version(&self) -> i64 {
        self.inner.data_version
    }

    /// Version of the libhdf5 that runs, as (major, minor, release).
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn libhdf5_version(&self) -> Result<(u32, u32, u32), Error> {
        h5strata_ffi::h5::version(&h5strata_ffi::lock()).map_err(self.inner.library("/"))
    }

    /// What reading has cost so far.
    pub fn io_counts(&self) -> IoCounts {
        let positional = self.inner.direct.as_ref().map(|direct| direct.bytes.counts());
        let library_reads = self.inner.library_reads.load(Ordering::Relaxed);
        IoCounts { library_reads, ..positional.unwrap_or_default() }
    }

    /// All committed versions, in order of their time; of equal times, ancestors first, then by name.
    ///
    /// # Errors
    /// [`Error::Format`] if the file's history is not whole, [`Error::Attribute`], [`Error::Library`].
    pub fn versions(&self) -> Result<&[VersionInfo], Error> {
        Ok(self.history()?.versions())
    }

    /// Names of the versions whose parent is `parent`, in order of their time.
    ///
    /// # Errors
    /// As [`versions`](Self::versions).
    pub fn children(&self, parent: &str) -> Result<Vec<&str>, Error> {
        Ok(self.history()?.children(parent))
    }

    /// Whether there is a version of this name, committed or not.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn has_version(&self, name: &str) -> Result<bool, Error> {
        if name.is_empty() || name == "." || name.contains('/') || name == FIRST_VERSION {
            return Ok(false);
        }
        let lock = h5strata_ffi::lock();
        h5l::exists(&lock, &self.inner.versions, name).map_err(self.inner.library(VERSIONS))
    }

    /// The version of this name.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`], [`Error::NotCommitted`], [`Error::Library`].
    pub fn version(&self, name: &str) -> Result<Version, Error> {
        let inner = &self.inner;
        if !self.has_version(name)? {
            let known: Vec<String> =
                self.versions()?.iter().map(|version| version.name.clone()).collect();
            let (file, version) = (inner.path.clone(), name.to_owned());
            let nearest = nearest(name, &known);
            return Err(Error::UnknownVersion { file, version, nearest, known });
        }
        Version::open(self.newest(), name)
    }

    /// The file as it is, also when a clone of this handle has committed to it since.
    pub(super) fn newest(&self) -> Arc<FileInner> {
        let commits = self.inner.writer.as_ref().map_or(0, Writer::commits);
        if commits == self.inner.commits {
            return Arc::clone(&self.inner);
        }
        Arc::new(self.inner.after_commit(|_| true))
    }

    /// Name of the current version.
    ///
    /// # Errors
    /// [`Error::NoVersions`], [`Error::Format`], [`Error::Attribute`], [`Error::Library`].
    pub fn current_name(&self) -> Result<String, Error> {
        match self.inner.text_attribute(".", CURRENT_VERSION)? {
            None => {
                let fault = FormatFault::MissingAttribute { name: CURRENT_VERSION };
                Err(self.inner.format(VERSIONS, fault))
            }
            Some(name) if name == FIRST_VERSION => {
                Err(Error::NoVersions { file: self.inner.path.clone() })
            }
            Some(name) => Ok(name),
        }
    }

    /// The current version.
    ///
    /// # Errors
    /// As [`current_name`](Self::current_name).
    pub fn current(&self) -> Result<Version, Error> {
        let name = self.current_name()?;
        match self.version(&name) {
            Err(Error::UnknownVersion { version, .. }) => {
                Err(self.inner.format(VERSIONS, FormatFault::DanglingCurrent { version }))
            }
            version => version,
        }
    }

    /// The version that lies `back` parents behind the current one; 0 is the current one itself.
    ///
    /// # Errors
    /// [`Error::TooFarBack`], else as [`current`](Self::current).
    pub fn back(&self, back: u64) -> Result<Version, Error> {
        let mut version = self.current()?;
        for ancestors in 0..back {
            match version.parent()? {
                // A history of parents that never ends is caught once it is longer than the history.
                Some(_) if ancestors == self.history()?.versions().len() as u64 => {
                    let object = format!("{VERSIONS}/{}", version.name());
                    return Err(self.inner.format(&object, FormatFault::CyclicParents));
                }
                Some(parent) => version = self.version(&parent)?,
                None => {
                    let file = self.inner.path.clone();
                    return Err(Error::TooFarBack { file, back, ancestors });
                }
            }
        }
        Ok(version)
    }

    /// The version of exactly this time, else the latest before it. Of several versions of one time it is
    /// the last in the order of [`versions`](Self::versions).
    ///
    /// # Errors
    /// [`Error::BeforeFirst`], [`Error::NoVersions`], else as [`versions`](Self::versions).
    pub fn at(&self, time: DateTime<Utc>) -> Result<Version, Error> {
        let history = self.history()?;
        let file = self.inner.path.clone();
        let found = history.latest(|version| version.timestamp <= time);
        match (found, history.versions().first()) {
            (Some(found), _) => self.version(&found.name),
            (None, Some(first)) => Err(Error::BeforeFirst { file, time, first: first.timestamp }),
            (None, None) => Err(Error::NoVersions { file }),
        }
    }

    pub(super) fn history(&self) -> Result<&History, Error> {
        if let Some(history) = self.inner.history.get() {
            return Ok(history);
        }
        let history = History::read(&self.inner)?;
        Ok(self.inner.history.get_or_init(|| history))
    }
}

impl FileInner {
    /// The stored chunks at `path`, opened once.
    pub(super) fn storage(&self, path: &str) -> Result<Arc<Storage>, super::error::DatasetFault> {
        let mut storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = storages.get(path) {
            return Ok(Arc::clone(storage));
        }
        let storage = Arc::new(Storage::open(self, path)?);
        storages.insert(path.to_owned(), Arc::clone(&storage));
        Ok(storage)
    }
}
