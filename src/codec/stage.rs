//! One filter of a pipeline, ready to run: its parameters checked, its size arithmetic known.

use super::buffer::Buffer;
use super::error::{BadParams, CodecError, Fault};
use super::filter::{Filter, id};
use super::scratch::State;
use super::{deflate, fletcher32, lzf, shuffle};

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
    Deflate { level: u8 },
    Shuffle { element_size: usize },
    Lzf,
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
            Transform::Deflate { .. } | Transform::Lzf => true,
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
        }
    }
}

/// The part of `out` that is as long as `input`.
fn same_size<'a>(input: &[u8], out: &'a mut [u8]) -> Result<&'a mut [u8], Fault> {
    out.get_mut(..input.len()).ok_or(Fault::TooLong)
}

/// The parameters of a filter, read with checks.
struct Params<'a> {
    filter: &'a Filter,
    element_size: usize,
}

/// One parameter and where it stood.
struct Param {
    filter: u16,
    index: usize,
    value: u32,
}

impl Params<'_> {
    /// The parameter at a position, from 0.
    fn required(&self, index: usize) -> Result<Param, CodecError> {
        let value = *self.filter.params.get(index).ok_or(CodecError::BadParams {
            filter: self.filter.id,
            reason: BadParams::Missing { expected: index + 1, found: self.filter.params.len() },
        })?;
        Ok(Param { filter: self.filter.id, index, value })
    }

    /// The element size in bytes stored at a position, else the dataset's; never 0.
    fn element_size(&self, index: usize) -> Result<usize, CodecError> {
        match self.required(index) {
            Ok(param) => match usize::try_from(param.value) {
                Ok(size @ 1..) => Ok(size),
                _ => Err(param.refused()),
            },
            Err(_) if self.element_size > 0 => Ok(self.element_size),
            Err(error) => Err(error),
        }
    }
}

impl Param {
    /// The value, if it lies in an inclusive range.
    fn in_range(&self, lowest: u8, highest: u8) -> Result<u8, CodecError> {
        match u8::try_from(self.value) {
            Ok(value) if (lowest..=highest).contains(&value) => Ok(value),
            _ => Err(self.refused()),
        }
    }

    fn refused(&self) -> CodecError {
        let reason = BadParams::Value { index: self.index, value: self.value };
        CodecError::BadParams { filter: self.filter, reason }
    }
}
