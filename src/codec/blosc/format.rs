//! The parts of a Blosc chunk's header, and the filter's parameters.

use crate::codec::bits::GROUP;
use crate::codec::error::{CodecError, Corruption, Fault};
use crate::codec::params::Params;
use crate::codec::reader::Reader;

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 16;
/// `BLOSC_VERSION_FORMAT`.
pub(super) const VERSION: u8 = 2;
/// The version every codec's own format has.
pub(super) const CODEC_VERSION: u8 = 1;

pub(super) mod flag {
    pub(crate) const BYTE_SHUFFLE: u8 = 0x01;
    pub(crate) const RAW: u8 = 0x02;
    pub(crate) const BIT_SHUFFLE: u8 = 0x04;
    pub(crate) const RESERVED: u8 = 0x08;
    pub(crate) const NOT_SPLIT: u8 = 0x10;
}

/// Elements of more bytes are never split (`MAX_SPLITS`).
const MAX_SPLIT_ELEMENT: usize = 16;
/// Streams of fewer bytes are never split off (`MIN_BUFFERSIZE`).
const MIN_STREAM_BYTES: usize = 128;

/// How Blosc rearranges the elements of a block before it compresses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// Not at all.
    None,
    /// By bytes.
    Bytes,
    /// By bits.
    Bits,
}

/// What compresses the streams of a Blosc chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Blosc's own.
    BloscLz,
    /// LZ4.
    Lz4,
    /// LZ4 with the slower search; the same format.
    Lz4Hc,
    /// Snappy.
    Snappy,
    /// A zlib stream.
    Zlib,
    /// A Zstandard frame.
    Zstd,
}

impl Codec {
    /// The codec with a code in the filter's parameters (`BLOSC_BLOSCLZ` to `BLOSC_ZSTD`).
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Lz4Hc,
            3 => Self::Snappy,
            4 => Self::Zlib,
            5 => Self::Zstd,
            _ => return None,
        })
    }

    /// The code in the filter's parameters, the inverse of [`Codec::from_code`].
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Lz4Hc => 2,
            Self::Snappy => 3,
            Self::Zlib => 4,
            Self::Zstd => 5,
        }
    }

    /// The codec of a chunk by its flags.
    pub(super) fn from_flags(flags: u8) -> Option<Self> {
        Some(match flags >> 5 {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Snappy,
            3 => Self::Zlib,
            4 => Self::Zstd,
            _ => return None,
        })
    }

    /// The bits of the flags that name the codec.
    pub(super) fn flags(self) -> u8 {
        let format = match self {
            Self::BloscLz => 0,
            Self::Lz4 | Self::Lz4Hc => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        };
        format << 5
    }

    /// Whether the codec trades speed for ratio, and so gets longer blocks.
    pub(super) fn is_high_ratio(self) -> bool {
        matches!(self, Self::Lz4Hc | Self::Zlib | Self::Zstd)
    }
}

impl Shuffle {
    /// The code in the filter's parameters (`BLOSC_NOSHUFFLE` to `BLOSC_BITSHUFFLE`).
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Bytes => 1,
            Self::Bits => 2,
        }
    }
}

/// The filter's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Bytes of an element, 1 to 255.
    pub(crate) element_size: u8,
    /// 0 to 9.
    pub(crate) level: u8,
    /// How blocks are rearranged.
    pub(crate) shuffle: Shuffle,
    /// What compresses them.
    pub(crate) codec: Codec,
}

impl Settings {
    /// Reads `[filter version, format version, element size, chunk bytes, level, shuffle, codec]`
    /// (`blosc_filter.c`).
    pub(crate) fn new(params: &Params<'_>) -> Result<Self, CodecError> {
        let (shuffle, codec) = (params.or_default(5, 1), params.or_default(6, 0));
        Ok(Self {
            // Blosc takes longer elements for bytes.
            element_size: u8::try_from(params.element_size(2)?).unwrap_or(1),
            level: params.or_default(4, 5).in_range(0, 9)?,
            shuffle: match shuffle.value() {
                0 => Shuffle::None,
                1 => Shuffle::Bytes,
                2 => Shuffle::Bits,
                _ => return Err(shuffle.refused()),
            },
            codec: Codec::from_code(codec.value()).ok_or_else(|| codec.refused())?,
        })
    }
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) flags: u8,
    pub(super) element_size: u8,
    /// Bytes of the chunk.
    pub(super) total: usize,
    /// Bytes of a block.
    pub(super) block: usize,
}

impl Header {
    /// Reads a header and checks what can be checked without the blocks.
    pub(super) fn parse(input: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader(input);
        let (version, _codec_version) = (reader.byte()?, reader.byte()?);
        let (flags, element_size) = (reader.byte()?, reader.byte()?);
        let (total, block) = (reader.u32_le()?, reader.u32_le()?);
        let encoded = reader.u32_le()?;
        if version != VERSION || flags & flag::RESERVED != 0 {
            return Err(Corruption::Variant.into());
        }
        if encoded > input.len() {
            return Err(Corruption::Truncated.into());
        }
        if total > 0 && (element_size == 0 || block == 0 || block > total) {
            return Err(Corruption::Header.into());
        }
        Ok(Self { flags, element_size, total, block })
    }

    /// The rearrangement of a block of `len` bytes.
    pub(super) fn shuffle(&self, len: usize) -> Shuffle {
        let element_size = usize::from(self.element_size);
        if self.flags & flag::BYTE_SHUFFLE != 0 && element_size > 1 {
            Shuffle::Bytes
        } else if self.flags & flag::BIT_SHUFFLE != 0 && (len / element_size).is_multiple_of(GROUP)
        {
            Shuffle::Bits
        } else {
            Shuffle::None
        }
    }

    /// The number of streams of a block of `len` bytes.
    pub(super) fn streams(&self, len: usize) -> usize {
        let element_size = usize::from(self.element_size);
        let split = self.flags & flag::NOT_SPLIT == 0 && len == self.block;
        if split && is_splittable(element_size, self.block) { element_size } else { 1 }
    }
}

/// Whether blocks of `block` bytes can be split at all.
pub(super) fn is_splittable(element_size: usize, block: usize) -> bool {
    element_size <= MAX_SPLIT_ELEMENT && block / element_size >= MIN_STREAM_BYTES
}
