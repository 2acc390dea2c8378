//! Datasets made and resized.

use hdf5_sys::h5d::{H5Dcreate2, H5Dset_extent};
use hdf5_sys::h5p::H5P_DEFAULT;

use super::Dataset;
use crate::error::{Error, check};
use crate::id::{Container, DatasetCreation, Dataspace, Datatype, Id};
use crate::lock::Lock;
use crate::text::c_string;
use crate::{h5f, h5p};

/// Creates a dataset at `path`, seen from `at`, and the groups on the way that are missing
/// (`H5Dcreate2`).
///
/// A virtual one takes 20 to 40 microseconds a mapping.
///
/// # Errors
/// [`Error::Call`]: [`crate::error::Minor::Exists`] when the name is taken; also when a filter that is
/// not optional is not available; [`Error::ReadOnly`]; [`Error::InteriorNul`].
pub fn create<C: Container>(
    lock: &Lock,
    at: &Id<C>,
    path: &str,
    datatype: &Datatype,
    space: &Dataspace,
    creation: &DatasetCreation,
) -> Result<Dataset, Error> {
    let what = "H5Dcreate2";
    let (path, links) = (c_string(path)?, h5p::link_creation_with_parents(lock)?);
    // SAFETY: the lock is held; all ids are live, `path` ends in a zero byte.
    let id = unsafe {
        H5Dcreate2(
            at.raw(),
            path.as_ptr(),
            datatype.raw(),
            space.raw(),
            links.raw(),
            creation.raw(),
            H5P_DEFAULT,
        )
    };
    // SAFETY: H5Dcreate2 returned it, fresh or negative.
    let id = unsafe { Id::from_call(lock, what, id) };
    Dataset::of(lock, h5f::written(lock, what, at, id)?)
}

/// Changes the extent of a chunked dataset, in elements (`H5Dset_extent`). Elements beyond a
/// smaller extent are gone.
///
/// # Errors
/// [`Error::Rank`]; [`Error::ReadOnly`]; [`Error::Call`] for other layouts and beyond the maximum.
pub fn set_extent(lock: &Lock, dataset: &Dataset, dims: &[u64]) -> Result<(), Error> {
    let what = "H5Dset_extent";
    dataset.check_rank(what, dims)?;
    // SAFETY: the lock is held; `dataset` is live, `dims` has a number an axis.
    let status = unsafe { H5Dset_extent(dataset.id.raw(), dims.as_ptr()) };
    h5f::written(lock, what, &dataset.id, check(lock, what, status).map(|_| ()))
}
