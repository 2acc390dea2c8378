//! The filter pipeline of a dataset.

use std::ffi::CStr;
use std::ptr;

use hdf5_sys::h5p::{H5Pget_filter2, H5Pget_nfilters, H5Pset_filter};

use crate::error::{Error, check};
use crate::id::DatasetCreation;
use crate::lock::Lock;

/// Parameters of one filter that [`filter`] returns; libhdf5 hands out no more (`H5Pget_filter2`).
pub const MAX_FILTER_PARAMETERS: usize = 256;

/// One filter of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Its number, as registered with the HDF Group.
    pub id: i32,
    /// Bit 0 set: a chunk may go without it (`H5Z_FLAG_OPTIONAL`).
    pub flags: u32,
    /// Its parameters; the first [`MAX_FILTER_PARAMETERS`] if there are more.
    pub parameters: Vec<u32>,
    /// How many parameters it has.
    pub parameter_count: usize,
    /// Its name as the file or the library tells it; empty when neither knows one.
    pub name: String,
}

/// Number of filters of a dataset (`H5Pget_nfilters`).
///
/// # Errors
/// [`Error::Call`].
pub fn filter_count(lock: &Lock, creation: &DatasetCreation) -> Result<u32, Error> {
    // SAFETY: the lock is held; `creation` is a live dataset creation list.
    let count = unsafe { H5Pget_nfilters(creation.raw()) };
    Ok(check(lock, "H5Pget_nfilters", count)?.unsigned_abs())
}

/// One filter of a dataset; the first, 0, is the first to run when writing (`H5Pget_filter2`).
///
/// # Errors
/// [`Error::Call`] also when there is no such filter.
pub fn filter(lock: &Lock, creation: &DatasetCreation, index: u32) -> Result<Filter, Error> {
    let mut flags = 0;
    let mut parameters = [0_u32; MAX_FILTER_PARAMETERS];
    let mut parameter_count = parameters.len();
    let mut name = [0_u8; 256];
    // SAFETY: the lock is held; `creation` is a live dataset creation list. As many parameters are
    // written as `parameter_count` tells there is room for, and as many bytes of the name as its
    // length tells; the last argument may be null.
    let id = unsafe {
        H5Pget_filter2(
            creation.raw(),
            index,
            &mut flags,
            &mut parameter_count,
            parameters.as_mut_ptr(),
            name.len(),
            name.as_mut_ptr().cast(),
            ptr::null_mut(),
        )
    };
    let id = check(lock, "H5Pget_filter2", id)?;
    let known = parameter_count.min(parameters.len());
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(Filter {
        id,
        flags,
        parameters: parameters[..known].to_vec(),
        parameter_count,
        name: name.to_string_lossy().into_owned(),
    })
}

/// Appends a filter to the pipeline of a dataset to be created (`H5Pset_filter`); its name plays no
/// part. The filter need not be available before the dataset is.
///
/// # Errors
/// [`Error::Limit`] for a filter with more parameters than `filter` holds; [`Error::Call`].
pub fn add_filter(lock: &Lock, creation: &DatasetCreation, filter: &Filter) -> Result<(), Error> {
    if filter.parameter_count != filter.parameters.len() {
        return Err(Error::Limit {
            what: "the number of parameters of a filter",
            found: u64::try_from(filter.parameter_count).unwrap_or(u64::MAX),
            limit: u64::try_from(filter.parameters.len()).unwrap_or(u64::MAX),
        });
    }
    // SAFETY: the lock is held; `creation` is a live dataset creation list; as many parameters are
    // read as there are.
    let status = unsafe {
        H5Pset_filter(
            creation.raw(),
            filter.id,
            filter.flags,
            filter.parameters.len(),
            filter.parameters.as_ptr(),
        )
    };
    check(lock, "H5Pset_filter", status).map(|_| ())
}
