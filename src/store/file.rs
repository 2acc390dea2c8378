use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::{DateTime, Utc};
use h5strata_ffi::h5t::{ByteOrder, TypeClass};
use h5strata_ffi::{h5a, h5l, h5t};

use super::commit::Bare;
use super::error::{DataVersionReason, Error, FormatFault, nearest};
use super::history::{History, VersionInfo};
use super::library_heaps::library_strings;
use super::names::{CURRENT_VERSION, DATA_VERSION, FIRST_VERSION, NEWEST_DATA_VERSION, VERSIONS};
use super::open::{OpenOptions, io_error, library_error, plain_attribute_error, structure_error};
use super::session::{Library, Session};
use super::storage::Storage;
use super::upgrade::UpgradeReport;
use super::version::{Entry, Version};
use super::writer::Writer;
use crate::atomic::{Entered, Reader};
use crate::chunk_map::ChunkMap;
use crate::ondisk::{OndiskError, ReadAt, Superblock};
use crate::raw::{FileBytes, IoCounts, RawPath, StringFault, Threads};

/// A versioned HDF5 file. Cheap to clone; may be shared between threads.
///
/// A file that is open for reading is locked for the length of an operation alone, as HDF5's readers lock it: others may
/// read it and commit to it. What such a handle finds by name or number, or as the current version, is what is in the
/// file then; versions and datasets that were opened before go on showing what they showed.
///
/// When a new file has taken the place of this one, as [`delete_versions`](Self::delete_versions) and
/// [`repack_in_place`](Self::repack_in_place) make one, handles that were opened before go on showing the old one.
///
/// A file that is open for writing ([`open_rw`](Self::open_rw), [`create`](Self::create)) is nobody else's to write to
/// until the last clone of the handle is dropped, and everybody's to read.
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

/// The file as it was when it was opened or last committed to: what was found out of it since.
#[derive(Debug)]
pub(super) struct FileInner {
    pub(super) handle: Arc<Handle>,
    /// The stored chunks by path, each with the state of the file that they were opened in.
    storages: Mutex<HashMap<String, (u64, Arc<Storage>)>>,
    history: OnceLock<History>,
    data_version: i64,
    /// That it was upgraded when it was opened.
    upgraded: Option<Arc<UpgradeReport>>,
    /// What the last commit has written.
    latest: Latest,
    /// Number of commits that it shows.
    pub(super) commits: u64,
}

/// What a commit has written, so that the next version, which mostly begins with it, need not read it.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// The version.
    pub(super) version: String,
    /// Its groups and datasets, in the order of [`Version::entries`].
    pub(super) entries: Vec<Entry>,
    pub(super) bare: Bare,
    /// The maps of the datasets whose chunks the commit has looked at, by path.
    pub(super) maps: HashMap<String, Arc<ChunkMap>>,
}

/// The open file, one for all that was made of it.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) path: PathBuf,
    pub(super) reader: Arc<Reader>,
    /// What libhdf5 has open of the file's last state that was looked at.
    pub(super) library: Mutex<Arc<Library>>,
    /// Positional reads, where the superblock is one we decode.
    pub(super) direct: Option<Direct>,
    pub(super) raw_path: RawPath,
    /// How it was opened.
    pub(super) options: OpenOptions,
    pub(super) library_reads: AtomicU64,
    /// What committing needs; `None` in a file opened for reading.
    pub(super) writer: Option<Writer>,
    pub(super) pool: Option<rayon::ThreadPool>,
    pub(super) one_thread: bool,
}

impl Deref for FileInner {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Handle {
    pub(super) fn threads(&self) -> Threads<'_> {
        match &self.pool {
            Some(pool) => Threads::Pool(pool),
            None if self.one_thread => Threads::One,
            None => Threads::Shared,
        }
    }

    /// Where addresses of stored chunks are read from; `None` if libhdf5 must be asked for them.
    pub(super) fn addresses(&self) -> Option<&FileBytes> {
        let bytes = self.direct.as_ref().map(|direct| &direct.bytes);
        bytes.filter(|_| self.raw_path == RawPath::Auto)
    }
}

/// Positional access to an open file.
#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) bytes: FileBytes,
    pub(crate) superblock: Superblock,
}

impl Direct {
    /// Of a file that nobody changes; `None` for superblocks that we do not decode.
    pub(crate) fn still(file: File) -> Option<Self> {
        Self::of(FileBytes::still(file))
    }

    /// Of a file that somebody may commit to; `None` for superblocks that we do not decode.
    pub(super) fn shared(reader: &Arc<Reader>) -> Option<Self> {
        Self::of(FileBytes::shared(Arc::clone(reader)))
    }

    fn of(bytes: FileBytes) -> Option<Self> {
        let superblock = bytes.read_whole(|| Superblock::read(&bytes)).ok()?;
        Some(Self { bytes, superblock })
    }
}

impl FileInner {
    /// What is found in an open file, if its format is one that is read, or written if it is open for that.
    ///
    /// `rebuild_hashes`: whether those of wrong hashes are to be upgraded, and so may be written to.
    pub(super) fn open(
        handle: Handle,
        accept_wrong_hashes: bool,
        rebuild_hashes: bool,
    ) -> Result<Self, Error> {
        let accepts_wrong_hashes =
            if handle.writer.is_some() { rebuild_hashes } else { accept_wrong_hashes };
        let mut inner = Self::new(Arc::new(handle));
        inner.data_version = inner.read_data_version()?;
        inner.check_data_version(accepts_wrong_hashes)?;
        Ok(inner)
    }

    fn new(handle: Arc<Handle>) -> Self {
        let (storages, history) = (Mutex::new(HashMap::new()), OnceLock::new());
        let commits = handle.writer.as_ref().map_or(0, Writer::commits);
        let latest = Latest::default();
        Self { handle, storages, history, data_version: 1, upgraded: None, latest, commits }
    }

    /// The file as it is after a commit of this handle, in a state of this number. What is known of stored chunks stays
    /// known; `chunks`: how many there are now at a path, if the commit has changed them.
    pub(super) fn after_commit(
        &self,
        state: u64,
        chunks: impl Fn(&str) -> Option<u64>,
        latest: Latest,
    ) -> Self {
        let storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = storages.iter().filter_map(|(path, (_, storage))| {
            let storage = match chunks(path) {
                None => Arc::clone(storage),
                Some(chunks) => Arc::new(storage.with_chunks(chunks)?),
            };
            Some((path.clone(), (state, storage)))
        });
        let mut inner = Self::new(Arc::clone(&self.handle));
        inner.storages = Mutex::new(kept.collect());
        inner.latest = latest;
        inner.data_version = self.data_version;
        inner.upgraded.clone_from(&self.upgraded);
        inner
    }

    /// The chunk map of a dataset, if the last commit has written it.
    pub(super) fn latest_map(&self, version: &str, path: &str) -> Option<Arc<ChunkMap>> {
        if self.latest.version == version { self.latest.maps.get(path).cloned() } else { None }
    }

    /// The groups and datasets of a version, if the last commit has written it.
    pub(super) fn latest_entries(&self, version: &str) -> Option<&[Entry]> {
        (self.latest.version == version).then_some(&self.latest.entries)
    }

    /// The datasets of a version that have no attributes of the user's, if the last commit has written it.
    pub(super) fn latest_bare(&self, version: &str) -> Option<&Bare> {
        (self.latest.version == version).then_some(&self.latest.bare)
    }

    /// The file as it is now, of which nothing is known.
    pub(super) fn anew(&self) -> Self {
        let mut inner = Self::new(Arc::clone(&self.handle));
        inner.data_version = self.data_version;
        inner.upgraded.clone_from(&self.upgraded);
        inner
    }

    /// The file as it is after an upgrade to the newest format.
    pub(super) fn after_upgrade(&self, report: UpgradeReport) -> Self {
        let (data_version, upgraded) = (NEWEST_DATA_VERSION, Some(Arc::new(report)));
        Self { data_version, upgraded, ..self.anew() }
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

    /// Tells of which object a fault in the file's own structures is.
    pub(super) fn structure(&self, object: &str) -> impl FnOnce(OndiskError) -> Error + use<> {
        structure_error(&self.path, object)
    }

    /// Tells of which attribute of which object a fault is.
    pub(super) fn attribute(
        &self,
        object: &str,
        name: &str,
    ) -> impl FnOnce(StringFault) -> Error + use<> {
        plain_attribute_error(&self.path, object, name)
    }

    /// What `read` finds out of metadata that no commit was changing meanwhile.
    pub(super) fn read_whole<T, E: From<OndiskError>>(
        &self,
        mut read: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.direct {
            Some(direct) => direct.bytes.read_whole(read),
            None => read(),
        }
    }

    /// Keeps the file in one state for the length of an operation of several parts, each of which would lock it.
    pub(super) fn enter(&self) -> Result<Entered, Error> {
        self.reader.enter().map_err(|source| io_error(&self.path, source))
    }

    /// Begins to call libhdf5: see [`Handle::session`].
    pub(super) fn session(&self) -> Result<Session, h5strata_ffi::Error> {
        self.handle.session()
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
        let session = self.session().map_err(self.library(&object))?;
        let strings = self.attribute_strings(&session.versions, path, name);
        if let Some(mut strings) = strings.map_err(self.attribute(&object, name))? {
            return text(strings.pop().ok_or_else(wrong)?);
        }
        let lock = session.lock();
        let found = h5a::exists(lock, &session.versions, path, name);
        if !found.map_err(self.library(&object))? {
            return Ok(None);
        }
        let attribute =
            h5a::open(lock, &session.versions, path, name).map_err(self.library(&object))?;
        let datatype = h5a::datatype(lock, &attribute).map_err(self.library(&object))?;
        let described = h5t::describe(lock, &datatype).map_err(self.library(&object))?;
        let bytes = match described.class {
            TypeClass::VariableString { .. } => {
                let read = || h5a::read_variable_strings(lock, &attribute);
                let strings = library_strings(&self.failure(), read);
                strings.map_err(self.attribute(&object, name))?.pop().ok_or_else(wrong)?
            }
            TypeClass::FixedString { .. } => {
                let mut bytes = h5a::read(lock, &attribute).map_err(self.library(&object))?;
                bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
                bytes
            }
            _ => return Err(wrong()),
        };
        text(bytes)
    }

    fn read_data_version(&self) -> Result<i64, Error> {
        let session = self.session().map_err(self.library(VERSIONS))?;
        let lock = session.lock();
        let found = h5a::exists(lock, &session.versions, ".", DATA_VERSION);
        if !found.map_err(self.library(VERSIONS))? {
            // The first format did not say its number.
            return Ok(1);
        }
        let attribute = h5a::open(lock, &session.versions, ".", DATA_VERSION)
            .map_err(self.library(VERSIONS))?;
        let datatype = h5a::datatype(lock, &attribute).map_err(self.library(VERSIONS))?;
        let described = h5t::describe(lock, &datatype).map_err(self.library(VERSIONS))?;
        let expected = "a little-endian integer of 8 bytes";
        let wrong =
            || self.format(VERSIONS, FormatFault::Attribute { name: DATA_VERSION, expected });
        let TypeClass::Integer { order: ByteOrder::Little, .. } = described.class else {
            return Err(wrong());
        };
        let bytes = h5a::read(lock, &attribute).map_err(self.library(VERSIONS))?;
        let bytes = bytes.try_into().map_err(|_| wrong())?;
        Ok(i64::from_le_bytes(bytes))
    }

    fn check_data_version(&self, accepts_wrong_hashes: bool) -> Result<(), Error> {
        let reason = match self.data_version {
            1 | NEWEST_DATA_VERSION => return Ok(()),
            2 | 3 if accepts_wrong_hashes => return Ok(()),
            2 | 3 => DataVersionReason::WrongHashes,
            found if found > NEWEST_DATA_VERSION => DataVersionReason::TooNew,
            _ => DataVersionReason::Unknown,
        };
        Err(Error::DataVersion { file: self.path.clone(), found: self.data_version, reason })
    }
}

impl VersionedFile {
    /// Number of the newest format, which is the one that is written.
    pub const NEWEST_DATA_VERSION: i64 = NEWEST_DATA_VERSION;

    /// Opens a file for reading with the default options.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotHdf5`], [`Error::Truncated`], [`Error::NotVersioned`], [`Error::DataVersion`],
    /// [`Error::Format`], [`Error::Library`]; [`Error::Lock`] if another program has the file open for writing and does
    /// not let go of it within 30 seconds, which every later call may meet as well; [`Error::Journal`] if what a
    /// stopped writer has left can be neither applied nor read.
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

    /// What opening the file for writing has upgraded; `None` of one that is of the newest format, or open for reading.
    pub fn upgraded(&self) -> Option<&UpgradeReport> {
        self.inner.upgraded.as_deref()
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

    /// All committed versions, in order of their time; of equal times, ancestors first, then by name. They are those of
    /// the moment when a handle is first asked for them; versions committed through this handle come in.
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
        let session = self.inner.session().map_err(self.inner.library(VERSIONS))?;
        h5l::exists(session.lock(), &session.versions, name).map_err(self.inner.library(VERSIONS))
    }

    /// The version of this name.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`], [`Error::NotCommitted`], [`Error::Library`].
    pub fn version(&self, name: &str) -> Result<Version, Error> {
        let inner = &self.inner;
        let _entered = inner.enter()?;
        if !self.has_version(name)? {
            let history = self.newest_history()?;
            let known: Vec<String> =
                history.versions().iter().map(|version| version.name.clone()).collect();
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
        Arc::new(self.inner.anew())
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
        let _entered = self.inner.enter()?;
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
        let mut seen = HashSet::new();
        for ancestors in 0..back {
            let is_new = seen.insert(version.name().to_owned());
            match version.parent()? {
                Some(_) if !is_new => {
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
        let history = self.newest_history()?;
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

    /// The history as it is, also when somebody has committed since it was first asked for.
    fn newest_history(&self) -> Result<Cow<'_, History>, Error> {
        match self.history()? {
            history if history.is_newest(&self.inner)? => Ok(Cow::Borrowed(history)),
            _ => History::read(&self.inner).map(Cow::Owned),
        }
    }
}

impl FileInner {
    /// Lets go of what is known of the stored chunks at `path`.
    pub(super) fn forget_storage(&self, path: &str) {
        self.storages.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Number of the file's format.
    pub(super) fn data_version(&self) -> i64 {
        self.data_version
    }

    /// The stored chunks at `path`, opened once as long as nobody commits.
    pub(super) fn storage(&self, path: &str) -> Result<Arc<Storage>, super::error::DatasetFault> {
        // The process's lock comes first, as for those who hold it already.
        let session = self.session()?;
        let mut storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, storage)) = storages.get(path)
            && *state == session.state
        {
            return Ok(Arc::clone(storage));
        }
        let storage = Arc::new(Storage::open(self, path)?);
        storages.insert(path.to_owned(), (session.state, Arc::clone(&storage)));
        Ok(storage)
    }
}
