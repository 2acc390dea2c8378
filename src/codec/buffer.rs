//! A byte buffer that is reused without being cleared.

use super::error::Fault;

/// Bytes with a fill mark: [`prepare`](Buffer::prepare) gives room without clearing what an earlier
/// chunk left there.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Room for `bytes` bytes of any content, with the buffer counted as empty until
    /// [`Buffer::set_len`].
    pub(super) fn prepare(&mut self, bytes: usize) -> Result<&mut [u8], Fault> {
        self.len = 0;
        self.grow(bytes)?;
        Ok(&mut self.bytes[..bytes])
    }

    /// Declares the first `len` bytes of the room given to be the content.
    pub(super) fn set_len(&mut self, len: usize) {
        self.len = len.min(self.bytes.len());
    }

    /// The content.
    pub(super) fn filled(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The number of bytes of the content.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes the buffer hold at least `bytes` bytes.
    fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        let missing = bytes.saturating_sub(self.bytes.len());
        if missing > 0 {
            self.bytes.try_reserve_exact(missing).map_err(|_| Fault::OutOfMemory { bytes })?;
            self.bytes.resize(bytes, 0);
        }
        Ok(())
    }
}
