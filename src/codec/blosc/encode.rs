//! Encoding a Blosc chunk.

use super::format::{
    CODEC_VERSION, Codec, HEADER_BYTES, Header, Settings, Shuffle, VERSION, flag, is_splittable,
};
use super::{Codecs, State, blosclz};
use crate::codec::bits::shuffle_bits;
use crate::codec::buffer::Buffer;
use crate::codec::error::Fault;
use crate::codec::lz4::{self, Effort};
use crate::codec::lz77::Writer;
use crate::codec::shuffle::shuffle;
use crate::codec::{deflate, zstd};

/// Block sizes by level, in units of [`BASE_BLOCK`] / 4, as c-blosc 1.21 chooses them.
const BLOCK_QUARTERS: [usize; 10] = [1, 2, 4, 8, 16, 16, 32, 32, 32, 32];
const BASE_BLOCK: usize = 32 << 10;
/// Bounds of a block that is split, in bytes.
const SPLIT_BLOCK: (usize, usize) = (64 << 10, 1 << 20);
/// The longest stream of a block that is split, in bytes.
const MAX_SPLIT_STREAM: usize = 256 << 10;
/// Zstandard levels by Blosc level.
const ZSTD_LEVELS: [i32; 10] = [1, 1, 3, 5, 7, 9, 11, 13, 15, 22];

/// Encodes a chunk; one that does not shrink is stored raw, 16 bytes longer.
pub(crate) fn encode(
    settings: Settings,
    state: &mut State,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    out: &mut Buffer,
) -> Result<(), Fault> {
    let room = out.prepare(input.len().saturating_add(HEADER_BYTES))?;
    let mut header = header(settings, input.len());
    let mut writer = Writer { out: room, len: HEADER_BYTES };
    if settings.level == 0
        || encode_blocks(&header, settings, state, codecs, input, &mut writer).is_err()
    {
        header.flags |= flag::RAW;
        writer.len = HEADER_BYTES;
        writer.put(input)?;
    }
    let written = writer.len;
    writer.len = 0;
    writer.put(&[VERSION, CODEC_VERSION, header.flags, header.element_size])?;
    for field in [header.total, header.block, written] {
        writer.put(&field_bytes(field)?)?;
    }
    out.set_len(written);
    Ok(())
}

/// The header of a chunk of `total` bytes.
fn header(settings: Settings, total: usize) -> Header {
    let element_size = usize::from(settings.element_size.max(1));
    let mut block = total;
    if total >= BASE_BLOCK {
        let quarters = BLOCK_QUARTERS[usize::from(settings.level.min(9))];
        let factor = match (settings.codec.is_high_ratio(), settings.level) {
            (false, _) => 1,
            (true, 0..9) => 2,
            (true, _) => 4,
        };
        block = BASE_BLOCK / 4 * quarters * factor;
    }
    // Zstandard came to Blosc together with the flag; the other codecs split as before.
    let split = settings.codec != Codec::Zstd && is_splittable(element_size, block);
    if split {
        block = (block.min(MAX_SPLIT_STREAM) * element_size).clamp(SPLIT_BLOCK.0, SPLIT_BLOCK.1);
    }
    block = block.min(total);
    if block > element_size {
        block -= block % element_size;
    }
    let shuffle = match settings.shuffle {
        Shuffle::None => 0,
        Shuffle::Bytes => flag::BYTE_SHUFFLE,
        Shuffle::Bits => flag::BIT_SHUFFLE,
    };
    let not_split = if split && is_splittable(element_size, block) { 0 } else { flag::NOT_SPLIT };
    let flags = settings.codec.flags() | shuffle | not_split;
    Header { flags, element_size: settings.element_size, total, block }
}

/// Writes the table of blocks and the blocks; fails where the room ends.
fn encode_blocks(
    header: &Header,
    settings: Settings,
    state: &mut State,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    writer: &mut Writer<'_>,
) -> Result<(), Fault> {
    let mut table = writer.len;
    let blocks = input.len().div_ceil(header.block.max(1));
    writer.len += blocks * 4;
    for block in input.chunks(header.block.max(1)) {
        let start = field_bytes(writer.len)?;
        let entry = writer.out.get_mut(table..table + 4).ok_or(Fault::Encode)?;
        entry.copy_from_slice(&start);
        table += 4;
        encode_block(header, settings, state, codecs, block, writer)?;
    }
    Ok(())
}

/// Writes one block.
fn encode_block(
    header: &Header,
    settings: Settings,
    state: &mut State,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    writer: &mut Writer<'_>,
) -> Result<(), Fault> {
    let element_size = usize::from(header.element_size);
    let rearranged = match header.shuffle(input.len()) {
        Shuffle::None => input,
        Shuffle::Bytes => {
            let room = state.block.prepare(input.len())?;
            shuffle(element_size, input, room);
            room
        }
        Shuffle::Bits => {
            let room = state.block.prepare(input.len())?;
            // Bytes behind the last whole element stay where they are.
            let whole = input.len() / element_size * element_size;
            let (elements, rest) = room.split_at_mut(whole);
            rest.copy_from_slice(&input[whole..]);
            shuffle_bits(element_size, &input[..whole], &mut state.temp, elements)?;
            room
        }
    };
    let streams = header.streams(input.len());
    for stream in rearranged.chunks((input.len() / streams).max(1)) {
        let encoded = encode_stream(settings, codecs, stream, &mut state.stream);
        let stored = match encoded {
            Ok(()) if state.stream.len() < stream.len() => state.stream.filled(),
            _ => stream,
        };
        writer.put(&field_bytes(stored.len())?)?;
        writer.put(stored)?;
    }
    Ok(())
}

/// Compresses one stream.
fn encode_stream(
    settings: Settings,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    out: &mut Buffer,
) -> Result<(), Fault> {
    let level = settings.level;
    let written = match settings.codec {
        Codec::BloscLz => return blosclz::encode(input, out),
        Codec::Zlib => return deflate::encode(codecs.deflate, level, input, out),
        Codec::Lz4 => {
            let effort = Effort::Fast(10 - i32::from(level));
            lz4::encode_block(effort, input, out.prepare(lz4::block_bound(input.len())?)?)?
        }
        Codec::Lz4Hc => {
            let effort = Effort::High(i32::from(level));
            lz4::encode_block(effort, input, out.prepare(lz4::block_bound(input.len())?)?)?
        }
        Codec::Snappy => {
            let room = out.prepare(snap::raw::max_compress_len(input.len()))?;
            snap::raw::Encoder::new().compress(input, room).map_err(|_| Fault::Encode)?
        }
        Codec::Zstd => {
            let level = ZSTD_LEVELS[usize::from(level.min(9))];
            zstd::encode(codecs.zstd, level, input, out.prepare(zstd::bound(input.len()))?)?
        }
    };
    out.set_len(written);
    Ok(())
}

/// A 32-bit field of the format; c-blosc reads it as signed.
fn field_bytes(value: usize) -> Result<[u8; 4], Fault> {
    i32::try_from(value).map(i32::to_le_bytes).map_err(|_| Fault::Encode)
}
