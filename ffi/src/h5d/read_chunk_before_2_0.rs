//! The bytes of a stored chunk, before libhdf5 was told the size of the buffer.
//!
//! `H5Dread_chunk` copies as many bytes as the chunk index says, which is a number from the file.
//! With filters [`chunk_storage_size`] gives that number. Without, it gives the size of a chunk in
//! memory whatever the index says, and only [`chunk_info`] gives the number, at the cost of a walk
//! through all chunks. So unfiltered chunks are read as elements where that gives the same bytes.

use hdf5_sys::h5p::H5P_DEFAULT;

use super::{
    Dataset, ReadChunk, Reader, chunk_info, chunk_storage_size, creation, datatype, space,
};
use crate::error::{Error, check};
use crate::h5s::{self, Hyperslab, PerAxis};
use crate::id::DatasetCreation;
use crate::lock::Lock;
use crate::memory::total;
use crate::{h5p, h5t};

const CALL: &str = "H5Dread_chunk";

/// Reads the stored bytes of the chunk whose first element is at `offset`, filters not undone
/// (`H5Dread_chunk`).
///
/// # Errors
/// [`Error::BufferLength`] when `buffer` is too short, with the bytes needed; [`Error::Call`] when
/// the chunk is not stored; [`Error::Rank`]; [`Error::Limit`].
pub fn read_chunk(
    lock: &Lock,
    dataset: &Dataset,
    offset: &[u64],
    buffer: &mut [u8],
) -> Result<ReadChunk, Error> {
    dataset.check_rank(CALL, offset)?;
    let creation = creation(lock, dataset)?;
    // Fails when the chunk is not stored, as reading its elements would not.
    let stored = chunk_storage_size(lock, dataset, offset)?;
    if h5p::filter_count(lock, &creation)? > 0 {
        return read_stored(lock, dataset, offset, stored, buffer);
    }
    match read_elements(lock, dataset, &creation, offset, buffer)? {
        Some(read) => Ok(read),
        None => {
            let indexed = chunk_info(lock, dataset, offset)?.map_or(0, |info| info.size);
            read_stored(lock, dataset, offset, indexed, buffer)
        }
    }
}

/// The part of `buffer` for `size` bytes.
fn room(size: u64, buffer: &mut [u8]) -> Result<&mut [u8], Error> {
    let size = total("a stored chunk", size, 1)?;
    let found = buffer.len();
    buffer.get_mut(..size).ok_or(Error::BufferLength { what: CALL, expected: size, found })
}

/// Reads a chunk of `stored` bytes, the number that its index entry tells and that was just looked
/// up.
fn read_stored(
    lock: &Lock,
    dataset: &Dataset,
    offset: &[u64],
    stored: u64,
    buffer: &mut [u8],
) -> Result<ReadChunk, Error> {
    let buffer = room(stored, buffer)?;
    let mut filter_mask = 0;
    // SAFETY: the lock is held; `dataset` is live, `offset` has a number an axis. The bytes copied
    // are those that the index entry of the chunk tells, which the callers looked up under the same
    // lock, so that it is still in the library's caches; `buffer` has room for them.
    let status = unsafe {
        hdf5_sys::h5d::H5Dread_chunk1(
            dataset.id.raw(),
            H5P_DEFAULT,
            offset.as_ptr(),
            &mut filter_mask,
            buffer.as_mut_ptr().cast(),
        )
    };
    check(lock, CALL, status)?;
    Ok(ReadChunk { size: buffer.len(), filter_mask })
}

/// Reads a chunk without filters as elements of the dataset's own type. `None` when that would not
/// give the stored bytes: when the elements hold pointers, and when the chunk reaches beyond the
/// extent.
fn read_elements(
    lock: &Lock,
    dataset: &Dataset,
    creation: &DatasetCreation,
    offset: &[u64],
    buffer: &mut [u8],
) -> Result<Option<ReadChunk>, Error> {
    let shape = h5p::chunk_shape(lock, creation)?;
    let extent = h5s::extent(lock, &space(lock, dataset)?)?;
    let datatype = datatype(lock, dataset)?;
    if !is_within(&shape, offset, extent.dims()) || h5t::has_pointers(lock, &datatype)? {
        return Ok(None);
    }
    let reader = Reader::new(lock, dataset, datatype)?;
    let elements = shape.iter().try_fold(1_u64, |product, length| product.checked_mul(*length));
    let bytes = total("a stored chunk", elements.unwrap_or(u64::MAX), reader.element_size())?;
    let buffer = room(u64::try_from(bytes).unwrap_or(u64::MAX), buffer)?;
    let chunk = Hyperslab { start: offset, stride: None, count: &shape, block: None };
    reader.read(lock, Some(&chunk), buffer)?;
    Ok(Some(ReadChunk { size: bytes, filter_mask: 0 }))
}

/// Whether a chunk lies within an extent on every axis.
fn is_within(shape: &PerAxis, offset: &[u64], extent: &[u64]) -> bool {
    shape.len() == offset.len()
        && shape
            .iter()
            .zip(offset)
            .zip(extent)
            .all(|((length, start), dim)| start.checked_add(*length).is_some_and(|end| end <= *dim))
}
