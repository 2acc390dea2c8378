//! The mappings of a virtual dataset, as the library lists and takes them.

use hdf5_sys::h5d::H5D_layout_t;
use hdf5_sys::h5p::{
    H5Pget_virtual_count, H5Pget_virtual_dsetname, H5Pget_virtual_filename,
    H5Pget_virtual_srcspace, H5Pget_virtual_vspace, H5Pset_layout, H5Pset_virtual,
};

use crate::error::{Error, check};
use crate::h5s::{self, Selection};
use crate::id::{DatasetCreation, Dataspace, Id};
use crate::lock::Lock;
use crate::text::{c_string, sized};

/// One mapping of a virtual dataset: the elements selected in the source appear where the elements
/// selected in the virtual dataset are, in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Name of the source file; `.` is the file of the virtual dataset.
    pub source_file: String,
    /// Path of the source dataset.
    pub source_dataset: String,
    /// What is selected in the source dataset.
    pub source: Selection,
    /// What is selected in the virtual dataset.
    pub target: Selection,
}

/// Number of mappings of a virtual dataset (`H5Pget_virtual_count`).
///
/// # Errors
/// [`Error::Call`] for other layouts.
pub fn mapping_count(lock: &Lock, creation: &DatasetCreation) -> Result<usize, Error> {
    let mut count = 0;
    // SAFETY: the lock is held; `creation` is a live dataset creation list, `count` a live integer.
    let status = unsafe { H5Pget_virtual_count(creation.raw(), &mut count) };
    check(lock, "H5Pget_virtual_count", status)?;
    Ok(count)
}

/// One mapping of a virtual dataset, the first being 0 (`H5Pget_virtual_vspace` and its kin). Takes
/// about 3 microseconds.
///
/// # Errors
/// [`Error::Call`] also when there is no such mapping; [`Error::NotUtf8`] for its names.
pub fn mapping(lock: &Lock, creation: &DatasetCreation, index: usize) -> Result<Mapping, Error> {
    let list = creation.raw();
    // SAFETY: the lock is held; `creation` is live; the id returned is fresh or negative.
    let source: Dataspace = unsafe {
        Id::from_call(lock, "H5Pget_virtual_srcspace", H5Pget_virtual_srcspace(list, index))
    }?;
    // SAFETY: as above.
    let target: Dataspace = unsafe {
        Id::from_call(lock, "H5Pget_virtual_vspace", H5Pget_virtual_vspace(list, index))
    }?;
    let (file, dataset) = ("the name of a source file", "the name of a source dataset");
    Ok(Mapping {
        // SAFETY: the lock is held; `creation` is live; the buffer has room for `size` bytes.
        source_file: sized(lock, "H5Pget_virtual_filename", file, |buffer, size| unsafe {
            H5Pget_virtual_filename(list, index, buffer, size)
        })?,
        // SAFETY: as above.
        source_dataset: sized(lock, "H5Pget_virtual_dsetname", dataset, |buffer, size| unsafe {
            H5Pget_virtual_dsetname(list, index, buffer, size)
        })?,
        source: h5s::selection(lock, &source)?,
        target: h5s::selection(lock, &target)?,
    })
}

/// Makes the dataset to be created a virtual one, still without mappings: all its elements are its
/// fill value (`H5Pset_layout`).
///
/// # Errors
/// [`Error::Call`].
pub fn set_virtual_layout(lock: &Lock, creation: &DatasetCreation) -> Result<(), Error> {
    // SAFETY: the lock is held; `creation` is a live dataset creation list.
    let status = unsafe { H5Pset_layout(creation.raw(), H5D_layout_t::H5D_VIRTUAL) };
    check(lock, "H5Pset_layout", status).map(|_| ())
}

/// Adds a mapping to a dataset to be created, which makes it a virtual one: what is selected in
/// `source`, the dataspace of the dataset `source_dataset` of the file `source_file`, appears where
/// `target`, the dataspace of the virtual dataset, has its selection (`H5Pset_virtual`). Takes
/// about 8 microseconds.
///
/// # Errors
/// [`Error::Call`] also when the numbers of selected elements differ; [`Error::InteriorNul`].
pub fn set_virtual(
    lock: &Lock,
    creation: &DatasetCreation,
    target: &Dataspace,
    source_file: &str,
    source_dataset: &str,
    source: &Dataspace,
) -> Result<(), Error> {
    let (file, dataset) = (c_string(source_file)?, c_string(source_dataset)?);
    // SAFETY: the lock is held; all ids are live, both names end in a zero byte. The call copies
    // all it is given.
    let status = unsafe {
        H5Pset_virtual(creation.raw(), target.raw(), file.as_ptr(), dataset.as_ptr(), source.raw())
    };
    check(lock, "H5Pset_virtual", status).map(|_| ())
}
