//! Filter 32015, Zstandard: one frame a chunk. Blosc and bitshuffle hold frames too.

use ::zstd::zstd_safe::{CCtx, DCtx, compress_bound};

use super::error::{Corruption, Fault};

/// `ZSTD_error_dstSize_tooSmall` as functions of the library return it: negated.
const NO_ROOM: usize = 0usize.wrapping_sub(70);

/// The reusable state of one thread.
#[derive(Default)]
pub(super) struct State {
    decompressor: Option<DCtx<'static>>,
    compressor: Option<CCtx<'static>>,
}

/// Decompresses a frame into the start of `out`.
pub(super) fn decode(state: &mut State, input: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    if state.decompressor.is_none() {
        state.decompressor = DCtx::try_create();
    }
    let decompressor = state.decompressor.as_mut().ok_or(Fault::OutOfMemory { bytes: 0 })?;
    decompressor.decompress(out, input).map_err(|code| match code {
        NO_ROOM => Fault::TooLong,
        _ => Corruption::Stream.into(),
    })
}

/// The most bytes a frame of `len` bytes can take.
pub(super) fn bound(len: usize) -> usize {
    compress_bound(len)
}

/// Compresses to one frame and gives its length; fails where `out` is too small.
pub(super) fn encode(
    state: &mut State,
    level: i32,
    input: &[u8],
    out: &mut [u8],
) -> Result<usize, Fault> {
    if state.compressor.is_none() {
        state.compressor = CCtx::try_create();
    }
    let compressor = state.compressor.as_mut().ok_or(Fault::OutOfMemory { bytes: 0 })?;
    compressor.compress(out, input, level).map_err(|_| Fault::Encode)
}
