//! LZF for libhdf5, which does not bring it: the format's hash tables use it.

use std::ffi::CStr;

use h5strata_ffi::Lock;
use h5strata_ffi::h5z::{self, FilterCodec};

use crate::codec::{decode_lzf, encode_lzf};

/// Where h5py's filter parameters keep the bytes of a chunk.
const CHUNK_BYTES: usize = 2;

/// What a checksum in front of the filter adds to a chunk.
const CHECKSUM: usize = 4;

/// Bytes that one stored byte can stand for at most: a match of three bytes gives 264.
const MOST_EXPANSION: usize = 88;

struct Lzf;

impl FilterCodec for Lzf {
    const ID: i32 = 32000;
    const NAME: &'static CStr = c"lzf";

    fn decode(parameters: &[u32], input: &[u8], size_hint: usize) -> Option<Vec<u8>> {
        let stated = parameters.get(CHUNK_BYTES).and_then(|&bytes| usize::try_from(bytes).ok());
        let most = stated.unwrap_or(0).max(size_hint).checked_add(CHECKSUM)?;
        // What the parameters state is not believed beyond what the bytes can hold.
        decode_lzf(input, most.min(input.len().saturating_mul(MOST_EXPANSION)))
    }

    fn encode(_parameters: &[u32], input: &[u8]) -> Option<Vec<u8>> {
        encode_lzf(input).filter(|encoded| encoded.len() < input.len())
    }
}

/// Has libhdf5 know the filter.
pub(super) fn register(lock: &Lock) -> Result<(), h5strata_ffi::Error> {
    h5z::register::<Lzf>(lock)
}
