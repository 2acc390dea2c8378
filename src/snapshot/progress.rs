use std::fmt;
use std::sync::Arc;

/// How far a dataset has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'p> {
    /// Its path in the version.
    pub dataset: &'p str,
    /// Bytes that are done, before compression; when exporting, as they are stored; when committing, of whole chunks.
    pub done: u64,
    /// Bytes that there are to do.
    pub total: u64,
}

/// Is told how far datasets have come, by any thread.
#[derive(Clone)]
pub struct OnProgress {
    listener: Arc<dyn Fn(Progress<'_>) + Send + Sync>,
}

impl OnProgress {
    /// Calls `listener`.
    pub fn new(listener: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { listener: Arc::new(listener) }
    }

    pub(crate) fn tell(&self, progress: Progress<'_>) {
        (self.listener)(progress);
    }
}

impl fmt::Debug for OnProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnProgress").finish_non_exhaustive()
    }
}
