//! Reading elements, through filters, conversions and mappings (`H5Dread`).

use hdf5_sys::h5d::H5Dread;
use hdf5_sys::h5p::H5P_DEFAULT;

use super::{Dataset, datatype, space};
use crate::error::{Error, check};
use crate::h5s::{self, Hyperslab};
use crate::h5t;
use crate::id::{Dataspace, Datatype};
use crate::lock::Lock;
use crate::memory::total;
use crate::strings::VariableStrings;

/// What repeated reads of a dataset need only once.
#[derive(Debug)]
pub struct Reader<'d> {
    dataset: &'d Dataset,
    file_space: Dataspace,
    memory_type: Datatype,
    element_size: usize,
}

impl<'d> Reader<'d> {
    /// Prepares to read the elements of `dataset` as elements of `memory_type`, which is often the
    /// dataset's own ([`datatype`]): then bytes are not converted.
    ///
    /// # Errors
    /// [`Error::PointersInType`] when elements of `memory_type` hold pointers; [`Error::Call`].
    pub fn new(lock: &Lock, dataset: &'d Dataset, memory_type: Datatype) -> Result<Self, Error> {
        if h5t::has_pointers(lock, &memory_type)? {
            return Err(Error::PointersInType { what: "H5Dread" });
        }
        Ok(Self {
            dataset,
            file_space: space(lock, dataset)?,
            element_size: h5t::size(lock, &memory_type)?,
            memory_type,
        })
    }

    /// Bytes of an element in the buffer.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// Reads a hyperslab, or everything, into `buffer`, densely and in C order.
    ///
    /// # Errors
    /// [`Error::BufferLength`] unless `buffer` has the bytes of the selected elements;
    /// [`Error::Rank`]; [`Error::Call`] also for a selection out of bounds.
    pub fn read(
        &self,
        lock: &Lock,
        hyperslab: Option<&Hyperslab<'_>>,
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let what = "H5Dread";
        let points = select(lock, &self.file_space, hyperslab)?;
        let expected = total(what, points, self.element_size)?;
        if buffer.len() != expected {
            return Err(Error::BufferLength { what, expected, found: buffer.len() });
        }
        if buffer.is_empty() {
            return Ok(());
        }
        let memory_space = h5s::simple(lock, &[points])?;
        // SAFETY: the lock is held; all ids are live. The file space is a copy of the dataset's
        // own, so the selection is checked against the dataset's extent at the time of the copy.
        // The memory space is `points` elements of the memory type in a row, for which `buffer` has
        // room.
        let status = unsafe {
            H5Dread(
                self.dataset.id.raw(),
                self.memory_type.raw(),
                memory_space.raw(),
                self.file_space.raw(),
                H5P_DEFAULT,
                buffer.as_mut_ptr().cast(),
            )
        };
        check(lock, what, status).map(|_| ())
    }
}

/// Reads the strings of a hyperslab, or all, of a dataset of variable-length strings, in C order,
/// each up to its first zero byte.
///
/// # Errors
/// [`Error::TypeClass`] for other types; [`Error::Rank`]; [`Error::Limit`] and [`Error::Memory`]
/// for more than fits; [`Error::Call`] also for a selection out of bounds.
pub fn read_variable_strings(
    lock: &Lock,
    dataset: &Dataset,
    hyperslab: Option<&Hyperslab<'_>>,
) -> Result<Vec<Vec<u8>>, Error> {
    let what = "H5Dread";
    let (file_space, datatype) = (space(lock, dataset)?, datatype(lock, dataset)?);
    let points = select(lock, &file_space, hyperslab)?;
    let mut strings = VariableStrings::new(lock, what, &datatype, points)?;
    if points > 0 {
        // SAFETY: the lock is held; all ids are live; the memory space has an element for each
        // pointer, and the file space is the dataset's own.
        let status = unsafe {
            H5Dread(
                dataset.id.raw(),
                datatype.raw(),
                strings.space().raw(),
                file_space.raw(),
                H5P_DEFAULT,
                strings.as_mut_ptr().cast(),
            )
        };
        check(lock, what, status)?;
    }
    // SAFETY: the call succeeded, so libhdf5 has filled in the pointers.
    Ok(unsafe { strings.copies() })
}

/// Selects what is asked for and counts it.
pub(super) fn select(
    lock: &Lock,
    space: &Dataspace,
    hyperslab: Option<&Hyperslab<'_>>,
) -> Result<u64, Error> {
    match hyperslab {
        Some(hyperslab) => h5s::select_hyperslab(lock, space, hyperslab)?,
        None => h5s::select_all(lock, space)?,
    }
    h5s::selected(lock, space)
}
