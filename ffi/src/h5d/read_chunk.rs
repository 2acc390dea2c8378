//! The bytes of a stored chunk, libhdf5 being told the size of the buffer (HDF5 2.0).

use hdf5_sys::h5p::H5P_DEFAULT;

use super::{Dataset, ReadChunk};
use crate::error::{Error, check};
use crate::lock::Lock;

/// Reads the stored bytes of the chunk whose first element is at `offset`, filters not undone
/// (`H5Dread_chunk2`).
///
/// # Errors
/// [`Error::BufferLength`] when `buffer` is too short, with the bytes needed; [`Error::Call`] when
/// the chunk is not stored; [`Error::Rank`].
pub fn read_chunk(
    lock: &Lock,
    dataset: &Dataset,
    offset: &[u64],
    buffer: &mut [u8],
) -> Result<ReadChunk, Error> {
    let call = "H5Dread_chunk";
    dataset.check_rank(call, offset)?;
    let mut read = ReadChunk { size: buffer.len(), filter_mask: 0 };
    // SAFETY: the lock is held; `dataset` is live, `offset` has a number an axis. `size` tells the
    // bytes of `buffer`, and the call writes nothing when the chunk has more.
    let status = unsafe {
        hdf5_sys::h5d::H5Dread_chunk2(
            dataset.id.raw(),
            H5P_DEFAULT,
            offset.as_ptr(),
            &mut read.filter_mask,
            buffer.as_mut_ptr().cast(),
            &mut read.size,
        )
    };
    check(lock, call, status)?;
    if read.size > buffer.len() {
        return Err(Error::BufferLength { what: call, expected: read.size, found: buffer.len() });
    }
    Ok(read)
}
