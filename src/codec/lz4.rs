//! Filter 32004, LZ4: the chunk's size, the block size, then blocks with their stored sizes.
//!
//! ```text
//! u64 BE  bytes of the chunk
//! u32 BE  bytes of a block; the last block may be shorter
//! for each block: u32 BE stored bytes, then an LZ4 block; raw bytes if as long as the block
//! ```
//!
//! Blosc and bitshuffle hold single LZ4 blocks.

use ::lz4::block::{CompressionMode, compress_bound, compress_to_buffer, decompress_to_buffer};

use super::buffer::Buffer;
use super::error::{Corruption, Fault};
use super::lz77::Writer;
use super::reader::Reader;

/// Block size where the parameters give none (`H5Zlz4.c`).
const DEFAULT_BLOCK: usize = 1 << 30;

/// Decodes a chunk into the start of `out`.
pub(super) fn decode(input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let mut reader = Reader(input);
    let total = usize::try_from(reader.u64_be()?).map_err(|_| Fault::TooLong)?;
    let block = reader.u32_be()?;
    let out = out.get_mut(..total).ok_or(Fault::TooLong)?;
    if block == 0 && total > 0 {
        return Err(Corruption::Header.into());
    }
    for block in out.chunks_mut(block.max(1)) {
        let len = reader.u32_be()?;
        let stored = reader.bytes(len)?;
        if stored.len() == block.len() {
            block.copy_from_slice(stored);
        } else {
            decode_block(stored, block)?;
        }
    }
    Ok(total)
}

/// Encodes a chunk in blocks of `block` bytes, 0 for the default.
pub(super) fn encode(block: usize, input: &[u8], out: &mut Buffer) -> Result<(), Fault> {
    let block = if block == 0 { DEFAULT_BLOCK } else { block }.min(input.len()).max(1);
    let block_bound = block_bound(block)?.saturating_add(4);
    let bound = input.len().div_ceil(block).saturating_mul(block_bound).saturating_add(12);
    let mut writer = Writer { out: out.prepare(bound)?, len: 0 };
    let total = u64::try_from(input.len()).map_err(|_| Fault::Encode)?;
    writer.put(&total.to_be_bytes())?;
    writer.put(&stored_size(block)?)?;
    for block in input.chunks(block) {
        let start = writer.len + 4;
        let room = writer.out.get_mut(start..).ok_or(Fault::Encode)?;
        let len = encode_block(Effort::Fast(1), block, room)?;
        if len < block.len() {
            writer.put(&stored_size(len)?)?;
            writer.len += len;
        } else {
            writer.put(&stored_size(block.len())?)?;
            writer.put(block)?;
        }
    }
    let written = writer.len;
    out.set_len(written);
    Ok(())
}

/// A stored size field.
fn stored_size(len: usize) -> Result<[u8; 4], Fault> {
    u32::try_from(len).map(u32::to_be_bytes).map_err(|_| Fault::Encode)
}

/// Decodes one LZ4 block, which must fill `out`.
pub(super) fn decode_block(input: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    // The wrapper casts both lengths to `i32`.
    let (Ok(_), Ok(len)) = (i32::try_from(input.len()), i32::try_from(out.len())) else {
        return Err(Fault::TooLong);
    };
    match decompress_to_buffer(input, Some(len), out) {
        Ok(written) if written == out.len() => Ok(()),
        _ => Err(Corruption::Stream.into()),
    }
}

/// How hard to look for matches.
#[derive(Clone, Copy)]
pub(super) enum Effort {
    /// LZ4's own search, with an acceleration factor from 1.
    Fast(i32),
    /// LZ4 HC at a level, 1 to 12.
    High(i32),
}

/// The most bytes a block of `len` bytes can take.
pub(super) fn block_bound(len: usize) -> Result<usize, Fault> {
    compress_bound(len).map_err(|_| Fault::Encode)
}

/// Compresses to one LZ4 block and gives its length; fails where `out` is too small.
pub(super) fn encode_block(effort: Effort, input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let mode = match effort {
        Effort::Fast(acceleration) => CompressionMode::FAST(acceleration),
        Effort::High(level) => CompressionMode::HIGHCOMPRESSION(level),
    };
    let room = block_bound(input.len())?.min(out.len());
    compress_to_buffer(input, Some(mode), false, &mut out[..room]).map_err(|_| Fault::Encode)
}
