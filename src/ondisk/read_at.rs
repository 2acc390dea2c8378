//! Positional reads of one file.

use std::fs::File;
use std::io;

use super::{OndiskError, Structure};

/// A file that can be read at any position, by many threads at once.
pub trait ReadAt: Send + Sync {
    /// Reads up to `buf.len()` bytes from absolute byte `offset` on; 0 only at or behind the end.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// The size of the file in bytes.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn size(&self) -> io::Result<u64>;

    /// A size that shows whether the file goes up to `end`: what is there, or, where that is enough, what was there.
    ///
    /// # Errors
    /// As [`size`](Self::size).
    fn size_for(&self, _end: u64) -> io::Result<u64> {
        self.size()
    }

    /// Reads as many bytes as the file has from `offset` on, at most `buf.len()`; returns their number.
    ///
    /// # Errors
    /// [`OndiskError::Read`], naming `structure`.
    fn read_up_to(
        &self,
        buf: &mut [u8],
        offset: u64,
        structure: Structure,
    ) -> Result<usize, OndiskError> {
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            // An offset beyond 64 bits is behind the end of any file.
            let Some(address) = offset.checked_add(filled as u64) else { break };
            match self.read_at(rest, address) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(OndiskError::Read { structure, address, source }),
            }
        }
        Ok(filled)
    }

    /// Fills `buf` from absolute byte `offset` on.
    ///
    /// # Errors
    /// [`OndiskError::Truncated`] where the file ends before, [`OndiskError::Read`]; both name `structure`.
    fn read_exact_at(
        &self,
        buf: &mut [u8],
        offset: u64,
        structure: Structure,
    ) -> Result<(), OndiskError> {
        let filled = self.read_up_to(buf, offset, structure)?;
        if filled < buf.len() {
            return Err(OndiskError::Truncated {
                structure,
                address: offset,
                needed: buf.len() as u64,
                available: filled as u64,
            });
        }
        Ok(())
    }
}

#[cfg(unix)]
impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}

impl ReadAt for &[u8] {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or(&[]);
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

/// Checks that `needed` bytes from `address` on lie inside the file.
pub(super) fn check_inside_file(
    file: &dyn ReadAt,
    address: u64,
    needed: u64,
    structure: Structure,
) -> Result<(), OndiskError> {
    let end = address.saturating_add(needed);
    let file_size = file.size_for(end).map_err(|source| OndiskError::FileSize { source })?;
    let available = file_size.saturating_sub(address);
    if needed > available {
        return Err(OndiskError::Truncated { structure, address, needed, available });
    }
    Ok(())
}
