use std::sync::Arc;

/// How far a dataset has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'p> {
    /// Its path in the version.
    pub dataset: &'p str,
    /// Bytes that are done, before compression; when exporting, as they are stored.
    pub done: u64,
    /// Bytes that there are to do.
    pub total: u64,
}

/// Is told how far datasets have come, by any thread.
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;
