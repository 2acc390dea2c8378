use rayon::ThreadPool;

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

    /// Runs both, at the same time if there is more than one thread.
    pub(crate) fn join<A: Send, B: Send>(
        self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self {
            Self::One => (one(), other()),
            Self::Shared => rayon::join(one, other),
            Self::Pool(pool) => pool.join(one, other),
        }
    }

    /// Runs `work` where rayon's calls use these threads.
    pub(crate) fn install<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::One | Self::Shared => work(),
            Self::Pool(pool) => pool.install(work),
        }
    }
}
