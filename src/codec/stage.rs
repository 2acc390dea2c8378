//! One filter of a pipeline, ready to run: its parameters checked, its size arithmetic known.

use super::bitshuffle::Compression;
use super::buffer::Buffer;
use super::error::{CodecError, Fault};
use super::filter::{Filter, id};
use super::params::Params;
use super::scratch::State;
use super::{bitshuffle, blosc, bzip2, deflate, fletcher32, lz4, lzf, shuffle, szip, zstd};

/// What a filter does to a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing, whatever the chunk.
    Identity,
    /// Puts a Fletcher checksum behind the bytes.
    Checksum,
    /// Rewrites the bytes.
    Transform(Transform),
    /// Cannot run here, for this reason.
    Refused(CodecError),
}

/// A filter that rewrites bytes, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transform {
    Deflate {
        level: u8,
    },
    Shuffle {
        element_size: usize,
    },
    Lzf,
    Zstd {
        level: i32,
    },
    Lz4 {
        block: usize,
    },
    Bzip2 {
        level: u8,
    },
    Bitshuffle(bitshuffle::Settings),
    Blosc(blosc::Settings),
    /// Decoded only.
    Szip(szip::Settings),
}

impl Stage {
    /// Reads a filter's parameters; `element_size` is used where the filter's own is not stored.
    pub(super) fn new(filter: &Filter, element_size: usize) -> Self {
        Self::parse(filter, element_size).unwrap_or_else(Stage::Refused)
    }

    fn parse(filter: &Filter, element_size: usize) -> Result<Self, CodecError> {
        let params = Params { filter, element_size };
        Ok(Stage::Transform(match filter.id {
            id::DEFLATE => Transform::Deflate { level: params.required(0)?.in_range(0, 9)? },
            id::SHUFFLE => match params.element_size(0)? {
                1 => return Ok(Stage::Identity),
                element_size => Transform::Shuffle { element_size },
            },
            id::FLETCHER32 => return Ok(Stage::Checksum),
            id::LZF => Transform::Lzf,
            // A signed level, stored as its 32-bit pattern.
            id::ZSTD => Transform::Zstd { level: params.or_default(0, 3).value().cast_signed() },
            id::LZ4 => Transform::Lz4 { block: params.or_default(0, 0).length()? },
            id::BZIP2 => Transform::Bzip2 { level: params.or_default(0, 9).in_range(1, 9)? },
            id::BITSHUFFLE => Transform::Bitshuffle(bitshuffle::Settings::new(&params)?),
            id::SZIP => Transform::Szip(szip::Settings::new(&params)?),
            id::BLOSC => Transform::Blosc(blosc::Settings::new(&params)?),
            id::NBIT | id::SCALE_OFFSET => {
                return Err(CodecError::NeedsLibrary { id: filter.id });
            }
            unknown => {
                let name = filter.best_name().to_owned();
                return Err(CodecError::UnknownFilter { id: unknown, name });
            }
        }))
    }

    /// The encoded size of `decoded` bytes, where it does not depend on what they are.
    pub(super) fn encoded_size(&self, decoded: usize) -> Option<usize> {
        match self {
            Stage::Identity => Some(decoded),
            Stage::Checksum => decoded.checked_add(fletcher32::CHECKSUM_BYTES),
            Stage::Transform(transform) if !transform.compresses() => Some(decoded),
            Stage::Transform(_) | Stage::Refused(_) => None,
        }
    }
}

impl Transform {
    /// Whether the filter is there to make chunks smaller.
    pub(super) fn compresses(&self) -> bool {
        match self {
            Transform::Shuffle { .. } => false,
            Transform::Bitshuffle(settings) => settings.compression != Compression::None,
            _ => true,
        }
    }

    /// Decodes into the start of `out` and gives the number of bytes written.
    pub(super) fn decode(
        &self,
        state: &mut State,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Fault> {
        match *self {
            Transform::Deflate { .. } => deflate::decode(&mut state.deflate, input, out),
            Transform::Shuffle { element_size } => {
                shuffle::unshuffle(element_size, input, same_size(input, out)?);
                Ok(input.len())
            }
            Transform::Lzf => lzf::decode(input, out),
            Transform::Zstd { .. } => zstd::decode(&mut state.zstd, input, out),
            Transform::Lz4 { .. } => lz4::decode(input, out),
            Transform::Bzip2 { .. } => bzip2::decode(input, out),
            Transform::Bitshuffle(settings) => {
                bitshuffle::decode(settings, &mut state.bitshuffle, &mut state.zstd, input, out)
            }
            Transform::Szip(settings) => szip::decode(settings, &mut state.szip, input, out),
            Transform::Blosc(_) => {
                let (blosc, mut codecs) = state.blosc();
                blosc::decode(blosc, &mut codecs, input, out)
            }
        }
    }

    /// Encodes into `out`, whose content is replaced.
    pub(super) fn encode(
        &self,
        state: &mut State,
        input: &[u8],
        out: &mut Buffer,
    ) -> Result<(), Fault> {
        match *self {
            Transform::Deflate { level } => deflate::encode(&mut state.deflate, level, input, out),
            Transform::Shuffle { element_size } => {
                shuffle::shuffle(element_size, input, out.prepare(input.len())?);
                out.set_len(input.len());
                Ok(())
            }
            Transform::Lzf => lzf::encode(input, out),
            Transform::Zstd { level } => {
                let room = out.prepare(zstd::bound(input.len()))?;
                let written = zstd::encode(&mut state.zstd, level, input, room)?;
                out.set_len(written);
                Ok(())
            }
            Transform::Lz4 { block } => lz4::encode(block, input, out),
            Transform::Bzip2 { level } => bzip2::encode(level, input, out),
            Transform::Bitshuffle(settings) => {
                bitshuffle::encode(settings, &mut state.bitshuffle, &mut state.zstd, input, out)
            }
            Transform::Szip(_) => Err(Fault::Encode),
            Transform::Blosc(settings) => {
                let (blosc, mut codecs) = state.blosc();
                blosc::encode(settings, blosc, &mut codecs, input, out)
            }
        }
    }
}

/// The part of `out` that is as long as `input`.
fn same_size<'a>(input: &[u8], out: &'a mut [u8]) -> Result<&'a mut [u8], Fault> {
    out.get_mut(..input.len()).ok_or(Fault::TooLong)
}
