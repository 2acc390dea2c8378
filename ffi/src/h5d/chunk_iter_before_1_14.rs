//! All stored chunks in one sweep, which HDF5 before 1.14 cannot give.

use std::ops::ControlFlow;

use super::{Dataset, StoredChunk};
use crate::error::Error;
use crate::lock::Lock;

/// Shows every stored chunk to `visit`, where libhdf5 has `H5Dchunk_iter`: HDF5 1.14.
///
/// # Errors
/// [`Error::NotInThisVersion`]: [`HAS_CHUNK_ITER`](super::HAS_CHUNK_ITER) is false.
pub fn chunk_iter<F>(_lock: &Lock, _dataset: &Dataset, _visit: F) -> Result<(), Error>
where
    F: FnMut(StoredChunk<'_>) -> ControlFlow<()>,
{
    Err(Error::NotInThisVersion { call: "H5Dchunk_iter", since: "1.14" })
}
