use std::thread::ScopedJoinHandle;

use rayon::{Scope, ThreadPool};

/// Bytes that one thread deals with in the time of handing them to others.
const LITTLE: usize = 256 << 10;

/// The threads that decode and copy.
#[derive(Clone, Copy)]
pub(crate) enum Threads<'t> {
    /// The caller's own thread alone.
    One,
    /// The process's own pool, one thread a core.
    Shared,
    /// A pool of a chosen size.
    Pool(&'t ThreadPool),
}

impl Threads<'_> {
    /// How many there are.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Shared => rayon::current_num_threads(),
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Whether there are others, and so many bytes are worth handing to them.
    pub(crate) fn are_worth(self, bytes: usize) -> bool {
        bytes > LITTLE && !matches!(self, Self::One)
    }

    /// Runs `work` on the caller's own thread, and `other` at the same time if there is more than one.
    pub(crate) fn beside<R>(self, other: impl FnOnce() + Send, work: impl FnOnce() -> R) -> R {
        if self.count() == 1 {
            other();
            return work();
        }
        self.in_place(|scope| {
            scope.spawn(|_| other());
            work()
        })
    }

    /// Runs `work`, and at the same time `wait`, which waits for the system rather than works, on a thread that is none of
    /// these, if there is more than one.
    pub(crate) fn while_waiting<W: Send, R>(
        self,
        wait: impl Fn() -> W + Sync,
        work: impl FnOnce() -> R,
    ) -> (W, R) {
        if self.count() == 1 {
            return (wait(), work());
        }
        std::thread::scope(|scope| {
            let waiting = std::thread::Builder::new().spawn_scoped(scope, &wait);
            let outcome = work();
            let waited = match waiting.map(ScopedJoinHandle::join) {
                Ok(Ok(waited)) => waited,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No thread is to be had.
                Err(_) => wait(),
            };
            (waited, outcome)
        })
    }

    /// Runs `work` on `threads` threads. The caller's own is one of them: it begins while the others wake.
    pub(crate) fn spread(self, threads: u64, work: impl Fn() + Sync) {
        if threads <= 1 {
            return work();
        }
        self.in_place(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| work());
            }
            work();
        });
    }

    /// Runs `work` where rayon's calls use these threads.
    pub(crate) fn install<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One | Self::Shared => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }

    /// Runs `work` on the caller's own thread, and what it spawns on these, until all of it has ended.
    fn in_place<'s, R>(self, work: impl FnOnce(&Scope<'s>) -> R) -> R {
        match self {
            Self::One | Self::Shared => rayon::in_place_scope(work),
            Self::Pool(pool) => pool.in_place_scope(work),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn work_is_spread_over_as_many_threads_as_asked_for_and_the_callers_own_is_one() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for threads in 1..=3 {
            let (own, others) = (AtomicU64::new(0), AtomicU64::new(0));
            // Nobody passes before all are there.
            let together = Barrier::new(usize::try_from(threads).unwrap());
            let caller = std::thread::current().id();
            Threads::Pool(&pool).spread(threads, || {
                together.wait();
                let count = if std::thread::current().id() == caller { &own } else { &others };
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!((own.into_inner(), others.into_inner()), (1, threads - 1));
        }
    }

    #[test]
    fn what_runs_beside_has_ended_when_the_work_has() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for threads in [Threads::One, Threads::Shared, Threads::Pool(&pool)] {
            let done = AtomicU64::new(0);
            let outcome = threads.beside(|| done.store(1, Ordering::Relaxed), || "done");
            assert_eq!((outcome, done.into_inner()), ("done", 1));
            assert_eq!(threads.while_waiting(|| "waited", || "done"), ("waited", "done"));
        }
    }
}
