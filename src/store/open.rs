//! Opening and creating files.

use std::fs::File as OsFile;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use h5strata_ffi::error::Minor;
use h5strata_ffi::h5fd::{self, Failure};
use h5strata_ffi::h5l;
use h5strata_ffi::id::File;

use super::error::Error;
use super::file::{Direct, FileInner, Handle, VersionedFile};
use super::library::plain_access;
use super::names::VERSIONS;
use super::recovery::{create_file, open_to_write, recover_if_free, recover_with};
use super::session::Library;
use super::upgrade::upgrade;
use super::writer::{CommitOptions, Writer};
use crate::atomic::{
    Durability, JournalError, JournalPath, LockError, LockPolicy, Reader, ReaderGate,
};
use crate::ondisk::OndiskError;
use crate::raw::{RawPath, StringFault};
use crate::snapshot::OnProgress;

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    threads: Option<usize>,
    path: RawPath,
    accept_wrong_hashes: bool,
    /// Whether files of data_version 2 and 3 are upgraded when they are opened for writing.
    pub(super) rebuild_hashes: bool,
    commits: CommitOptions,
    on_progress: Option<OnProgress>,
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

    /// What commits survive. The default is that of [`Durability`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.commits.durability = durability;
        self
    }

    /// How long a commit waits for readers to let go of the file, 30 seconds unless said otherwise; then it fails and
    /// the file is as it was. Readers of h5strata let go after each operation, h5py and other programs when they close
    /// the file. So long as well waits [`open_rw`](Self::open_rw) where it has a stopped commit to finish.
    #[must_use]
    pub fn commit_patience(mut self, patience: Duration) -> Self {
        self.commits.patience = patience;
        self
    }

    /// Has libhdf5 write the mappings of a version's datasets, which takes it about 30 microseconds each, instead of
    /// encoding them here. The file is the same to every reader.
    #[must_use]
    pub fn library_mappings(mut self, by_library: bool) -> Self {
        self.commits.library_mappings = by_library;
        self
    }

    /// Tells how far the upgrade of a file of data_version 1 has come that [`open_rw`](Self::open_rw) opens. It takes long
    /// where there are many strings.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }

    /// Opens a file for reading. What a stopped writer has left is put right first, which writes to the file; where that
    /// may not be, or somebody uses the file, it is read as if it were. A journal of another file is left alone.
    ///
    /// # Errors
    /// As [`VersionedFile::open`]; [`Error::Threads`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        let file = open_regular(path, false).map_err(|source| io_error(path, source))?;
        let journal = JournalPath::of(path)?;
        // Whoever cannot put it right reads through it.
        drop(recover_if_free(path, &journal));
        self.opened(path, journal, file, None)
    }

    /// Opens a file for reading and for committing new versions. Others may read it meanwhile, and nobody else
    /// write. What a stopped writer has left is put right first, and bytes behind the end that the superblock tells
    /// are cut off.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Lock`] at once when somebody else has the file open for writing, and when
    /// the file system has no locks; [`Error::OtherJournal`] when the journal beside the file was written for another.
    /// [`Error::DataVersion`] for files of data_version 2 and 3, whose hash tables are wrong: see
    /// [`UpgradeOptions`](super::UpgradeOptions). One of data_version 1 is upgraded first, which fails as a commit does:
    /// [`VersionedFile::upgraded`] tells.
    pub fn open_rw(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        let mut file = self.open_once(path)?;
        upgrade(&mut file, self.on_progress.as_ref())?;
        let Some(report) = file.upgraded().filter(|_| file.inner.writer().is_err()).cloned() else {
            return Ok(file);
        };
        // The upgrade is in the file, and its journal could not be removed: opening the file anew does that.
        drop(file);
        let mut file = self.open_once(path)?;
        file.inner = Arc::new(file.inner.after_upgrade(report));
        Ok(file)
    }

    /// Opens a file for writing as it is.
    fn open_once(&self, path: &Path) -> Result<VersionedFile, Error> {
        let (file, mut lock) = open_to_write(path)?;
        let journal = JournalPath::of(path)?;
        recover_with(path, &journal, &file, &mut lock, self.commits.patience, false)?;
        // The locks of the writer's are its own: what is read through is opened anew.
        let reading = OsFile::open(path).map_err(|source| io_error(path, source))?;
        let writer = Writer::new(file, lock, self.commits);
        self.opened(path, journal, reading, Some(writer))
    }

    /// Creates a versioned file without versions and opens it for committing some. The file appears under its name
    /// when it is whole.
    ///
    /// # Errors
    /// [`Error::Io`] if there is a file already, or it cannot be made; [`Error::Journal`] if it cannot be written;
    /// [`Error::Library`]; else as [`open_rw`](Self::open_rw).
    pub fn create(&self, path: impl AsRef<Path>) -> Result<VersionedFile, Error> {
        let path = path.as_ref();
        create_file(path, self.commits.durability)?;
        self.open_rw(path)
    }

    /// What is read through `file`, which was opened for it alone.
    pub(super) fn opened(
        &self,
        path: &Path,
        journal: JournalPath,
        file: OsFile,
        writer: Option<Writer>,
    ) -> Result<VersionedFile, Error> {
        let policy = LockPolicy::from_environment();
        let reader = match writer {
            None => Reader::enter_new(path, journal, file, policy, ReaderGate::PATIENCE)
                .map(|(reader, entered)| (reader, Some(entered))),
            Some(_) => Reader::of_writer(path, journal, file, policy).map(|reader| (reader, None)),
        };
        let (reader, _entered) = reader.map_err(|source| io_error(path, source))?;
        let lock = h5strata_ffi::lock();
        let opened = Library::open_file(&lock, path, &reader).map_err(open_error(path))?;
        if !h5l::exists(&lock, &opened.0, VERSIONS).map_err(library_error(path, VERSIONS))? {
            return Err(Error::NotVersioned { file: path.to_owned() });
        }
        let library = Library::new(&lock, opened, reader.state_number());
        let library = library.map_err(library_error(path, VERSIONS))?;
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
            direct: Direct::shared(&reader),
            reader,
            library: Mutex::new(Arc::new(library)),
            raw_path: self.path,
            options: self.clone(),
            library_reads: AtomicU64::new(0),
            writer,
            pool,
            one_thread: self.threads == Some(1),
        };
        let inner = FileInner::open(handle, self.accept_wrong_hashes, self.rebuild_hashes)?;
        Ok(VersionedFile { inner: Arc::new(inner) })
    }
}

/// Opens a plain HDF5 file for reading. With it come the positional access to it, where its superblock is one that is
/// decoded here, and why libhdf5 was not given what it has asked for last.
pub(crate) fn open_plain(path: &Path) -> Result<(File, Option<Direct>, Failure), Error> {
    open_regular(path, false).map_err(|source| io_error(path, source))?;
    let lock = h5strata_ffi::lock();
    let access = plain_access(&lock).map_err(library_error(path, "/"))?;
    let opened = h5fd::open_plain(&lock, path, access).map_err(|error| match error {
        h5strata_ffi::Error::Os { source, .. } if source.kind() == io::ErrorKind::WouldBlock => {
            Error::Locked { file: path.to_owned() }
        }
        error => open_error(path)(error),
    });
    let (file, failure, descriptor) = opened?;
    let direct = Direct::still(descriptor);
    if let Some(Direct { bytes, superblock }) = &direct
        && superblock.is_marked_open(bytes).map_err(structure_error(path, "/"))?
    {
        return Err(Error::NotClosed { file: path.to_owned() });
    }
    Ok((file, direct, failure))
}

/// Opens a file for reading, and to write, in the system's own words: libhdf5 reports a missing one in its own, and opening
/// a pipe would wait for its writer.
pub(super) fn open_regular(path: &Path, write: bool) -> io::Result<OsFile> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    std::fs::OpenOptions::new().read(true).write(write).open(path)
}

/// Whether a file may be made at a path, in the system's own words.
pub(super) fn check_absent(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What the operating system refused, or the lock or journal that stood in the way of reading.
pub(super) fn io_error(path: &Path, source: io::Error) -> Error {
    from_reader(source).unwrap_or_else(|source| Error::Io { file: path.to_owned(), source })
}

/// What a reader of files gives as an error of the operating system and is none.
fn from_reader(source: io::Error) -> Result<Error, io::Error> {
    let lock = source.downcast::<LockError>().map(Error::Lock);
    lock.or_else(|source| source.downcast::<JournalError>().map(Error::Journal))
}

/// Tells of which object of which file a fault in the file's own structures is.
pub(super) fn structure_error(
    path: &Path,
    object: &str,
) -> impl FnOnce(OndiskError) -> Error + use<> {
    let (file, object) = (path.to_owned(), object.to_owned());
    move |source| match source {
        OndiskError::NotHdf5 { .. } => Error::NotHdf5 { file },
        source => Error::Structure { file, object, source },
    }
}

/// Tells of which object of which file a failure of libhdf5 is.
pub(super) fn library_error(
    path: &Path,
    object: &str,
) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
    let (file, object) = (path.to_owned(), object.to_owned());
    move |source| match source {
        h5strata_ffi::Error::Os { call, source } => from_reader(source).unwrap_or_else(|source| {
            Error::Library { file, object, source: h5strata_ffi::Error::Os { call, source } }
        }),
        source => Error::Library { file, object, source },
    }
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
pub(super) fn open_error(path: &Path) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
    let file = path.to_owned();
    move |source| {
        if source.has_minor(Minor::Truncated) {
            Error::Truncated { file }
        } else if source.has_minor(Minor::NotHdf5) {
            Error::NotHdf5 { file }
        } else {
            Error::Library { file, object: "/".to_owned(), source }
        }
    }
}
