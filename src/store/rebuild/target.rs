//! The new file while it is written.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use h5strata_ffi::h5fd::{self, Failure};
use h5strata_ffi::id::{File, Group};
use h5strata_ffi::{Lock, h5f, h5g};

use super::super::error::Error;
use super::super::file::FileInner;
use super::super::library::write_access;
use super::super::open::{io_error, library_error, structure_error};
use super::super::replace::NewFile;
use crate::atomic::Overlay;
use crate::ondisk::{FieldWidth, MapPatcher, Structure, WriteAt};

/// Bytes of lists that wait to be written. For that libhdf5 has to close the file.
const MOST_WAITING: usize = 32 << 20;

/// Bytes of a user block that are copied at once.
const PIECE: usize = 1 << 16;

/// Width of a length in files that libhdf5 makes unless told otherwise.
pub(super) const LENGTH_SIZE: FieldWidth = FieldWidth::Eight;

/// A file that is made from nothing: libhdf5 makes its objects, and lists of mappings are put in whenever it has closed
/// the file.
pub(in crate::store) struct Target<'n> {
    name: &'n Path,
    overlay: Arc<Mutex<Overlay>>,
    /// `None` while libhdf5 has it closed.
    open: Option<(File, Failure)>,
    /// Groups of versions that are open as long: the way to them takes libhdf5 as long as making a dataset.
    versions: HashMap<usize, Group>,
    /// Lists to be written, each with the address of its dataset's object header, and their bytes.
    lists: Vec<(u64, Vec<u8>)>,
    waiting: usize,
}

impl<'n> Target<'n> {
    /// `user_block`: bytes in front that are the user's.
    pub(super) fn create(new: &'n NewFile, user_block: u64) -> Result<Self, Error> {
        let (name, overlay) = (new.name(), Arc::new(Mutex::new(new.overlay()?)));
        let lock = h5strata_ffi::lock();
        let access = write_access(&lock).map_err(library_error(name, "/"))?;
        let storage = Arc::clone(&overlay);
        let open = h5fd::create_behind(&lock, name, access, storage, user_block)
            .map_err(library_error(name, "/"))?;
        Ok(Self {
            name,
            overlay,
            open: Some(open),
            versions: HashMap::new(),
            lists: Vec::new(),
            waiting: 0,
        })
    }

    /// Tells of which object of the new file a failure of libhdf5 is.
    pub(in crate::store) fn library(
        &self,
        object: &str,
    ) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
        library_error(self.name, object)
    }

    /// The file, open in libhdf5 until the next list is [added](Self::add).
    pub(in crate::store) fn file(&mut self, lock: &Lock) -> Result<&File, Error> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let storage = Arc::clone(&self.overlay);
                write_access(lock)
                    .and_then(|access| h5fd::open(lock, self.name, access, storage, true))
                    .map_err(self.library("/"))?
            }
        };
        Ok(&self.open.insert(open).0)
    }

    /// The group of a version, by its number and its path, open as long as the file.
    pub(super) fn version(
        &mut self,
        lock: &Lock,
        number: usize,
        path: &str,
    ) -> Result<&Group, Error> {
        if !self.versions.contains_key(&number) {
            let group = h5g::open(lock, self.file(lock)?, path).map_err(self.library(path))?;
            self.versions.insert(number, group);
        }
        self.versions.get(&number).ok_or_else(|| {
            let (call, source) = ("H5Gopen2", io::ErrorKind::NotFound.into());
            self.library(path)(h5strata_ffi::Error::Os { call, source })
        })
    }

    /// Gives the dataset whose object header is at `header` a list of mappings. Objects of the file that are open in
    /// libhdf5 have to be closed before.
    pub(super) fn add(&mut self, header: u64, list: Vec<u8>) -> Result<(), Error> {
        self.waiting = self.waiting.saturating_add(list.len());
        self.lists.push((header, list));
        if self.waiting < MOST_WAITING { Ok(()) } else { self.write_lists().map(drop) }
    }

    /// Writes the lists that wait, and gives their memory back. Objects of the file that are open in libhdf5 have to be
    /// closed before.
    pub(super) fn write_lists(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        self.close()?;
        let structure = |error| structure_error(self.name, "/")(error);
        let mut overlay = locked(&self.overlay);
        let lists = std::mem::take(&mut self.lists);
        if !lists.is_empty() {
            let mut patcher = MapPatcher::begin(&*overlay).map_err(structure)?;
            for (header, list) in &lists {
                patcher.place(&mut *overlay, *header, list).map_err(structure)?;
            }
            patcher.finish(&mut *overlay).map_err(structure)?;
        }
        self.waiting = 0;
        overlay.check_writes()?;
        Ok(lists.into_iter().map(|(_, list)| list).collect())
    }

    fn close(&mut self) -> Result<(), Error> {
        self.versions.clear();
        let Some((file, failure)) = self.open.take() else { return Ok(()) };
        let flushed = {
            let lock = h5strata_ffi::lock();
            let flushed = h5f::flush(&lock, &file);
            drop(file);
            flushed
        };
        // libhdf5 is not told of writes that fail.
        locked(&self.overlay).check_writes()?;
        flushed.and(failure.take().map_or(Ok(()), Err)).map_err(self.library("/"))?;
        if Arc::strong_count(&self.overlay) > 1 {
            let (call, source) = ("H5Fclose", io::ErrorKind::ResourceBusy.into());
            return Err(self.library("/")(h5strata_ffi::Error::Os { call, source }));
        }
        Ok(())
    }

    /// Writes what is left, and the user block, which is the one of `old`. It is not durable yet.
    pub(super) fn finish(mut self, old: &FileInner) -> Result<(), Error> {
        self.write_lists()?;
        self.copy_user_block(old)?;
        // All of a file that was empty is tail, so there is no journal.
        let mut overlay = locked(&self.overlay);
        overlay.sync_data()?;
        overlay.write_journal()?;
        overlay.apply()?;
        Ok(overlay.remove_journal()?)
    }
}

impl Target<'_> {
    fn copy_user_block(&mut self, old: &FileInner) -> Result<(), Error> {
        let Some((bytes, superblock)) = old.read_at() else { return Ok(()) };
        let mut piece = vec![0; PIECE];
        let (mut at, end) = (0, superblock.base_address);
        let mut overlay = locked(&self.overlay);
        while at < end {
            let length = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            bytes
                .read_exact_at(&mut piece[..length], at, Structure::Superblock)
                .map_err(old.structure("/"))?;
            overlay.write_at(&piece[..length], at).map_err(|source| io_error(self.name, source))?;
            at += length as u64;
        }
        Ok(overlay.check_writes()?)
    }
}

fn locked(overlay: &Mutex<Overlay>) -> MutexGuard<'_, Overlay> {
    overlay.lock().unwrap_or_else(PoisonError::into_inner)
}
