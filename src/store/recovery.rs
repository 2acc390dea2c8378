//! Files that a writer has left in the middle of a commit, and files that are being made.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use h5strata_ffi::{h5f, h5fd};

use super::error::Error;
use super::layout;
use super::library::write_access;
use super::names::VERSIONS;
use super::open::{check_absent, io_error, library_error, open_regular, structure_error};
use super::replace::is_at;
use crate::atomic::{
    self, Durability, JournalPath, LockError, LockPolicy, Overlay, ReaderGate, Recovery, WriterLock,
};

/// How often a file may be replaced by another between opening and locking it.
pub(super) const MOST_TRIES: usize = 1000;

/// What was found of a stopped writer, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// What became of its journal.
    pub journal: Recovery,
    /// Bytes behind the end of the file, which were cut off.
    pub tail: u64,
}

/// How a file is recovered.
///
/// ```no_run
/// let recovery = h5strata::store::RecoverOptions::new().recover("prices.h5")?;
/// println!("{recovery:?}");
/// # Ok::<(), h5strata::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoverOptions {
    moved: bool,
}

impl RecoverOptions {
    /// A journal is applied to the very file that it was written for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a journal also where it and its file were copied or restored together: what the file holds has to be
    /// what the journal was written for.
    #[must_use]
    pub fn moved(mut self, moved: bool) -> Self {
        self.moved = moved;
        self
    }

    /// Finishes the commit that a stopped writer has left in the file at `path`, or takes it back. So does everybody who
    /// opens the file and may write to it.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Lock`] while somebody writes to the file, or has it open in a way that does not let it be
    /// changed; [`Error::OtherJournal`]; [`Error::Journal`].
    pub fn recover(&self, path: impl AsRef<Path>) -> Result<RecoveryReport, Error> {
        let path = path.as_ref();
        let (file, mut lock) = open_to_write(path)?;
        let journal = JournalPath::of(path)?;
        let journal =
            recover_with(path, &journal, &file, &mut lock, ReaderGate::PATIENCE, self.moved)?;
        // What is behind the end of other files is nobody's to cut off.
        super::OpenOptions::new().accept_wrong_hashes(true).open(path)?;
        let end = atomic::committed_end(&file).map_err(structure_error(path, "/"))?;
        let tail = atomic::cut_tail(&file, end).map_err(|source| io_error(path, source))?;
        Ok(RecoveryReport { journal, tail })
    }
}

/// Opens a file to write to it, which nobody else does from then on.
pub(super) fn open_to_write(path: &Path) -> Result<(File, WriterLock), Error> {
    for _ in 0..MOST_TRIES {
        let file = open_regular(path, true).map_err(|source| io_error(path, source))?;
        let lock = WriterLock::acquire(&file, path, LockPolicy::from_environment())?;
        // The one who wrote it before may have put another file in its place meanwhile.
        if is_at(&file, path).map_err(|source| io_error(path, source))? {
            return Ok((file, lock));
        }
    }
    Err(LockError::Changed { file: path.to_owned() }.into())
}

/// Recovers a file of which one is the writer: finishes or takes back the commit of a stopped one. What that has left
/// behind the end stays.
pub(super) fn recover_with(
    path: &Path,
    journal: &JournalPath,
    file: &File,
    lock: &mut WriterLock,
    patience: Duration,
    moved: bool,
) -> Result<Recovery, Error> {
    if !journal.exists() {
        return Ok(Recovery::Clean);
    }
    let _alone = lock.exclude_readers(patience, || Ok(true))?;
    let recover = if moved { atomic::recover_moved } else { atomic::recover };
    match recover(path, file, Durability::Full)? {
        Recovery::LeftAlone(belonging) => {
            Err(Error::OtherJournal { file: path.to_owned(), belonging })
        }
        recovery => Ok(recovery),
    }
}

/// Recovers a file for a reader, if nobody stands in the way of it.
pub(super) fn recover_if_free(path: &Path, journal: &JournalPath) -> Result<(), Error> {
    if !journal.exists() {
        return Ok(());
    }
    let (file, mut lock) = open_to_write(path)?;
    if !lock.is_exclusive() {
        // The journal may be that of a writer at work.
        return Ok(());
    }
    recover_with(path, journal, &file, &mut lock, Duration::ZERO, false).map(|_| ())
}

/// Makes a file without versions, which gets its name when it is whole.
pub(super) fn create_file(path: &Path, durability: Durability) -> Result<(), Error> {
    let io = |source| io_error(path, source);
    check_absent(path).map_err(io)?;
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(".h5strata-new-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let made = builder.tempfile_in(folder).map_err(io)?;
    let overlay = Overlay::new(made.reopen().map_err(io)?, made.path(), 0, durability)?;
    let overlay = Arc::new(Mutex::new(overlay));
    {
        let lock = h5strata_ffi::lock();
        let access = write_access(&lock).map_err(library_error(path, "/"))?;
        let storage = Arc::clone(&overlay);
        let (file, failure) =
            h5fd::create(&lock, path, access, storage).map_err(library_error(path, "/"))?;
        layout::initialise(&lock, &file).map_err(library_error(path, VERSIONS))?;
        h5f::flush(&lock, &file).map_err(library_error(path, "/"))?;
        drop(file);
        failure.take().map_or(Ok(()), Err).map_err(library_error(path, "/"))?;
    }
    {
        // All of a file that was empty is tail, so there is no journal.
        let mut overlay = overlay.lock().unwrap_or_else(PoisonError::into_inner);
        let all = |overlay: &mut Overlay| {
            overlay.sync_data()?;
            overlay.write_journal()?;
            overlay.apply()?;
            overlay.remove_journal()
        };
        // The file's name for the time being is nobody's concern.
        all(&mut overlay).map_err(|error| io(io::Error::other(error.to_string())))?;
    }
    name_anew(made.path(), path).map_err(io)?;
    if durability == Durability::Full {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| {
            let told = format!("the file is made, but its folder cannot be synced: {source}");
            io(io::Error::new(source.kind(), told))
        })?;
    }
    Ok(())
}

/// Gives a file a name that nothing has yet.
pub(super) fn name_anew(file: &Path, name: &Path) -> io::Result<()> {
    match std::fs::hard_link(file, name) {
        // Not every file system gives a file two names.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            check_absent(name)?;
            std::fs::rename(file, name)
        }
        linked => linked,
    }
}

/// The folder that a file is in.
pub(super) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
