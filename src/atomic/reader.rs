//! A file that somebody may commit to while it is read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use h5strata_ffi::h5fd::Storage;

use super::committed_end::HEAD;
use super::error::JournalError;
use super::locks::has_writer;
use super::locks::{LockError, LockPolicy, ReadGuard, ReaderGate};
use super::merge::{read_or_zero, read_up_to};
use super::read_view::{ReadView, read_through};
use super::sidecar::JournalPath;
use crate::ondisk::ReadAt;

/// An open file whose readers keep out of the way of commits, and see when there was one.
///
/// Others commit only while nobody is inside ([`enter`](Self::enter)). The one who has the right to write commits
/// [himself](Self::of_writer), and nobody else does.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    journal: JournalPath,
    file: File,
    policy: LockPolicy,
    /// `None` for the one who writes.
    gate: Option<ReaderGate>,
    /// The file, with what the journal of a stopped writer holds laid over it.
    view: RwLock<ReadView>,
    state: Mutex<State>,
    /// How often this process has begun or ended to change the file: odd while it does.
    changes: AtomicU64,
    /// The largest size that was seen.
    seen_size: AtomicU64,
}

#[derive(Debug)]
struct State {
    mark: Mark,
    /// How often the mark was another one.
    number: u64,
    /// How many are inside.
    inside: usize,
}

/// What a commit changes.
#[derive(Debug, PartialEq, Eq)]
struct Mark {
    head: [u8; HEAD],
    size: u64,
    modified: (i64, i64),
}

impl Mark {
    fn of(file: &File) -> io::Result<Self> {
        let mut head = [0; HEAD];
        read_up_to(file, 0, &mut head)?;
        let metadata = file.metadata()?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Ok(Self { head, size: metadata.len(), modified })
    }
}

/// That a reader is inside: while it lives nobody else commits.
#[derive(Debug)]
pub(crate) struct Entered {
    /// With the lock, which is given back when the reader is not counted any more.
    inside: Option<(Arc<Reader>, ReadGuard)>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some((reader, _)) = &self.inside {
            reader.state().inside -= 1;
        }
    }
}

impl Reader {
    /// Reads a file that was opened for this alone: its locks belong to the open file. Whoever enters waits up to
    /// `patience` for a commit, and one has entered.
    ///
    /// # Errors
    /// Those of the operating system; a [`LockError`] in one of them; what the journal of a stopped writer is refused for.
    pub(crate) fn enter_new(
        path: &Path,
        journal: JournalPath,
        file: File,
        policy: LockPolicy,
        patience: Duration,
    ) -> io::Result<(Arc<Self>, Entered)> {
        let gate = ReaderGate::new(&file, path, policy, patience).map_err(of_lock)?;
        let guard = gate.enter().map_err(of_lock)?;
        let mark = Mark::of(&file)?;
        let view = look(path, &journal, &file, policy)?;
        let reader = Self::with(path, journal, file, policy, Some(gate), mark, view);
        let entered = reader.count(guard);
        Ok((reader, entered))
    }

    /// Reads a file that this process has the right to write, while nobody changes it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(crate) fn of_writer(
        path: &Path,
        journal: JournalPath,
        file: File,
        policy: LockPolicy,
    ) -> io::Result<Arc<Self>> {
        let (mark, view) = (Mark::of(&file)?, ReadView::plain(file.try_clone()?));
        Ok(Self::with(path, journal, file, policy, None, mark, view))
    }

    fn with(
        path: &Path,
        journal: JournalPath,
        file: File,
        policy: LockPolicy,
        gate: Option<ReaderGate>,
        mark: Mark,
        view: ReadView,
    ) -> Arc<Self> {
        let state = Mutex::new(State { mark, number: 0, inside: 0 });
        let (path, view) = (path.to_owned(), RwLock::new(view));
        let (changes, seen_size) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { path, journal, file, policy, gate, view, state, changes, seen_size })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a commit of somebody else that is being applied, and keeps them from it.
    pub(crate) fn enter(self: &Arc<Self>) -> io::Result<Entered> {
        let Some(gate) = &self.gate else { return Ok(Entered { inside: None }) };
        let guard = gate.enter().map_err(of_lock)?;
        let mut state = self.state();
        // As long as somebody is inside nothing changes, if there are locks to see to it.
        if state.inside == 0 || self.policy != LockPolicy::Required {
            let mark = Mark::of(&self.file)?;
            if state.mark != mark {
                let view = look(&self.path, &self.journal, &self.file, self.policy)?;
                *self.view.write().unwrap_or_else(PoisonError::into_inner) = view;
                (state.mark, state.number) = (mark, state.number + 1);
            }
        }
        drop(state);
        Ok(self.count(guard))
    }

    /// Counts one more who is inside.
    fn count(self: &Arc<Self>, guard: ReadGuard) -> Entered {
        self.state().inside += 1;
        Entered { inside: Some((Arc::clone(self), guard)) }
    }

    /// Number of the state that the file is in, for one who is inside: another number is another state. Whoever has the
    /// right to write asks with the lock that [`change`](Self::change) is called with.
    pub(crate) fn state_number(&self) -> u64 {
        match self.gate {
            Some(_) => self.state().number,
            None => self.changes.load(Ordering::Acquire),
        }
    }

    /// Has `change` change the file. Who reads through this meanwhile reads again.
    pub(crate) fn change<T>(&self, change: impl FnOnce() -> T) -> T {
        self.changes.fetch_add(1, Ordering::AcqRel);
        let outcome = change();
        self.changes.fetch_add(1, Ordering::AcqRel);
        outcome
    }

    /// What `read` finds in a file that nobody has changed meanwhile: it is run again until that is so.
    pub(crate) fn read_whole<T>(self: &Arc<Self>, mut read: impl FnMut() -> T) -> io::Result<T> {
        let _entered = self.enter()?;
        loop {
            let before = self.changes.load(Ordering::Acquire);
            let outcome = read();
            if before.is_multiple_of(2) && self.changes.load(Ordering::Acquire) == before {
                return Ok(outcome);
            }
            std::thread::yield_now();
        }
    }

    /// What the file is read by now; it stays as it is when somebody [enters](Self::enter) who finds a commit.
    pub(crate) fn view(&self) -> ReadView {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The descriptor, for advice to the kernel.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A failure to lock as one of reading.
fn of_lock(error: LockError) -> io::Error {
    let kind = match &error {
        LockError::Io { source, .. } => source.kind(),
        _ => io::ErrorKind::WouldBlock,
    };
    io::Error::new(kind, error)
}

/// The file as it is, or as the journal of a stopped writer says it is; for one who is inside.
fn look(
    path: &Path,
    journal: &JournalPath,
    file: &File,
    policy: LockPolicy,
) -> io::Result<ReadView> {
    // A writer that is alive may still take its journal back, and applies it when nobody is inside.
    let is_stopped = journal.exists() && !has_writer(file, path, policy).unwrap_or(false);
    let through: Result<_, JournalError> =
        if is_stopped { read_through(path, journal, file) } else { Ok(None) };
    match through.map_err(io::Error::other)? {
        Some(view) => Ok(view),
        None => file.try_clone().map(ReadView::plain),
    }
}

impl ReadAt for Reader {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).read_at(buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).size()
    }

    /// Asks the system only about what is behind all sizes that were seen: files mostly grow, and reads that do not get
    /// what they want say so themselves.
    fn size_for(&self, end: u64) -> io::Result<u64> {
        let seen = self.seen_size.load(Ordering::Relaxed);
        if end <= seen {
            return Ok(seen);
        }
        let size = ReadAt::size(self)?;
        self.seen_size.fetch_max(size, Ordering::Relaxed);
        Ok(size)
    }
}

/// What libhdf5 reads of a file.
#[derive(Debug)]
pub(crate) struct ReaderStorage {
    reader: Arc<Reader>,
}

impl ReaderStorage {
    pub(crate) fn new(reader: Arc<Reader>) -> Self {
        Self { reader }
    }
}

impl Storage for ReaderStorage {
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()> {
        read_or_zero(&*self.reader, address, out)
    }

    fn write(&mut self, _address: u64, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn size(&mut self) -> io::Result<u64> {
        ReadAt::size(&*self.reader)
    }

    fn set_size(&mut self, _size: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
