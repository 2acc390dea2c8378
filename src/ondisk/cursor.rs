//! Bounds-checked decoding of little-endian fields.

use super::{OndiskError, Structure};

/// Width of an address or a length field in this file (superblock, "Size of Offsets", "Size of Lengths").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldWidth {
    /// 2 bytes.
    Two,
    /// 4 bytes.
    Four,
    /// 8 bytes, what libhdf5 writes unless told otherwise.
    Eight,
}

impl FieldWidth {
    /// The width in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The largest value of this width: an undefined address, an unlimited count.
    pub const fn all_ones(self) -> u64 {
        match self {
            Self::Two => 0xffff,
            Self::Four => 0xffff_ffff,
            Self::Eight => u64::MAX,
        }
    }

    /// The width of a size byte, if it is one that is decoded here.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    /// Decodes the field at the start of `bytes`; `None` if they are too few.
    #[inline]
    pub fn decode(self, bytes: &[u8]) -> Option<u64> {
        match self {
            Self::Two => bytes.first_chunk().map(|field| u16::from_le_bytes(*field).into()),
            Self::Four => bytes.first_chunk().map(|field| u32::from_le_bytes(*field).into()),
            Self::Eight => bytes.first_chunk().map(|field| u64::from_le_bytes(*field)),
        }
    }
}

/// A position in the bytes of one structure. Every error names the structure and the absolute address.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    structure: Structure,
    /// Absolute address of the first byte of `rest`.
    address: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], structure: Structure, address: u64) -> Self {
        Self { rest: bytes, structure, address }
    }

    /// Absolute address of the next byte.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The bytes not yet taken.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], OndiskError> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(OndiskError::Truncated {
                structure: self.structure,
                address: self.address,
                needed: count as u64,
                available: self.rest.len() as u64,
            });
        };
        self.rest = rest;
        self.address = self.address.saturating_add(count as u64);
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], OndiskError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, OndiskError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, OndiskError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, OndiskError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn field(&mut self, width: FieldWidth) -> Result<u64, OndiskError> {
        Ok(match width {
            FieldWidth::Two => self.u16()?.into(),
            FieldWidth::Four => self.u32()?.into(),
            FieldWidth::Eight => self.array().map(u64::from_le_bytes)?,
        })
    }

    /// An address relative to the base address; `None` if it is undefined (all bits set).
    pub(crate) fn relative_address(
        &mut self,
        width: FieldWidth,
    ) -> Result<Option<u64>, OndiskError> {
        self.field(width).map(|address| (address != width.all_ones()).then_some(address))
    }
}
