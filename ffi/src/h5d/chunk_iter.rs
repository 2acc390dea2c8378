//! All stored chunks in one sweep (HDF5 1.14).

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use hdf5_sys::h5p::H5P_DEFAULT;

use super::chunk::absolute;
use super::{ChunkInfo, Dataset, StoredChunk};
use crate::error::{Error, check};
use crate::lock::Lock;

/// Shows every stored chunk to `visit`, in the order of the chunk index, until it breaks
/// (`H5Dchunk_iter`).
///
/// The lock is held throughout.
///
/// # Errors
/// [`Error::Call`] also for datasets that are not chunked; [`Error::CallbackPanicked`];
/// [`Error::NotInThisVersion`] where [`HAS_CHUNK_ITER`](super::HAS_CHUNK_ITER) is false.
pub fn chunk_iter<F>(lock: &Lock, dataset: &Dataset, visit: F) -> Result<(), Error>
where
    F: FnMut(StoredChunk<'_>) -> ControlFlow<()>,
{
    let call = "H5Dchunk_iter";
    let mut visitor =
        Visitor { rank: dataset.rank, base: absolute(lock, dataset, 0)?, visit, panicked: false };
    // SAFETY: the lock is held; `dataset` is live; `show_chunk::<F>` gets back the pointer to
    // `visitor`, which outlives the call and is not touched during it.
    let status = unsafe {
        hdf5_sys::h5d::H5Dchunk_iter(
            dataset.id.raw(),
            H5P_DEFAULT,
            Some(show_chunk::<F>),
            (&raw mut visitor).cast(),
        )
    };
    // Taken off the error stack even when the panic is what there is to tell.
    let outcome = check(lock, call, status);
    if visitor.panicked {
        return Err(Error::CallbackPanicked { call });
    }
    outcome.map(|_| ())
}

/// What [`show_chunk`] needs.
struct Visitor<F> {
    rank: usize,
    /// What the addresses of this version of libhdf5 lack.
    base: u64,
    visit: F,
    panicked: bool,
}

/// Shows one chunk to the `Visitor<F>` behind `data`.
unsafe extern "C" fn show_chunk<F>(
    offset: *const u64,
    filter_mask: u32,
    address: u64,
    size: u64,
    data: *mut c_void,
) -> i32
where
    F: FnMut(StoredChunk<'_>) -> ControlFlow<()>,
{
    // SAFETY: `data` is what `chunk_iter` passed to the iteration, used by nobody else during it.
    let visitor = unsafe { &mut *data.cast::<Visitor<F>>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: libhdf5 passes an array with a number for each axis of the dataset.
        let offset = unsafe { slice::from_raw_parts(offset, visitor.rank) };
        let info = ChunkInfo { address: address.saturating_add(visitor.base), size, filter_mask };
        (visitor.visit)(StoredChunk { offset, info })
    }));
    match outcome {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => 1,
        Err(_) => {
            visitor.panicked = true;
            -1
        }
    }
}
