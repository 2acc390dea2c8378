//! Opens that are under way: what a number in a file access list stands for.
//!
//! libhdf5 copies driver information with its property lists as it likes; a number may be copied, and found to mean
//! nothing any more, where a pointer would dangle.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::{Failure, Storage};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Read,
    /// To read and change what is there.
    Write,
    /// To begin in an empty storage.
    Create,
}

/// What a file is to be opened with.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) storage: Arc<Mutex<dyn Storage>>,
    pub(super) intent: Intent,
    pub(super) failure: Failure,
}

impl Request {
    pub(super) fn new(storage: Arc<Mutex<dyn Storage>>, intent: Intent) -> Self {
        Self { storage, intent, failure: Failure::default() }
    }
}

#[derive(Default)]
struct Requests {
    last: u64,
    open: HashMap<u64, Request>,
}

fn requests() -> MutexGuard<'static, Requests> {
    static REQUESTS: LazyLock<Mutex<Requests>> = LazyLock::new(Mutex::default);
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request that can be found by its number until this is dropped.
pub(super) struct Pending {
    pub(super) number: u64,
}

impl Pending {
    pub(super) fn new(request: Request) -> Self {
        let mut requests = requests();
        requests.last += 1;
        let number = requests.last;
        requests.open.insert(number, request);
        Self { number }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let request = requests().open.remove(&self.number);
        // Possibly the last owner of a storage: let go when the table is free again.
        drop(request);
    }
}

/// The request of this number, if its open is still under way.
pub(super) fn find(number: u64) -> Option<Request> {
    requests().open.get(&number).cloned()
}
