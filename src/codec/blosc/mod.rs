//! Filter 32001, Blosc 1: blocks shuffled by bytes or bits, each compressed by one of five codecs.
//!
//! ```text
//! u8      format version, 2
//! u8      version of the codec's format, 1
//! u8      flags: 0x01 byte shuffle, 0x02 stored raw, 0x04 bit shuffle, 0x10 blocks not split,
//!         0xe0 codec (0 BloscLZ, 1 LZ4, 2 Snappy, 3 zlib, 4 Zstandard)
//! u8      bytes of an element
//! u32 LE  bytes of the chunk
//! u32 LE  bytes of a block; the last block may be shorter
//! u32 LE  bytes of all this
//! u32 LE  for each block: where it starts, from the first byte of the header
//! for each block, for each of its streams: u32 LE stored bytes, then the bytes; raw if as long as the stream
//! ```
//!
//! A block that is split has one stream for each byte of an element. The rules are those of
//! c-blosc 1.21; chunks of Blosc 2 (another filter id) have another header and are refused.

mod blosclz;
mod decode;
mod encode;
mod format;

use super::buffer::Buffer;
use super::{deflate, zstd};

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use format::Settings;
pub use format::{Codec, Shuffle};

/// What a thread reuses for blocks.
#[derive(Default)]
pub(super) struct State {
    /// A block between shuffle and codec.
    block: Buffer,
    /// A stream just compressed.
    stream: Buffer,
    /// Between the two steps of the bit shuffle.
    temp: Buffer,
}

impl State {
    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.block.capacity() + self.stream.capacity() + self.temp.capacity()
    }
}

/// The state of the codecs inside, shared with the filters of their own.
pub(super) struct Codecs<'a> {
    pub(super) deflate: &'a mut deflate::State,
    pub(super) zstd: &'a mut zstd::State,
}
