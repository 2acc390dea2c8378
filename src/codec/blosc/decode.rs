//! Decoding a Blosc chunk.

use super::format::{Codec, HEADER_BYTES, Header, Shuffle, flag};
use super::{Codecs, State, blosclz};
use crate::codec::bits::unshuffle_bits;
use crate::codec::error::{Corruption, Fault};
use crate::codec::reader::Reader;
use crate::codec::shuffle::unshuffle;
use crate::codec::{deflate, lz4, zstd};

/// Decodes a chunk into the start of `out`.
pub(crate) fn decode(
    state: &mut State,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    out: &mut [u8],
) -> Result<usize, Fault> {
    let header = Header::parse(input)?;
    let out = out.get_mut(..header.total).ok_or(Fault::TooLong)?;
    let mut body = Reader(input.get(HEADER_BYTES..).unwrap_or_default());
    if header.flags & flag::RAW != 0 {
        out.copy_from_slice(body.bytes(header.total)?);
        return Ok(header.total);
    }
    let codec = Codec::from_flags(header.flags).ok_or(Corruption::Variant)?;
    for block in out.chunks_mut(header.block.max(1)) {
        let start = body.u32_le()?;
        let mut streams = Reader(input.get(start..).ok_or(Corruption::Header)?);
        decode_block(&header, codec, state, codecs, &mut streams, block)?;
    }
    Ok(header.total)
}

/// Decodes one block, filling `out`.
fn decode_block(
    header: &Header,
    codec: Codec,
    state: &mut State,
    codecs: &mut Codecs<'_>,
    reader: &mut Reader<'_>,
    out: &mut [u8],
) -> Result<(), Fault> {
    let element_size = usize::from(header.element_size);
    let shuffle = header.shuffle(out.len());
    if shuffle == Shuffle::None {
        return decode_streams(header, codec, codecs, reader, out);
    }
    let shuffled = state.block.prepare(out.len())?;
    decode_streams(header, codec, codecs, reader, shuffled)?;
    if shuffle == Shuffle::Bytes {
        unshuffle(element_size, shuffled, out);
        return Ok(());
    }
    // Bytes behind the last whole element stay where they are.
    let whole = out.len() / element_size * element_size;
    let (elements, rest) = out.split_at_mut(whole);
    rest.copy_from_slice(&shuffled[whole..]);
    unshuffle_bits(element_size, &shuffled[..whole], &mut state.temp, elements)
}

/// Decodes the streams of one block, filling `out`.
fn decode_streams(
    header: &Header,
    codec: Codec,
    codecs: &mut Codecs<'_>,
    reader: &mut Reader<'_>,
    out: &mut [u8],
) -> Result<(), Fault> {
    let streams = header.streams(out.len());
    if !out.len().is_multiple_of(streams) {
        return Err(Corruption::Header.into());
    }
    for stream in out.chunks_mut(out.len() / streams) {
        let len = reader.u32_le()?;
        let stored = reader.bytes(len)?;
        if stored.len() == stream.len() {
            stream.copy_from_slice(stored);
        } else {
            decode_stream(codec, codecs, stored, stream)?;
        }
    }
    Ok(())
}

/// Decompresses one stream, which must fill `out`.
fn decode_stream(
    codec: Codec,
    codecs: &mut Codecs<'_>,
    input: &[u8],
    out: &mut [u8],
) -> Result<(), Fault> {
    let written = match codec {
        Codec::BloscLz => blosclz::decode(input, out)?,
        Codec::Lz4 | Codec::Lz4Hc => return lz4::decode_block(input, out),
        Codec::Snappy => {
            snap::raw::Decoder::new().decompress(input, out).map_err(|_| Corruption::Stream)?
        }
        Codec::Zlib => deflate::decode(codecs.deflate, input, out)?,
        Codec::Zstd => zstd::decode(codecs.zstd, input, out)?,
    };
    if written == out.len() { Ok(()) } else { Err(Corruption::Stream.into()) }
}
