//! Our filters for libhdf5, which does not bring them: it writes strings of variable length and the
//! format's hash tables, which are LZF, itself.

use std::ffi::CStr;

use h5strata_ffi::Lock;
use h5strata_ffi::h5z::{self, FilterCodec};

use crate::codec::{decode_one, encode_one, id, stored_name};

/// The filter with a number, run by our codec.
struct Ours<const ID: u16>;

impl<const ID: u16> FilterCodec for Ours<ID> {
    const ID: i32 = ID as i32;
    const NAME: &'static CStr = stored_name(ID);

    fn decode(parameters: &[u32], input: &[u8], size_hint: usize) -> Option<Vec<u8>> {
        decode_one(ID, parameters, input, size_hint).ok()
    }

    fn encode(parameters: &[u32], input: &[u8]) -> Option<Vec<u8>> {
        encode_one(ID, parameters, input).ok()
    }
}

/// Has libhdf5 know the filters.
///
/// Always ours, so that no plugin from the machine is looked for or loaded: filters behave as one
/// wherever the program runs.
pub(super) fn register(lock: &Lock) -> Result<(), h5strata_ffi::Error> {
    h5z::register::<Ours<{ id::LZF }>>(lock)?;
    h5z::register::<Ours<{ id::ZSTD }>>(lock)?;
    h5z::register::<Ours<{ id::LZ4 }>>(lock)?;
    h5z::register::<Ours<{ id::BLOSC }>>(lock)?;
    h5z::register::<Ours<{ id::BITSHUFFLE }>>(lock)?;
    h5z::register::<Ours<{ id::BZIP2 }>>(lock)
}
