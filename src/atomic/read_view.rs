//! What readers read a file by.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use h5strata_ffi::h5fd::Storage;

use super::error::{Action, JournalError};
use super::identity::Belonging;
use super::journal::{Found, Journal};
use super::merge::{read_merged, read_or_zero};
use super::sidecar::JournalPath;
use crate::ondisk::ReadAt;

/// A file as readers see it: as it is, or with the pages of a journal that was not applied, or not wholly, laid over
/// it. Clones share the open files.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    file: Arc<File>,
    journal: Option<Arc<Journal>>,
}

impl ReadView {
    /// The file as it is.
    pub(crate) fn plain(file: File) -> Self {
        Self { file: Arc::new(file), journal: None }
    }

    /// Whether a journal is read through.
    #[cfg(test)]
    pub(crate) fn has_journal(&self) -> bool {
        self.journal.is_some()
    }
}

/// The view of `file`, whose path is `path`, through a complete journal at `journal` that belongs to it, for those who may not write, and so
/// can't apply it; `None` where there is no such journal: the file is whole as it is. Pages are read from the
/// journal when they are needed.
///
/// The caller has made sure that nobody writes the file: a writer that is about to apply its journal may still take it
/// back. The view holds as long as nobody does.
///
/// # Errors
/// [`JournalError::Moved`] for a journal that fits the file but was written for another one, since the file may be
/// half changed; [`JournalError::Io`], [`JournalError::Version`], [`JournalError::NotAFile`].
pub(crate) fn read_through(
    path: &Path,
    journal: &JournalPath,
    file: &File,
) -> Result<Option<ReadView>, JournalError> {
    let Found::Complete(journal) = Journal::open(journal)? else { return Ok(None) };
    match journal.belonging(path, file)? {
        Belonging::Own => {}
        Belonging::Moved => {
            let (file, journal) = (path.to_owned(), journal.path().to_owned());
            return Err(JournalError::Moved { file, journal });
        }
        Belonging::Foreign => return Ok(None),
    }
    let file = file.try_clone().map_err(JournalError::io(path, Action::Open))?;
    Ok(Some(ReadView { file: Arc::new(file), journal: Some(Arc::new(journal)) }))
}

impl ReadAt for ReadView {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.journal {
            Some(journal) => {
                read_merged(&self.file, &**journal, journal.header().new_end, offset, buf)
            }
            None => self.file.read_at(buf, offset),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match &self.journal {
            Some(journal) => Ok(journal.header().new_end),
            None => ReadAt::size(&*self.file),
        }
    }
}

impl Storage for ReadView {
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()> {
        match &self.journal {
            Some(_) => self.read_at(out, address).map(|_| ()),
            None => read_or_zero(&*self.file, address, out),
        }
    }

    fn write(&mut self, _address: u64, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn size(&mut self) -> io::Result<u64> {
        ReadAt::size(self)
    }

    fn set_size(&mut self, _size: u64) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }
}
