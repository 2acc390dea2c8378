//! Filter 1, deflate: one zlib stream (RFC 1950) a chunk, as `H5Zdeflate.c` writes it.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::buffer::Buffer;
use super::error::{Corruption, Fault};

/// The reusable state of one thread.
#[derive(Default)]
pub(super) struct State {
    decompressor: Option<Decompressor>,
    /// The compressor last used, and its level.
    compressor: Option<(u8, Compressor)>,
}

/// Decompresses one zlib stream; bytes behind its end are ignored, as zlib's `inflate` does.
pub(super) fn decode(state: &mut State, input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let decompressor = state.decompressor.get_or_insert_with(Decompressor::new);
    decompressor.zlib_decompress(input, out).map_err(|error| match error {
        DecompressionError::BadData => Corruption::Stream.into(),
        DecompressionError::InsufficientSpace => Fault::TooLong,
    })
}

/// Compresses to one zlib stream at `level`, 0 to 9.
pub(super) fn encode(
    state: &mut State,
    level: u8,
    input: &[u8],
    out: &mut Buffer,
) -> Result<(), Fault> {
    let compressor = match &mut state.compressor {
        Some((last, compressor)) if *last == level => compressor,
        slot => {
            let setting = CompressionLvl::new(i32::from(level)).map_err(|_| Fault::Encode)?;
            &mut slot.insert((level, Compressor::new(setting))).1
        }
    };
    let bound = compressor.zlib_compress_bound(input.len());
    let written =
        compressor.zlib_compress(input, out.prepare(bound)?).map_err(|_| Fault::Encode)?;
    out.set_len(written);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ends_where_it_says_and_no_earlier() {
        let mut state = State::default();
        let mut encoded = Buffer::default();
        encode(&mut state, 6, &[7; 100], &mut encoded).unwrap();
        let stream = encoded.filled().to_vec();
        let mut out = [0; 100];
        let longer = [&stream[..], &[1, 2, 3]].concat();
        assert_eq!(decode(&mut state, &longer, &mut out), Ok(100));
        for len in 0..stream.len() {
            let cut = decode(&mut state, &stream[..len], &mut out);
            assert_eq!(cut, Err(Corruption::Stream.into()), "{len}");
        }
        assert_eq!(decode(&mut state, &stream, &mut out[..99]), Err(Fault::TooLong));
    }
}
