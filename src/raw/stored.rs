//! The stored bytes of one chunk, by a positional read.

use super::bytes::FileBytes;
use super::error::ReadFault;
use super::raw_data::grow;
use crate::ondisk::{OndiskError, ReadAt, Structure};

/// Reads the `size` bytes that are stored from absolute byte `address` on; `buffer` is made as long as that needs.
/// What the file is too short for is never made room for.
///
/// # Errors
/// [`ReadFault::Address`], [`ReadFault::Beyond`], [`ReadFault::Bytes`], [`ReadFault::Memory`].
pub(crate) fn read_stored<'b>(
    file: &FileBytes,
    address: u64,
    size: u64,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8], ReadFault> {
    let end = address.checked_add(size).ok_or(ReadFault::Address { address, size })?;
    let file_size = file.size().map_err(|source| OndiskError::FileSize { source })?;
    if end > file_size {
        return Err(ReadFault::Beyond { end, size: file_size });
    }
    let bytes = usize::try_from(size).map_err(|_| ReadFault::Memory { bytes: size })?;
    grow(buffer, bytes)?;
    let stored = &mut buffer[..bytes];
    file.read_exact_at(stored, address, Structure::Chunk)?;
    Ok(stored)
}
