//! Changes to a file that become real all at once (see [`crate::atomic`]).

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use h5strata_ffi::h5fd::{self, Failure};
use h5strata_ffi::id::{File, Group};
use h5strata_ffi::{h5a, h5f, h5g};

use super::super::error::Error;
use super::super::file::FileInner;
use super::super::library::write_access;
use super::super::names::{CURRENT_VERSION, VERSIONS};
use super::super::writer::{Held, Writer};
use super::hash_table::{Digests, EncodedUpdate, TableUpdate};
use super::mappings::Mappings;
use crate::atomic::{LockError, Overlay};
use crate::ondisk::set_rows;

/// What heap libhdf5 sees first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heap {
    /// That of the youngest string, the name of the current version, which was read before.
    Youngest,
    Unseen,
}

/// A file that is being changed: all that libhdf5 writes goes to an overlay.
pub(in crate::store) struct Transaction<'w> {
    file: File,
    versions: Group,
    pub(super) mappings: Mappings,
    /// The digests of stored chunks, by the path of their dataset, as the last commits have left them.
    known: &'w mut HashMap<String, Digests>,
    /// As this one leaves them.
    digests: HashMap<String, Digests>,
    /// What is to be written to hash tables when libhdf5 has closed the file.
    pub(super) tables: Vec<TableUpdate>,
    /// The same, when there was time to encode it.
    pub(super) encoded_tables: Vec<EncodedUpdate>,
    /// Extents that are to be written then, too.
    pub(super) extents: Vec<NewExtent>,
}

/// A dataset whose first axis gets another extent when libhdf5 has closed the file.
pub(super) struct NewExtent {
    /// Address of its object header, in bytes relative to the base address.
    pub(super) header: u64,
    /// The extent as libhdf5 leaves it, in elements.
    pub(super) before: u64,
    pub(super) after: u64,
}

impl Transaction<'_> {
    /// Has `change` change a file. Nobody sees anything of it before this has ended well; else the file is as it was.
    pub(in crate::store) fn run<T>(
        inner: &FileInner,
        mappings: Mappings,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        Self::run_on(inner, mappings, Heap::Youngest, change)
    }

    /// The same of a file whose current version is perhaps not one that can be read.
    pub(in crate::store) fn mend<T>(
        inner: &FileInner,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let is_readable = inner.text_attribute(".", CURRENT_VERSION).is_ok();
        let heap = if is_readable { Heap::Youngest } else { Heap::Unseen };
        Self::run_on(inner, Mappings::new(inner)?, heap, change)
    }

    fn run_on<T>(
        inner: &FileInner,
        mappings: Mappings,
        heap: Heap,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let writer = inner.writer()?;
        let mut held = writer.held();
        held.lock.ensure_held()?;
        let overlay = held.overlay(&inner.path, writer.options.durability)?;
        let overlay = Arc::new(Mutex::new(overlay));
        let outcome = attempt(inner, writer, &mut held, &overlay, (mappings, heap), change);
        outcome.map_err(|error| {
            // Half of what was known of the stored chunks may be of this commit.
            held.tables.clear();
            let is_changed =
                matches!(error, Error::Lock(LockError::Changed { .. } | LockError::Lost { .. }));
            let mut overlay = locked(&overlay);
            let ended = if is_changed { overlay.leave() } else { overlay.discard() };
            if ended.is_err() || is_changed || matches!(error, Error::Journal(_)) {
                writer.set_broken();
            }
            error
        })
    }

    /// The file, open in libhdf5.
    pub(in crate::store) fn file(&self) -> &File {
        &self.file
    }

    /// The group of all versions.
    pub(in crate::store) fn versions(&self) -> &Group {
        &self.versions
    }

    /// What the last commit to a dataset has left of its digests.
    pub(super) fn take_digests(&mut self, path: &str) -> Option<Digests> {
        self.known.remove(path)
    }

    /// Leaves a dataset's digests to the next commit, and has its hash table updated.
    pub(super) fn keep_digests(
        &mut self,
        path: &str,
        (digests, update): (Digests, Option<TableUpdate>),
    ) {
        self.digests.insert(path.to_owned(), digests);
        self.tables.extend(update);
    }
}

fn attempt<T>(
    inner: &FileInner,
    writer: &Writer,
    held: &mut Held,
    overlay: &Arc<Mutex<Overlay>>,
    (mut mappings, heap): (Mappings, Heap),
    change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    if heap == Heap::Youngest {
        inner.text_attribute(".", CURRENT_VERSION)?;
    }
    mappings.hide(&mut *locked(overlay)).map_err(inner.structure("/"))?;
    let (file, versions, failure) = open(inner, overlay, heap).map_err(inner.library("/"))?;
    let (known, digests) = (&mut held.tables, HashMap::new());
    let (tables, encoded_tables, extents) = (Vec::new(), Vec::new(), Vec::new());
    let mut transaction =
        Transaction { file, versions, mappings, known, digests, tables, encoded_tables, extents };
    let outcome = change(&mut transaction);
    if outcome.is_err() && locked(overlay).failure().is_none() {
        // libhdf5 writes what it holds when it closes the file: to nobody.
        locked(overlay).discard()?;
    }
    let Transaction { file, versions, mappings, digests, tables, encoded_tables, extents, .. } =
        transaction;
    let flushed = flush(file, versions);
    // libhdf5 is not told of writes that fail: see `Failure`.
    locked(overlay).check_writes()?;
    let outcome = outcome?;
    flushed.and(failure.take().map_or(Ok(()), Err)).map_err(inner.library("/"))?;
    if Arc::strong_count(overlay) > 1 {
        let (call, source) = ("H5Fclose", io::ErrorKind::ResourceBusy.into());
        return Err(inner.library("/")(h5strata_ffi::Error::Os { call, source }));
    }
    let mut overlay = locked(overlay);
    for table in encoded_tables.into_iter().chain(tables.into_iter().map(TableUpdate::encode)) {
        table.write(&mut *overlay).map_err(inner.structure("/"))?;
    }
    for NewExtent { header, before, after } in extents {
        set_rows(&mut *overlay, header, before, after).map_err(inner.structure("/"))?;
    }
    make_real(inner, writer, held, &mut overlay, mappings)?;
    held.tables.extend(digests);
    Ok(outcome)
}

/// Opens the file in libhdf5 as the overlay shows it.
fn open(
    inner: &FileInner,
    overlay: &Arc<Mutex<Overlay>>,
    heap: Heap,
) -> Result<(File, Group, Failure), h5strata_ffi::Error> {
    let lock = h5strata_ffi::lock();
    let storage = Arc::clone(overlay);
    let (file, failure) = h5fd::open(&lock, &inner.path, write_access(&lock)?, storage, true)?;
    let versions = h5g::open(&lock, &file, VERSIONS)?;
    // libhdf5 fills up the heaps that it has seen: that of the youngest string, which was checked before.
    if heap == Heap::Youngest && h5a::exists(&lock, &versions, ".", CURRENT_VERSION)? {
        let current = h5a::open(&lock, &versions, ".", CURRENT_VERSION)?;
        h5a::read_variable_strings(&lock, &current)?;
    }
    Ok((file, versions, failure))
}

/// Has libhdf5 write everything to the overlay, and close the file: what it remembers of it ends here.
fn flush(file: File, versions: Group) -> Result<(), h5strata_ffi::Error> {
    let lock = h5strata_ffi::lock();
    h5f::flush(&lock, &file)?;
    drop((versions, file));
    Ok(())
}

/// The protocol. The file is the old one until the journal is durable, and the new one from then on: whoever opens it
/// next applies the journal if this process cannot.
fn make_real(
    inner: &FileInner,
    writer: &Writer,
    held: &mut Held,
    overlay: &mut Overlay,
    mappings: Mappings,
) -> Result<(), Error> {
    mappings.write(overlay).map_err(inner.structure("/"))?;
    overlay.sync_data()?;
    overlay.write_journal()?;
    let readers = held.lock.exclude_readers(writer.options.patience, || overlay.is_untouched())?;
    // Nobody calls libhdf5 in this process meanwhile, and who reads without it reads again.
    let lock = h5strata_ffi::lock();
    // What was interrupted is done the second time.
    if let Err(error) = inner.reader.change(|| overlay.apply().or_else(|_| overlay.apply())) {
        readers.give_up();
        return Err(error.into());
    }
    drop(lock);
    if overlay.remove_journal().is_err() {
        // The commit is in the file: whoever opens it next removes the journal.
        writer.set_broken();
    }
    drop(readers);
    Ok(())
}

fn locked(overlay: &Mutex<Overlay>) -> MutexGuard<'_, Overlay> {
    overlay.lock().unwrap_or_else(PoisonError::into_inner)
}
