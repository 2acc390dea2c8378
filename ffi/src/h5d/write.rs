//! Writing elements, through filters and conversions, and chunks as they are to be stored.

use hdf5_sys::h5d::{H5Dwrite, H5Dwrite_chunk};
use hdf5_sys::h5p::H5P_DEFAULT;

use super::read::select;
use super::{Dataset, datatype, space};
use crate::error::{Error, check};
use crate::h5s::{self, Hyperslab};
use crate::id::{Dataspace, Datatype};
use crate::lock::Lock;
use crate::memory::total;
use crate::strings::StringPointers;
use crate::{h5f, h5t};

/// Writes a hyperslab, or everything, from `bytes`: elements of `memory_type`, densely and in C
/// order (`H5Dwrite`).
///
/// # Errors
/// [`Error::PointersInType`] when elements of `memory_type` hold pointers: for strings of variable
/// length there is [`write_variable_strings`]; [`Error::BufferLength`] unless `bytes` are those of
/// the selected elements; [`Error::Rank`]; [`Error::ReadOnly`]; [`Error::Call`] also for a selection
/// out of bounds.
pub fn write(
    lock: &Lock,
    dataset: &Dataset,
    memory_type: &Datatype,
    hyperslab: Option<&Hyperslab<'_>>,
    bytes: &[u8],
) -> Result<(), Error> {
    let what = "H5Dwrite";
    if h5t::has_pointers(lock, memory_type)? {
        return Err(Error::PointersInType { what });
    }
    let file_space = space(lock, dataset)?;
    let points = select(lock, &file_space, hyperslab)?;
    let expected = total(what, points, h5t::size(lock, memory_type)?)?;
    if bytes.len() != expected {
        return Err(Error::BufferLength { what, expected, found: bytes.len() });
    }
    // SAFETY: `bytes` has `points` elements of the memory type, which holds no pointers.
    unsafe { write_elements(lock, dataset, memory_type, &file_space, points, bytes.as_ptr()) }
}

/// Writes the strings of a hyperslab, or all, of a dataset of variable-length strings, in C order
/// (`H5Dwrite`).
///
/// # Errors
/// [`Error::TypeClass`] for other types; [`Error::InteriorNul`]; [`Error::Count`] unless there is a
/// string for each selected element; [`Error::Memory`]; [`Error::Rank`]; [`Error::ReadOnly`];
/// [`Error::Call`] also for a selection out of bounds.
pub fn write_variable_strings<S: AsRef<[u8]>>(
    lock: &Lock,
    dataset: &Dataset,
    hyperslab: Option<&Hyperslab<'_>>,
    strings: &[S],
) -> Result<(), Error> {
    let what = "H5Dwrite";
    let (file_space, datatype) = (space(lock, dataset)?, datatype(lock, dataset)?);
    let points = select(lock, &file_space, hyperslab)?;
    let pointers = StringPointers::new(lock, what, &datatype, points, strings)?;
    // SAFETY: there are `points` pointers, which is what elements of the type are, to strings that
    // end in a zero byte and live until the end of this function.
    unsafe {
        write_elements(lock, dataset, &datatype, &file_space, points, pointers.as_ptr().cast())
    }
}

/// Writes `points` elements of the memory type to what is selected in the file space.
///
/// # Safety
/// As many elements are selected, and `elements` points to as many valid ones.
unsafe fn write_elements(
    lock: &Lock,
    dataset: &Dataset,
    memory_type: &Datatype,
    file_space: &Dataspace,
    points: u64,
    elements: *const u8,
) -> Result<(), Error> {
    let what = "H5Dwrite";
    if points == 0 {
        return dataset.check_writable(lock, what);
    }
    let memory_space = h5s::simple(lock, &[points])?;
    // SAFETY: the lock is held; all ids are live. The file space is a copy of the dataset's own, so
    // the selection is checked against the dataset's extent; the memory space is `points` elements
    // in a row, which the caller promises.
    let status = unsafe {
        H5Dwrite(
            dataset.id.raw(),
            memory_type.raw(),
            memory_space.raw(),
            file_space.raw(),
            H5P_DEFAULT,
            elements.cast(),
        )
    };
    h5f::written(lock, what, &dataset.id, check(lock, what, status).map(|_| ()))
}

/// Stores bytes as the chunk whose first element is at `offset`, in place of what was stored for it
/// (`H5Dwrite_chunk`).
///
/// Bit n of `filter_mask` is set when filter n of the pipeline was left out. libhdf5 takes the bytes
/// for what they are: that they come apart to one whole chunk, which without filters means as many
/// bytes as a chunk in memory, is up to the caller.
///
/// # Errors
/// [`Error::Rank`]; [`Error::OutOfBounds`]; [`Error::ReadOnly`]; [`Error::Call`] for no bytes, 2^32
/// bytes and more, an offset that is not the start of a chunk, and other layouts.
pub fn write_chunk(
    lock: &Lock,
    dataset: &Dataset,
    offset: &[u64],
    filter_mask: u32,
    bytes: &[u8],
) -> Result<(), Error> {
    let what = "H5Dwrite_chunk";
    dataset.check_rank(what, offset)?;
    dataset.check_writable(lock, what)?;
    // libhdf5 up to 2.2 takes an offset just beyond the extent (H5D__chunk_get_offset_copy), for which the
    // index of a dataset that cannot grow has no place.
    let extent = h5s::extent(lock, &space(lock, dataset)?)?;
    for (axis, (found, extent)) in offset.iter().zip(extent.dims()).enumerate() {
        if found >= extent {
            return Err(Error::OutOfBounds { what, axis, found: *found, extent: *extent });
        }
    }
    // SAFETY: the lock is held; `dataset` is live, `offset` has a number an axis, and as many bytes
    // are read as there are.
    let status = unsafe {
        H5Dwrite_chunk(
            dataset.id.raw(),
            H5P_DEFAULT,
            filter_mask,
            offset.as_ptr(),
            bytes.len(),
            bytes.as_ptr().cast(),
        )
    };
    check(lock, what, status).map(|_| ())
}
