//! The memory that chunks are in on their way to the file.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of a chunk.
pub(super) enum ChunkBytes<'c> {
    /// In a buffer of their own.
    Own(Arc<Vec<u8>>),
    /// Where they lie in an array that is staged.
    Lent(&'c [u8]),
}

impl Deref for ChunkBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Lent(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for ChunkBytes<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Own(Arc::new(bytes))
    }
}

/// Memory of chunks that are written, for those that come after them: fresh memory costs its page faults.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// An empty buffer.
    pub(super) fn take(&self) -> Vec<u8> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a chunk back, unless somebody else still has it.
    pub(super) fn give(&self, chunk: ChunkBytes<'_>) {
        let ChunkBytes::Own(chunk) = chunk else { return };
        if let Ok(mut buffer) = Arc::try_unwrap(chunk) {
            buffer.clear();
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }
}
