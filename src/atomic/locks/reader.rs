use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::patience::Patience;
use super::system::{Answer, LockFile, Mark};
use super::{LockError, LockPolicy};

/// How long to wait for a program that has the file to itself and is no writer of ours.
const OTHERS: Duration = Duration::from_secs(1);

/// How long threads follow each other through a gate before one of them looks whether a writer waits.
const TURN: Duration = Duration::from_millis(10);

/// How long newcomers stay out to let a waiting writer in.
///
/// Not for ever: a newcomer may do part of the work of a thread that is inside and waits for it. After this time they
/// go on for as long, and stay out again.
const GRACE: Duration = Duration::from_millis(100);

/// The one way for all threads that read an open file to lock it, each for the time of an operation.
///
/// The lock belongs to the open file, so the threads have it together: the first one in takes it, the last one out
/// gives it back. Clones are the same gate.
///
/// 1. While a thread is inside, it enters again without a system call and without waiting, so nothing that is nested
///    can stop for a writer that waits for the outermost guard.
/// 2. Other threads enter without a system call, but for one every 10 ms that asks whether a writer waits.
/// 3. A waiting writer gets the file, however many threads come: for 100 ms at a time newcomers stay out. Only
///    operations longer than that, which overlap without end, can keep it waiting.
/// 4. No thread waits for longer than the gate's patience.
#[derive(Clone, Debug)]
pub struct ReaderGate {
    /// `None` where the policy is to go without.
    gate: Option<Arc<Gate>>,
}

#[derive(Debug)]
struct Gate {
    file: LockFile,
    patience: Duration,
    state: Mutex<State>,
    /// Told when [`State::phase`] becomes [`Phase::Free`] or a taking ended.
    moved: Condvar,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Threads that wait to be told that something moved.
    waiting: usize,
    /// Threads inside, and how many guards each has. Few: a scan is cheaper than a map.
    inside: SmallVec<[(ThreadId, usize); 8]>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Nobody is inside, and the file is not locked.
    Free,
    /// A thread is waiting for the lock, for all.
    Taking,
    /// The file is locked. From `look` on the next one to enter looks for a waiting writer.
    Locked { look: Instant },
    /// The file is locked, a writer waits, and newcomers stay out until `end`.
    Yielding { end: Instant },
    /// The file system has no locks.
    Without,
}

impl ReaderGate {
    /// How long a reader waits for a writer unless told otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// The gate of `file`, which errors call `path`. Whoever enters waits up to `patience`.
    ///
    /// `file` must have been opened for this: the gate shares its open file description, which is what owns the lock.
    /// It may be open for reading only.
    ///
    /// # Errors
    /// [`LockError::Io`] when there are no more descriptors.
    pub fn new(
        file: &File,
        path: &Path,
        policy: LockPolicy,
        patience: Duration,
    ) -> Result<Self, LockError> {
        if policy == LockPolicy::Off {
            return Ok(Self { gate: None });
        }
        let state = State { phase: Phase::Free, waiting: 0, inside: SmallVec::new() };
        Ok(Self {
            gate: Some(Arc::new(Gate {
                file: LockFile::of(file, path)?,
                patience,
                state: Mutex::new(state),
                moved: Condvar::new(),
            })),
        })
    }

    /// Keeps writers from applying a commit until the guard is dropped. Waits for one that is applying or about to.
    ///
    /// Without locks, by policy or because the file system has none, it does nothing.
    ///
    /// # Errors
    /// [`LockError::Busy`] when that took longer than the gate's patience; [`LockError::Io`].
    pub fn enter(&self) -> Result<ReadGuard, LockError> {
        match &self.gate {
            Some(gate) => gate.enter(thread::current().id()),
            None => Ok(ReadGuard { entry: None }),
        }
    }
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(self: &Arc<Self>, thread: ThreadId) -> Result<ReadGuard, LockError> {
        let entered = || Ok(ReadGuard { entry: Some((Arc::clone(self), thread)) });
        let mut state = self.state();
        if state.enter_again(thread) {
            return entered();
        }
        let mut patience = Patience::new(self.patience);
        loop {
            let now = Instant::now();
            match state.phase {
                Phase::Without => return Ok(ReadGuard { entry: None }),
                Phase::Locked { look } if now < look => {
                    state.inside.push((thread, 1));
                    return entered();
                }
                Phase::Locked { .. } => {
                    state.phase = if self.file.is_marked(Mark::Pending)? {
                        Phase::Yielding { end: now + GRACE }
                    } else {
                        Phase::Locked { look: now + TURN }
                    };
                }
                Phase::Yielding { end } if now < end => {
                    state.waiting += 1;
                    let waited = self.moved.wait_timeout(state, end - now);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    state.waiting -= 1;
                }
                Phase::Yielding { .. } => state.phase = Phase::Locked { look: now + GRACE },
                Phase::Taking => {
                    state.waiting += 1;
                    state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.waiting -= 1;
                }
                Phase::Free => {
                    state.phase = Phase::Taking;
                    drop(state);
                    let taken = self.take(&mut patience);
                    state = self.state();
                    self.tell(&state);
                    match taken {
                        Ok(true) => {
                            state.phase = Phase::Locked { look: Instant::now() + TURN };
                            state.inside.push((thread, 1));
                            return entered();
                        }
                        Ok(false) => state.phase = Phase::Without,
                        Err(error) => {
                            state.phase = Phase::Free;
                            return Err(error);
                        }
                    }
                }
            }
        }
    }

    /// Takes the lock when no writer waits for it or has it; `false` where there are no locks.
    ///
    /// A writer may come between the look and the lock. It waits for this one reader then.
    fn take(&self, patience: &mut Patience) -> Result<bool, LockError> {
        let mut others = Patience::new(OTHERS.min(self.patience));
        loop {
            if !self.file.is_marked(Mark::Pending)? {
                match self.file.share()? {
                    Answer::Taken => return Ok(true),
                    Answer::Unsupported(_) => return Ok(false),
                    Answer::Refused => {}
                }
            }
            // A writer of ours is soon done with it. Other programs have it as long as they like.
            let is_ours = self.file.is_marked(Mark::Writer)?;
            if !(if is_ours { patience.wait() } else { others.wait() }) {
                let waited = if is_ours { patience.waited() } else { others.waited() };
                return Err(LockError::Busy { file: self.file.path(), waited });
            }
        }
    }

    fn leave(&self, thread: ThreadId) {
        let mut state = self.state();
        state.leave(thread);
        if state.inside.is_empty() {
            self.file.unlock();
            state.phase = Phase::Free;
            self.tell(&state);
        }
    }

    /// Tells those who wait that something moved: a system call, if there are any.
    fn tell(&self, state: &State) {
        if state.waiting > 0 {
            self.moved.notify_all();
        }
    }
}

impl State {
    /// Counts one more guard of a thread that is inside; `false` where it is not.
    fn enter_again(&mut self, thread: ThreadId) -> bool {
        let own = self.inside.iter_mut().find(|(inside, _)| *inside == thread);
        own.is_some_and(|(_, guards)| {
            *guards += 1;
            true
        })
    }

    fn leave(&mut self, thread: ThreadId) {
        let Some(place) = self.inside.iter().position(|(inside, _)| *inside == thread) else {
            return;
        };
        match &mut self.inside[place] {
            (_, 1) => drop(self.inside.swap_remove(place)),
            (_, guards) => *guards -= 1,
        }
    }
}

/// A thread inside a [`ReaderGate`]. It may be dropped in another thread.
#[derive(Debug)]
#[must_use = "the file may change when it is dropped"]
pub struct ReadGuard {
    /// The gate and the thread that entered; `None` without locks.
    entry: Option<(Arc<Gate>, ThreadId)>,
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        if let Some((gate, thread)) = &self.entry {
            gate.leave(*thread);
        }
    }
}
