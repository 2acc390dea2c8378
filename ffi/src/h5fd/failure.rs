//! What went wrong in a storage, kept for whoever opened the file.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;

/// The first failure of the storage of one open file, since it was last asked for.
///
/// libhdf5 is not told of a write that failed, so this is the only place that tells: ask when the file is closed, with
/// all of its objects, before anything that was written is relied on. Of a failed call that had to read it tells the
/// reason. It outlives the file.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    /// Takes the failure out; [`Error::Os`] with the name of the method of [`super::Storage`] that failed.
    #[must_use = "a failure that was taken is not told again"]
    pub fn take(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps a failure, if none is kept yet.
    pub(super) fn keep(&self, call: &'static str, source: io::Error) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Some(Error::Os { call, source });
        }
    }
}
