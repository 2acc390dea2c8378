//! Stored chunks: how many, where they are and how long.

use hdf5_sys::h5::HADDR_UNDEF;
use hdf5_sys::h5d::{H5Dget_chunk_info_by_coord, H5Dget_num_chunks};

use super::{Dataset, space};
use crate::error::{Error, check};
use crate::lock::Lock;
use crate::sys;

/// A stored chunk, as [`chunk_iter`](super::chunk_iter()) shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredChunk<'a> {
    /// Its first element, in elements from 0, one number an axis.
    pub offset: &'a [u64],
    /// Where it is and how it is stored.
    pub info: ChunkInfo,
}

/// Where a chunk is and how it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkInfo {
    /// First byte, from the start of the file. The user block is counted, whatever the version of
    /// libhdf5.
    pub address: u64,
    /// Bytes stored.
    pub size: u64,
    /// Bit n set: filter n of the pipeline was left out for this chunk.
    pub filter_mask: u32,
}

/// What [`read_chunk`](super::read_chunk()) read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadChunk {
    /// Bytes stored, now at the start of the buffer.
    pub size: usize,
    /// Bit n set: filter n of the pipeline was left out for this chunk.
    pub filter_mask: u32,
}

/// Number of chunks stored (`H5Dget_num_chunks`). Reads the whole chunk index.
///
/// # Errors
/// [`Error::Call`] also for datasets that are not chunked.
pub fn num_chunks(lock: &Lock, dataset: &Dataset) -> Result<u64, Error> {
    let space = space(lock, dataset)?;
    let mut count = 0;
    // SAFETY: the lock is held; both ids are live, `count` is a live integer.
    let status = unsafe { H5Dget_num_chunks(dataset.id.raw(), space.raw(), &mut count) };
    check(lock, "H5Dget_num_chunks", status)?;
    Ok(count)
}

/// Bytes stored for the chunk whose first element is at `offset` (`H5Dget_chunk_storage_size`).
/// Takes one look-up in the chunk index.
///
/// For datasets without filters libhdf5 gives the size of a chunk in memory, whatever the index
/// says.
///
/// # Errors
/// [`Error::Call`] when the chunk is not stored, see [`is_not_stored`]; [`Error::Rank`].
pub fn chunk_storage_size(lock: &Lock, dataset: &Dataset, offset: &[u64]) -> Result<u64, Error> {
    let call = "H5Dget_chunk_storage_size";
    dataset.check_rank(call, offset)?;
    let mut size = 0;
    // SAFETY: the lock is held; `dataset` is live, `offset` has a number an axis, `size` is a live
    // integer.
    let status =
        unsafe { sys::H5Dget_chunk_storage_size(dataset.id.raw(), offset.as_ptr(), &mut size) };
    check(lock, call, status)?;
    Ok(size)
}

/// Whether [`chunk_storage_size`] failed because there is no such chunk, and not because of damage.
///
/// Both carry the same codes; only the innermost frame tells them apart
/// (`H5D__get_chunk_storage_size` of HDF5 1.10 to 2.2).
#[must_use]
pub fn is_not_stored(error: &Error) -> bool {
    let Error::Call { stack, .. } = error else { return false };
    let innermost = stack.frames().first();
    innermost.is_some_and(|frame| frame.description == "chunk storage is not allocated")
}

/// Where the chunk is whose first element is at `offset`, if it is stored
/// (`H5Dget_chunk_info_by_coord`).
///
/// libhdf5 goes through all chunks for it (1.10 to 2.2, B-tree indexes): do not call it in a loop.
///
/// # Errors
/// [`Error::Call`] also for datasets that are not chunked; [`Error::Rank`].
pub fn chunk_info(
    lock: &Lock,
    dataset: &Dataset,
    offset: &[u64],
) -> Result<Option<ChunkInfo>, Error> {
    let call = "H5Dget_chunk_info_by_coord";
    dataset.check_rank(call, offset)?;
    let mut info = ChunkInfo { address: HADDR_UNDEF, size: 0, filter_mask: 0 };
    // SAFETY: the lock is held; `dataset` is live, `offset` has a number an axis, the rest are live
    // integers.
    let status = unsafe {
        H5Dget_chunk_info_by_coord(
            dataset.id.raw(),
            offset.as_ptr(),
            &mut info.filter_mask,
            &mut info.address,
            &mut info.size,
        )
    };
    check(lock, call, status)?;
    if info.address == HADDR_UNDEF {
        return Ok(None);
    }
    info.address = absolute(lock, dataset, info.address)?;
    Ok(Some(info))
}

/// Turns an address as this version of libhdf5 gives it into one from the start of the file.
#[cfg(hdf5_absolute_chunk_address)]
pub(super) fn absolute(_lock: &Lock, _dataset: &Dataset, address: u64) -> Result<u64, Error> {
    Ok(address)
}

/// Turns an address as this version of libhdf5 gives it into one from the start of the file.
#[cfg(not(hdf5_absolute_chunk_address))]
pub(super) fn absolute(lock: &Lock, dataset: &Dataset, address: u64) -> Result<u64, Error> {
    use crate::id::{File, Id};

    // SAFETY: the lock is held; `dataset` is live; the id returned is fresh or negative.
    let file: File = unsafe {
        let id = hdf5_sys::h5i::H5Iget_file_id(dataset.id.raw());
        Id::from_call(lock, "H5Iget_file_id", id)
    }?;
    let base = crate::h5f::user_block_size(lock, &file)?;
    // Past the end of the number is past the end of the file, where a read finds nothing.
    Ok(address.saturating_add(base))
}
