//! Filters for new datasets, as h5py 3.16 and hdf5plugin 7.1 ask for them.
//!
//! A constructor gives what is asked for; [`Filter::localised`] adds what the filter learns from
//! the dataset, as the `set_local` callback of its plugin does.

use super::bitshuffle::Compression;
use super::blosc::{Codec, Shuffle};
use super::error::CodecError;
use super::filter::{Filter, id, stored_name};
use super::layout::ChunkLayout;

/// Filter version and format version of LZF (`H5PY_FILTER_LZF_VERSION`, `LZF_VERSION`).
const LZF_VERSIONS: [u32; 2] = [4, 0x105];
/// Filter version and format version of Blosc (`FILTER_BLOSC_VERSION`, `BLOSC_VERSION_FORMAT`).
const BLOSC_VERSIONS: [u32; 2] = [2, 2];
/// Version of bitshuffle (`BSHUF_VERSION_MAJOR`, `BSHUF_VERSION_MINOR`).
const BITSHUFFLE_VERSION: [u32; 2] = [0, 4];
/// Elements of more bytes are bytes for Blosc (`BLOSC_MAX_TYPESIZE`).
const BLOSC_MAX_ELEMENT: u32 = 255;

impl Filter {
    /// An optional filter by id and parameters: whatever h5py takes as a number.
    #[must_use]
    pub fn raw(id: u16, params: Vec<u32>) -> Self {
        let name = stored_name(id).to_string_lossy().into_owned();
        Self { id, optional: true, params, name }
    }

    /// Deflate at a level, 0 to 9.
    #[must_use]
    pub fn gzip(level: u8) -> Self {
        Self::raw(id::DEFLATE, vec![level.into()])
    }

    /// Byte shuffle.
    #[must_use]
    pub fn shuffle() -> Self {
        Self::raw(id::SHUFFLE, Vec::new())
    }

    /// A Fletcher checksum, which no chunk goes without.
    #[must_use]
    pub fn fletcher32() -> Self {
        Self { optional: false, ..Self::raw(id::FLETCHER32, Vec::new()) }
    }

    /// LZF.
    #[must_use]
    pub fn lzf() -> Self {
        Self::raw(id::LZF, Vec::new())
    }

    /// Zstandard at a level; 3 is hdf5plugin's default.
    #[must_use]
    pub fn zstd(level: i32) -> Self {
        Self::raw(id::ZSTD, vec![level.cast_unsigned()])
    }

    /// LZ4 in blocks of so many bytes; 0 for the filter's default of 1 GiB.
    #[must_use]
    pub fn lz4(block_bytes: u32) -> Self {
        Self::raw(id::LZ4, vec![block_bytes])
    }

    /// bzip2 at a level, 1 to 9.
    #[must_use]
    pub fn bzip2(level: u8) -> Self {
        Self::raw(id::BZIP2, vec![level.into()])
    }

    /// Blosc with a codec at a level, 0 to 9; hdf5plugin's defaults are LZ4, 5 and bytes.
    #[must_use]
    pub fn blosc(codec: Codec, level: u8, shuffle: Shuffle) -> Self {
        Self::raw(id::BLOSC, vec![0, 0, 0, 0, level.into(), shuffle.code(), codec.code()])
    }

    /// Bitshuffle in blocks of a multiple of eight elements, 0 for the filter's default.
    #[must_use]
    pub fn bitshuffle(compression: Compression, block_elements: u32) -> Self {
        let params = match compression {
            Compression::None => vec![block_elements, 0],
            Compression::Lz4 => vec![block_elements, 2],
            Compression::Zstd(level) => vec![block_elements, 3, level.cast_unsigned()],
        };
        Self::raw(id::BITSHUFFLE, params)
    }

    /// The filter with the parameters that it has on a dataset of this layout; any other filter than
    /// shuffle, LZF, Blosc and bitshuffle is as it was. May be repeated, and moves a filter of one
    /// dataset to another one.
    ///
    /// # Errors
    /// [`CodecError::VariableLength`] for a filter that is not optional, on elements of variable length.
    pub fn localised(mut self, layout: &ChunkLayout) -> Result<Self, CodecError> {
        let (element_size, base_size, chunk_bytes) = match *layout {
            ChunkLayout::Variable if self.optional => return Ok(self),
            ChunkLayout::Variable => return Err(CodecError::VariableLength { id: self.id }),
            ChunkLayout::Fixed { element_size, base_size, chunk_bytes } => {
                (element_size, base_size, chunk_bytes)
            }
        };
        let params = &mut self.params;
        match self.id {
            id::SHUFFLE => *params = vec![element_size],
            id::LZF => {
                at_least(params, 3);
                for (param, version) in params.iter_mut().zip(LZF_VERSIONS) {
                    *param = if *param == 0 { version } else { *param };
                }
                params[2] = chunk_bytes;
            }
            id::BLOSC => {
                at_least(params, 4);
                let element = if base_size > BLOSC_MAX_ELEMENT { 1 } else { base_size };
                let [filter, format] = BLOSC_VERSIONS;
                params[..4].copy_from_slice(&[filter, format, element, chunk_bytes]);
            }
            id::BITSHUFFLE if is_local_bitshuffle(params) => params[2] = element_size,
            id::BITSHUFFLE => {
                let [major, minor] = BITSHUFFLE_VERSION;
                params.splice(..0, [major, minor, element_size]);
            }
            _ => {}
        }
        Ok(self)
    }
}

/// Fills up with zeros to at least `count` parameters.
fn at_least(params: &mut Vec<u32>, count: usize) {
    params.resize(params.len().max(count), 0);
}

/// Whether bitshuffle's parameters are those of a dataset, `[major, minor, element size, block,
/// compression, level]`, and not those of a request, `[block, compression, level]`.
///
/// Those of a dataset are three only where no compression was asked for, and its code, 0, 2 or 3, is
/// no minor version that wrote such.
fn is_local_bitshuffle(params: &[u32]) -> bool {
    match params {
        [_, minor, _] => !matches!(minor, 0 | 2 | 3),
        params => params.len() > 3,
    }
}
