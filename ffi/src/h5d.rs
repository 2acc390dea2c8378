//! H5D: datasets.

mod chunk;
#[cfg_attr(not(hdf5_chunk_iter), path = "h5d/chunk_iter_before_1_14.rs")]
mod chunk_iter;
mod create;
mod read;
#[cfg_attr(not(hdf5_2_0), path = "h5d/read_chunk_before_2_0.rs")]
mod read_chunk;
mod write;

use std::sync::OnceLock;

use hdf5_sys::h5d::{
    H5Dget_create_plist, H5Dget_space, H5Dget_storage_size, H5Dget_type, H5Dopen2,
};
use hdf5_sys::h5o::H5Oclose;
use hdf5_sys::h5p::H5P_DEFAULT;
use libc::c_int;

pub use self::chunk::{
    ChunkInfo, ReadChunk, StoredChunk, chunk_info, chunk_storage_size, is_not_stored, num_chunks,
};
pub use self::chunk_iter::chunk_iter;
pub use self::create::{create, set_extent};
pub use self::read::{Reader, read_variable_strings};
pub use self::read_chunk::read_chunk;
pub use self::write::{write, write_chunk, write_variable_strings};

use crate::error::Error;
use crate::id::{Container, DatasetCreation, DatasetId, Dataspace, Datatype, Id};
use crate::lock::Lock;
use crate::text::c_string;
use crate::{h5f, h5o, h5s, sys};

/// Whether the linked libhdf5 has [`chunk_iter`]. Without it there is no cheap way to the addresses
/// of many chunks.
pub const HAS_CHUNK_ITER: bool = cfg!(hdf5_chunk_iter);

/// An open dataset, and its rank, which cannot change.
#[derive(Debug)]
pub struct Dataset {
    id: DatasetId,
    rank: usize,
    /// Whether its file is open for writing, once that was asked.
    writable: OnceLock<bool>,
}

impl Dataset {
    fn of(lock: &Lock, id: DatasetId) -> Result<Self, Error> {
        let rank = h5s::rank(lock, &space_of(lock, &id)?)?;
        Ok(Self { id, rank, writable: OnceLock::new() })
    }

    /// As an object with attributes.
    pub fn id(&self) -> &DatasetId {
        &self.id
    }

    /// Number of axes; 0 for null and scalar dataspaces.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Refuses to write to a file that is open for reading only, before libhdf5 is asked to.
    fn check_writable(&self, lock: &Lock, call: &'static str) -> Result<(), Error> {
        let writable = match self.writable.get() {
            Some(&writable) => writable,
            None => {
                let writable = h5f::is_writable(lock, &self.id)?;
                *self.writable.get_or_init(|| writable)
            }
        };
        if writable { Ok(()) } else { Err(Error::ReadOnly { call }) }
    }

    /// Refuses coordinates that do not have one number an axis.
    fn check_rank(&self, what: &'static str, coordinates: &[u64]) -> Result<(), Error> {
        if coordinates.len() == self.rank {
            Ok(())
        } else {
            Err(Error::Rank { what, expected: self.rank, found: coordinates.len() })
        }
    }
}

/// Opens the dataset at `path`, seen from `at` (`H5Dopen2`).
///
/// For a virtual dataset this decodes all its mappings: 15 to 29 microseconds each with the listing
/// and the close.
///
/// # Errors
/// [`Error::Call`] when there is none; [`Error::InteriorNul`].
pub fn open<C: Container>(lock: &Lock, at: &Id<C>, path: &str) -> Result<Dataset, Error> {
    let path = c_string(path)?;
    // SAFETY: the lock is held; `at` is live, `path` ends in a zero byte.
    let id = unsafe { H5Dopen2(at.raw(), path.as_ptr(), H5P_DEFAULT) };
    // SAFETY: H5Dopen2 returned it, fresh or negative.
    let id = unsafe { Id::from_call(lock, "H5Dopen2", id) }?;
    Dataset::of(lock, id)
}

/// Opens the dataset whose object header is at `address`, in bytes from the base address, in the file of `at`: no path
/// is looked up (`H5Oopen_by_token`, `H5Oopen_by_addr` before HDF5 1.12).
///
/// # Errors
/// [`Error::Call`] where no object is, [`Error::UnknownValue`] where another kind of object is.
pub fn open_at<C: Container>(lock: &Lock, at: &Id<C>, address: u64) -> Result<Dataset, Error> {
    /// `H5I_DATASET` of H5Ipublic.h.
    const DATASET: c_int = 5;
    let call = "H5Oopen_by_token";
    let raw = h5o::open_at(lock, at, address)?;
    // SAFETY: the lock is held; any number may be asked about.
    let kind = unsafe { sys::H5Iget_type(raw) };
    if raw >= 0 && kind != DATASET {
        // SAFETY: the lock is held; the id of an object was opened here, and nobody else has it.
        unsafe { H5Oclose(raw) };
        return Err(Error::UnknownValue { call, value: kind.into() });
    }
    // SAFETY: H5Oopen_by_token or H5Oopen_by_addr returned it: negative, or fresh and a dataset's.
    let id = unsafe { Id::from_call(lock, call, raw) }?;
    Dataset::of(lock, id)
}

/// Datatype of a dataset (`H5Dget_type`).
///
/// # Errors
/// [`Error::Call`].
pub fn datatype(lock: &Lock, dataset: &Dataset) -> Result<Datatype, Error> {
    // SAFETY: the lock is held; `dataset` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Dget_type", H5Dget_type(dataset.id.raw())) }
}

/// A copy of the dataspace of a dataset, everything selected (`H5Dget_space`).
///
/// # Errors
/// [`Error::Call`].
pub fn space(lock: &Lock, dataset: &Dataset) -> Result<Dataspace, Error> {
    space_of(lock, &dataset.id)
}

fn space_of(lock: &Lock, id: &DatasetId) -> Result<Dataspace, Error> {
    // SAFETY: the lock is held; `id` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Dget_space", H5Dget_space(id.raw())) }
}

/// How a dataset was created (`H5Dget_create_plist`): see [`crate::h5p`].
///
/// # Errors
/// [`Error::Call`].
pub fn creation(lock: &Lock, dataset: &Dataset) -> Result<DatasetCreation, Error> {
    // SAFETY: the lock is held; `dataset` is live; the id returned is fresh or negative.
    unsafe { Id::from_call(lock, "H5Dget_create_plist", H5Dget_create_plist(dataset.id.raw())) }
}

/// Bytes that the file holds for a dataset's elements (`H5Dget_storage_size`); 0 before any is
/// written.
#[must_use]
pub fn storage_size(_lock: &Lock, dataset: &Dataset) -> u64 {
    // SAFETY: the lock is held; the dataset is live.
    unsafe { H5Dget_storage_size(dataset.id.raw()) }
}
