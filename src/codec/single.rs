//! One filter alone, for libhdf5: it runs pipelines itself and tells a filter no chunk size.

use super::buffer::Buffer;
use super::error::{CodecError, Fault};
use super::filter::{Filter, id};
use super::scratch::State;
use super::stage::{Stage, Transform};

/// Where LZF and Blosc keep the bytes of a chunk in their parameters.
const LZF_CHUNK_BYTES: usize = 2;
const BLOSC_CHUNK_BYTES: usize = 3;

/// What other filters in front of one can add to a chunk's bytes, such as a checksum.
const SLACK: usize = 64;

/// What stored bytes are believed to hold at most, as a multiple of their own length ...
const MOST_EXPANSION: usize = 1024;
/// ... and on top of that, in bytes: a few stored bytes can stand for a whole chunk of zeros.
const MOST_SLACK: usize = 64 << 20;

/// Applies a filter to bytes.
///
/// # Errors
/// What [`Pipeline::encode`](super::Pipeline::encode) names; [`CodecError::Encode`] also where LZF
/// or Blosc would make the bytes no shorter, as their plugins fail then.
pub(crate) fn encode_one(id: u16, params: &[u32], input: &[u8]) -> Result<Vec<u8>, CodecError> {
    let transform = transform(id, params)?;
    let mut out = Buffer::default();
    let encoded = transform.encode(&mut State::default(), input, &mut out);
    encoded.map_err(|fault| fault.in_filter(id, input.len()))?;
    if matches!(id, id::LZF | id::BLOSC) && out.len() >= input.len() {
        return Err(CodecError::Encode { filter: id });
    }
    Ok(out.filled().to_vec())
}

/// The first `count` bytes of what LZF has encoded, which ought to be few: they are made room for.
///
/// # Errors
/// [`CodecError`] of a damaged stream, or one of fewer bytes.
pub(crate) fn decode_first_by_lzf(input: &[u8], count: usize) -> Result<Vec<u8>, CodecError> {
    super::lzf::decode_first(input, count).map_err(|fault| fault.in_filter(id::LZF, input.len()))
}

/// Undoes a filter; `size_hint` is a first guess at how many bytes that gives.
///
/// # Errors
/// What [`Pipeline::decode_into`](super::Pipeline::decode_into) names.
pub(crate) fn decode_one(
    id: u16,
    params: &[u32],
    input: &[u8],
    size_hint: usize,
) -> Result<Vec<u8>, CodecError> {
    let transform = transform(id, params)?;
    let mut state = State::default();
    let mut out = Buffer::default();
    let most = input.len().saturating_mul(MOST_EXPANSION).saturating_add(MOST_SLACK);
    // What the parameters state is a guess as well, believed no further than the bytes may hold.
    let stated = match id {
        id::LZF => params.get(LZF_CHUNK_BYTES),
        id::BLOSC => params.get(BLOSC_CHUNK_BYTES),
        _ => None,
    };
    let stated = stated.and_then(|&bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let believed = stated.min(input.len().saturating_mul(MOST_EXPANSION));
    let mut room = size_hint.max(believed).max(input.len()).saturating_add(SLACK).min(most);
    loop {
        let decoded = out.prepare(room).and_then(|out| transform.decode(&mut state, input, out));
        match decoded {
            Ok(written) => {
                out.set_len(written);
                return Ok(out.filled().to_vec());
            }
            Err(Fault::TooLong) if room < most => room = room.saturating_mul(4).min(most),
            Err(fault) => return Err(fault.in_filter(id, room)),
        }
    }
}

/// The filter, if it rewrites bytes and can be applied.
fn transform(id: u16, params: &[u32]) -> Result<Transform, CodecError> {
    let filter = Filter { id, optional: false, params: params.to_vec(), name: String::new() };
    match Stage::new(&filter, 1) {
        Stage::Transform(transform) => Ok(transform),
        Stage::Refused(reason) => Err(reason),
        Stage::Identity | Stage::Checksum => Err(CodecError::Encode { filter: id }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filters of libhdf5's plugins, with the parameters they have on strings of variable length too.
    const FILTERS: [(u16, &[u32]); 9] = [
        (id::LZF, &[]),
        (id::LZF, &[4, 261, 8000]),
        (id::ZSTD, &[3]),
        (id::LZ4, &[0]),
        (id::BZIP2, &[9]),
        (id::BLOSC, &[2, 2, 8, 8000, 5, 1, 1]),
        (id::BLOSC, &[2, 2, 8, 16, 5, 1, 1]),
        (id::BITSHUFFLE, &[0, 4, 8, 0, 2]),
        (id::BITSHUFFLE, &[0, 4, 8, 0, 3, 3]),
    ];

    #[test]
    fn what_is_encoded_decodes_whatever_the_size_hint() {
        for (id, params) in FILTERS {
            for len in [8, 8000, 1 << 20] {
                let bytes: Vec<u8> = (0..len).map(|i: usize| (i / 256).to_le_bytes()[0]).collect();
                // Too short to shrink.
                let Ok(encoded) = encode_one(id, params, &bytes) else {
                    assert!(len == 8 && matches!(id, id::LZF | id::BLOSC), "{id} {len}");
                    continue;
                };
                for hint in [0, 1, len, 2 * len] {
                    let decoded = decode_one(id, params, &encoded, hint);
                    assert!(decoded.as_deref() == Ok(&bytes), "{id} {params:?} {len} {hint}");
                }
            }
        }
    }

    #[test]
    fn a_few_bytes_are_not_believed_to_hold_gigabytes() {
        // LZ4 and bitshuffle that state a chunk of 1 TiB.
        let stated = [&(1_u64 << 40).to_be_bytes()[..], &[0, 0, 16, 0]].concat();
        for (id, params) in [(id::LZ4, &[0][..]), (id::BITSHUFFLE, &[0, 4, 8, 0, 2])] {
            let refused = decode_one(id, params, &stated, 100);
            let limit = stated.len() * MOST_EXPANSION + MOST_SLACK;
            assert_eq!(refused, Err(CodecError::TooLong { filter: id, limit }));
        }
        let lying = decode_one(id::LZF, &[4, 261, u32::MAX], &[3, 1, 2], 0);
        assert!(matches!(lying, Err(CodecError::Corrupt { .. })), "{lying:?}");
    }
}
