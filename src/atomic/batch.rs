//! Neighbouring pieces written as one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that are gathered at most.
const BATCH_SIZE: usize = 1 << 20;

/// What pages are written to.
pub(super) trait Target {
    /// Writes all of `bytes` from byte `address` on.
    fn write_at(&self, bytes: &[u8], address: u64) -> io::Result<()>;

    /// Cuts off all behind byte `size`.
    fn cut(&self, size: u64) -> io::Result<()>;
}

impl Target for File {
    fn write_at(&self, bytes: &[u8], address: u64) -> io::Result<()> {
        self.write_all_at(bytes, address)
    }

    fn cut(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

/// Gathers pieces as long as each follows the one before, up to 1 MiB, and writes them in one go.
pub(super) struct Batch<'t, T: Target> {
    target: &'t T,
    start: u64,
    bytes: Vec<u8>,
}

impl<'t, T: Target> Batch<'t, T> {
    pub(super) fn new(target: &'t T) -> Self {
        Self { target, start: 0, bytes: Vec::new() }
    }

    /// Adds a piece, and writes those before it where it does not follow them.
    pub(super) fn push(&mut self, address: u64, piece: &[u8]) -> io::Result<()> {
        let follows = self.start.checked_add(self.bytes.len() as u64) == Some(address);
        if !follows || self.bytes.len().saturating_add(piece.len()) > BATCH_SIZE {
            self.flush()?;
            self.start = address;
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Writes what was gathered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if !self.bytes.is_empty() {
            self.target.write_at(&self.bytes, self.start)?;
            self.bytes.clear();
        }
        Ok(())
    }
}
