//! Positional writes to one file.

use std::fs::File;
use std::io;

use super::{OndiskError, ReadAt, Structure};

/// A file that can be read and written at any position.
pub trait WriteAt: ReadAt {
    /// Writes all of `bytes` from absolute byte `offset` on; the file grows where it ends before.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

#[cfg(unix)]
impl WriteAt for File {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }
}

/// Writes all of `bytes`; an error names `structure`.
pub(super) fn write(
    file: &mut dyn WriteAt,
    bytes: &[u8],
    address: u64,
    structure: Structure,
) -> Result<(), OndiskError> {
    file.write_at(bytes, address).map_err(|source| OndiskError::Write {
        structure,
        address,
        source,
    })
}
