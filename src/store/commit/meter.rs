use std::sync::atomic::{AtomicU64, Ordering};

use crate::snapshot::{OnProgress, Progress};

/// Counts the chunks of a dataset that are done, for whoever wants to know.
pub(in crate::store) struct Meter<'p> {
    on_progress: Option<&'p OnProgress>,
    dataset: &'p str,
    chunk_bytes: u64,
    done: AtomicU64,
    total: AtomicU64,
}

impl<'p> Meter<'p> {
    pub(in crate::store) fn new(
        on_progress: Option<&'p OnProgress>,
        dataset: &'p str,
        chunk_bytes: usize,
    ) -> Self {
        let chunk_bytes = chunk_bytes as u64;
        Self {
            on_progress,
            dataset,
            chunk_bytes,
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// Says how many chunks there are to do.
    pub(in crate::store) fn expect(&self, chunks: u64) {
        self.total.store(chunks.saturating_mul(self.chunk_bytes), Ordering::Relaxed);
    }

    /// Counts chunks that were stored, or need not be.
    pub(in crate::store) fn count(&self, chunks: usize) {
        let Some(on_progress) = self.on_progress.filter(|_| chunks > 0) else { return };
        let bytes = self.chunk_bytes.saturating_mul(chunks as u64);
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let total = self.total.load(Ordering::Relaxed);
        on_progress.tell(Progress { dataset: self.dataset, done, total });
    }
}
