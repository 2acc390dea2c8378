//! Filter 32008, bitshuffle: bit shuffle by blocks, each block compressed or not.
//!
//! Blocks hold a multiple of eight elements; the last one is shorter, and the up to seven elements
//! behind it are stored as they are. With compression:
//!
//! ```text
//! u64 BE  bytes of the chunk
//! u32 BE  bytes of a block
//! for each block: u32 BE stored bytes, then an LZ4 block or a Zstandard frame
//! the remaining elements
//! ```

use super::bits::{GROUP, shuffle_bits, unshuffle_bits};
use super::buffer::Buffer;
use super::error::{CodecError, Corruption, Fault};
use super::lz4::{self, Effort};
use super::lz77::Writer;
use super::params::Params;
use super::reader::Reader;
use super::zstd;

/// Bytes a block aims at where the parameters give no block size (`bshuf_default_block_size`).
const TARGET_BLOCK_BYTES: usize = 8192;
/// Elements a block then has at least.
const MIN_BLOCK_ELEMENTS: usize = 128;

/// What compresses the blocks of a bitshuffle chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Nothing.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard at a level.
    Zstd(i32),
}

/// The filter's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Bytes of an element, above 0.
    pub(super) element_size: usize,
    /// Elements of a block; 0 for the default.
    pub(super) block_elements: usize,
    /// What compresses a block.
    pub(super) compression: Compression,
}

/// The reusable state of one thread.
#[derive(Default)]
pub(super) struct State {
    /// Between the two steps of the bit shuffle.
    temp: Buffer,
    /// A block shuffled and not compressed.
    block: Buffer,
}

impl State {
    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.temp.capacity() + self.block.capacity()
    }
}

/// Decodes a chunk into the start of `out`.
pub(super) fn decode(
    settings: Settings,
    state: &mut State,
    zstd: &mut zstd::State,
    input: &[u8],
    out: &mut [u8],
) -> Result<usize, Fault> {
    let mut reader = Reader(input);
    let (total, block_elements) = match settings.compression {
        Compression::None => (input.len(), settings.block_elements),
        Compression::Lz4 | Compression::Zstd(_) => {
            let total = usize::try_from(reader.u64_be()?).map_err(|_| Fault::TooLong)?;
            (total, reader.u32_be()? / settings.element_size)
        }
    };
    let out = out.get_mut(..total).ok_or(Fault::TooLong)?;
    let block_bytes = settings.block_bytes(block_elements, total).ok_or(Corruption::Header)?;
    let (shuffled, rest) = out.split_at_mut(settings.shuffled_bytes(total));
    for block in shuffled.chunks_mut(block_bytes) {
        let bits = match settings.compression {
            Compression::None => reader.bytes(block.len())?,
            compression => {
                let len = reader.u32_be()?;
                let stored = reader.bytes(len)?;
                let room = state.block.prepare(block.len())?;
                if compression == Compression::Lz4 {
                    lz4::decode_block(stored, room)?;
                } else if zstd::decode(zstd, stored, room)? != block.len() {
                    return Err(Corruption::Stream.into());
                }
                room
            }
        };
        unshuffle_bits(settings.element_size, bits, &mut state.temp, block)?;
    }
    rest.copy_from_slice(reader.bytes(rest.len())?);
    Ok(total)
}

/// Encodes a chunk, which must hold whole elements.
pub(super) fn encode(
    settings: Settings,
    state: &mut State,
    zstd: &mut zstd::State,
    input: &[u8],
    out: &mut Buffer,
) -> Result<(), Fault> {
    let total = input.len();
    let block_bytes = settings.block_bytes(settings.block_elements, total).ok_or(Fault::Encode)?;
    let (shuffled, rest) = input.split_at(settings.shuffled_bytes(total));
    let block_bound = settings.block_bound(block_bytes.min(total))?;
    let blocks = shuffled.len().div_ceil(block_bytes);
    let bound = blocks.saturating_mul(block_bound).saturating_add(12 + rest.len());
    let mut writer = Writer { out: out.prepare(bound)?, len: 0 };
    if settings.compression != Compression::None {
        writer.put(&u64::try_from(total).map_err(|_| Fault::Encode)?.to_be_bytes())?;
        writer.put(&u32::try_from(block_bytes).map_err(|_| Fault::Encode)?.to_be_bytes())?;
    }
    for block in shuffled.chunks(block_bytes) {
        let bits = state.block.prepare(block.len())?;
        shuffle_bits(settings.element_size, block, &mut state.temp, bits)?;
        let room = writer.out.get_mut(writer.len + 4..).unwrap_or_default();
        let len = match settings.compression {
            Compression::None => {
                writer.put(bits)?;
                continue;
            }
            Compression::Lz4 => lz4::encode_block(Effort::Fast(1), bits, room)?,
            Compression::Zstd(level) => zstd::encode(zstd, level, bits, room)?,
        };
        writer.put(&u32::try_from(len).map_err(|_| Fault::Encode)?.to_be_bytes())?;
        writer.len += len;
    }
    writer.put(rest)?;
    let written = writer.len;
    out.set_len(written);
    Ok(())
}

impl Settings {
    /// Reads `[major, minor, element size, block size in elements, compression, level]`
    /// (`bshuf_h5filter.c`).
    pub(super) fn new(params: &Params<'_>) -> Result<Self, CodecError> {
        let block = params.or_default(3, 0);
        if !block.value().is_multiple_of(8) {
            return Err(block.refused());
        }
        Ok(Self {
            element_size: params.element_size(2)?,
            block_elements: block.length()?,
            compression: match params.or_default(4, 0).value() {
                2 => Compression::Lz4,
                3 => Compression::Zstd(params.or_default(5, 0).value().cast_signed()),
                _ => Compression::None,
            },
        })
    }

    /// Bytes of a block in a chunk of `total` bytes; `None` where the filter allows no such block
    /// or chunk.
    fn block_bytes(&self, elements: usize, total: usize) -> Option<usize> {
        let elements = match elements {
            0 => {
                let fitting = TARGET_BLOCK_BYTES / self.element_size / GROUP * GROUP;
                fitting.max(MIN_BLOCK_ELEMENTS)
            }
            given => given,
        };
        let allowed = elements.is_multiple_of(GROUP) && total.is_multiple_of(self.element_size);
        elements.checked_mul(self.element_size).filter(|_| allowed)
    }

    /// Bytes of a chunk that belong to blocks.
    fn shuffled_bytes(&self, total: usize) -> usize {
        let elements = total / self.element_size;
        elements / GROUP * GROUP * self.element_size
    }

    /// The most bytes an encoded block of `len` bytes takes, its length field with it.
    fn block_bound(&self, len: usize) -> Result<usize, Fault> {
        Ok(4 + match self.compression {
            Compression::None => len,
            Compression::Lz4 => lz4::block_bound(len)?,
            Compression::Zstd(_) => zstd::bound(len),
        })
    }
}
