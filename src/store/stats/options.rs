use std::fmt;
use std::sync::Arc;

/// How a file's bytes are counted.
#[derive(Clone, Default)]
pub struct StatsOptions {
    pub(super) quick: bool,
    on_progress: Option<Listener>,
}

/// Is told how many versions are done, of how many.
type Listener = Arc<dyn Fn(u64, u64) + Send + Sync>;

impl StatsOptions {
    /// Everything is counted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether strings of variable length are left among the rest. To count them, their references are read, 16 bytes a
    /// string; of all other datasets no chunk is ever read.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }

    /// Tells after each version how many are done, and how many there are.
    #[must_use]
    pub fn on_progress(mut self, listener: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(listener));
        self
    }

    pub(super) fn tell(&self, done: u64, versions: u64) {
        if let Some(listener) = &self.on_progress {
            listener(done, versions);
        }
    }
}

impl fmt::Debug for StatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatsOptions").field("quick", &self.quick).finish_non_exhaustive()
    }
}
