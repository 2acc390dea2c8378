//! What one thread reuses from chunk to chunk.

use std::fmt;

use super::buffer::Buffer;
use super::{bitshuffle, blosc, deflate, szip, zstd};

/// Buffers and compressor state of one thread.
///
/// Two buffers take turns between the stages of a pipeline. Each grows to the largest intermediate
/// result met, and when decoding never beyond four times the chunk and 64 KiB; filters that work by
/// blocks hold at most three blocks besides, none longer than the chunk's intermediate result.
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
    pub(super) zstd: zstd::State,
    pub(super) bitshuffle: bitshuffle::State,
    pub(super) blosc: blosc::State,
    pub(super) szip: szip::State,
}

impl State {
    /// Blosc's own state, and that of the codecs it calls.
    pub(super) fn blosc(&mut self) -> (&mut blosc::State, blosc::Codecs<'_>) {
        let codecs = blosc::Codecs { deflate: &mut self.deflate, zstd: &mut self.zstd };
        (&mut self.blosc, codecs)
    }
}

impl Scratch {
    /// Bytes of memory held for intermediate results between chunks.
    #[must_use]
    pub fn capacity(&self) -> usize {
        let stages = self.front.capacity() + self.back.capacity();
        stages
            + self.state.bitshuffle.capacity()
            + self.state.blosc.capacity()
            + self.state.szip.capacity()
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
