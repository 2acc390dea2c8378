//! libhdf5's side of an open file, which is opened anew when somebody has committed.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use h5strata_ffi::h5fd::Failure;
use h5strata_ffi::id::{File, Group};
use h5strata_ffi::{Error, Lock, h5d, h5fd, h5g};

use super::file::Handle;
use super::library::file_access;
use super::names::VERSIONS;
use crate::atomic::{Entered, Reader, ReaderStorage};
use crate::raw::OpenDataset;

/// What libhdf5 has open, of one state of the file.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) file: File,
    pub(super) versions: Group,
    /// Why libhdf5 was not given what it has asked for last.
    failure: Failure,
    /// The state, by its number: see [`Reader::state_number`].
    pub(super) state: u64,
}

/// That libhdf5 may be called: the process's lock is held, and nobody changes the file.
#[derive(Debug)]
pub(super) struct Session {
    lock: Lock,
    library: Arc<Library>,
    entered: Entered,
}

impl Deref for Session {
    type Target = Library;

    fn deref(&self) -> &Library {
        &self.library
    }
}

impl Session {
    pub(super) fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Lets others call libhdf5, and still nobody change the file.
    pub(super) fn leave_library(self) -> Entered {
        self.entered
    }
}

impl Library {
    /// Opens a file in libhdf5, of which it may know no other state yet.
    pub(super) fn open_file(
        lock: &Lock,
        path: &Path,
        reader: &Arc<Reader>,
    ) -> Result<(File, Failure), Error> {
        let storage = ReaderStorage::new(Arc::clone(reader));
        h5fd::open(lock, path, file_access(lock)?, Arc::new(Mutex::new(storage)), false)
    }

    /// The file as opened in a state, by somebody who is inside.
    pub(super) fn new(
        lock: &Lock,
        (file, failure): (File, Failure),
        state: u64,
    ) -> Result<Self, Error> {
        let versions = h5g::open(lock, &file, VERSIONS)?;
        Ok(Self { file, versions, failure, state })
    }
}

impl Handle {
    /// Begins to call libhdf5. May wait for a commit, and must not be called by who holds the process's lock alone.
    pub(super) fn session(&self) -> Result<Session, Error> {
        let entered = self.reader.enter();
        let entered = entered.map_err(|source| Error::Os { call: "flock", source })?;
        let lock = h5strata_ffi::lock();
        let state = self.reader.state_number();
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        if library.state != state {
            let opened = Library::open_file(&lock, &self.path, &self.reader)?;
            *library = Arc::new(Library::new(&lock, opened, state)?);
        }
        let library = Arc::clone(&library);
        Ok(Session { lock, library, entered })
    }

    /// Why libhdf5 was not given what it has asked for last.
    pub(super) fn failure(&self) -> Failure {
        self.library.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }
}

/// An object that libhdf5 has open, opened anew when the file has changed.
#[derive(Debug)]
pub(super) struct Reopened<T> {
    open: Mutex<Option<(u64, Arc<T>)>>,
}

impl<T> Default for Reopened<T> {
    fn default() -> Self {
        Self { open: Mutex::default() }
    }
}

impl<T> Reopened<T> {
    /// The object as of the session's state.
    pub(super) fn get(
        &self,
        session: &Session,
        open: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let mut known = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, object)) = &*known
            && *state == session.state
        {
            return Ok(Arc::clone(object));
        }
        let object = Arc::new(open()?);
        *known = Some((session.state, Arc::clone(&object)));
        Ok(object)
    }
}

/// The dataset of a file at a path.
#[derive(Debug)]
pub(super) struct DatasetAt {
    handle: Arc<Handle>,
    path: String,
    dataset: Reopened<h5d::Dataset>,
}

impl DatasetAt {
    pub(super) fn new(handle: Arc<Handle>, path: &str) -> Self {
        Self { handle, path: path.to_owned(), dataset: Reopened::default() }
    }
}

impl OpenDataset for DatasetAt {
    fn with(
        &self,
        call: &mut dyn FnMut(&Lock, &h5d::Dataset) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let session = self.handle.session()?;
        let open = || h5d::open(session.lock(), &session.file, &self.path);
        call(session.lock(), &*self.dataset.get(&session, open)?)
    }
}
