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
    let bytes = read_stored_to(file, address, size, buffer, 0)?;
    Ok(&buffer[..bytes])
}

/// As [`read_stored`], to byte `at` of the buffer and on. Returns where the bytes end in it.
///
/// # Errors
/// As [`read_stored`].
pub(crate) fn read_stored_to(
    file: &FileBytes,
    address: u64,
    size: u64,
    buffer: &mut Vec<u8>,
    at: usize,
) -> Result<usize, ReadFault> {
    let end = address.checked_add(size).ok_or(ReadFault::Address { address, size })?;
    let file_size = file.size_for(end).map_err(|source| OndiskError::FileSize { source })?;
    if end > file_size {
        return Err(ReadFault::Beyond { end, size: file_size });
    }
    let bytes = usize::try_from(size).ok().and_then(|bytes| at.checked_add(bytes));
    let bytes = bytes.ok_or(ReadFault::Memory { bytes: size })?;
    grow(buffer, bytes)?;
    file.read_exact_at(&mut buffer[at..bytes], address, Structure::Chunk)?;
    Ok(bytes)
}
