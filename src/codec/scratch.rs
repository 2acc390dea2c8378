//! What one thread reuses from chunk to chunk.

use std::fmt;

use super::buffer::Buffer;
use super::deflate;

/// Buffers and compressor state of one thread.
///
/// Two buffers take turns between the stages of a pipeline. Each grows to the largest intermediate result met, and
/// never beyond the bound of [`Pipeline`](super::Pipeline).
#[derive(Default)]
pub struct Scratch {
    /// The bytes of the stage in work.
    pub(super) front: Buffer,
    /// Where the next stage writes.
    pub(super) back: Buffer,
    /// The state of the single filters.
    pub(super) state: State,
}

/// What single filters reuse.
#[derive(Default)]
pub(super) struct State {
    pub(super) deflate: deflate::State,
}

impl Scratch {
    /// Bytes of memory held between chunks, without the state of the compressors.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.front.capacity() + self.back.capacity()
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
