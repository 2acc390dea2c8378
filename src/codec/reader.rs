//! Reading fields from untrusted bytes.

use super::error::Corruption;

/// The bytes not read yet.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `len` bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Corruption> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Corruption::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8, Corruption> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A 64-bit big-endian number.
    pub(super) fn u64_be(&mut self) -> Result<u64, Corruption> {
        self.array().map(u64::from_be_bytes)
    }

    /// A 32-bit big-endian number as a length.
    pub(super) fn u32_be(&mut self) -> Result<usize, Corruption> {
        self.array().and_then(|bytes| length(u32::from_be_bytes(bytes)))
    }

    /// A 32-bit little-endian number as a length.
    pub(super) fn u32_le(&mut self) -> Result<usize, Corruption> {
        self.array().and_then(|bytes| length(u32::from_le_bytes(bytes)))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Corruption> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Corruption::Truncated)?;
        self.0 = rest;
        Ok(*bytes)
    }
}

fn length(value: u32) -> Result<usize, Corruption> {
    usize::try_from(value).map_err(|_| Corruption::Header)
}
