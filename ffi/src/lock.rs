//! The lock on libhdf5, as a value that every call borrows.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Once;

use parking_lot::ReentrantMutexGuard;

/// Proof that this thread is the only one inside libhdf5.
///
/// libhdf5 keeps global state and is not thread-safe as we build and link it. Every function of
/// this crate that calls it borrows a `Lock`, so a call without the lock does not compile. The lock
/// is the one of the -sys crate: other users of that crate in the process are kept out as well.
///
/// It is re-entrant: dropping an id while the lock is held takes it once more. It stays with its
/// thread:
///
/// ```compile_fail,E0277
/// fn sent_to_another_thread<T: Send>(_value: T) {}
/// sent_to_another_thread(h5strata_ffi::lock());
/// ```
///
/// ```compile_fail,E0277
/// fn shared_with_another_thread<T: Sync>(_value: T) {}
/// shared_with_another_thread(h5strata_ffi::lock());
/// ```
#[must_use = "the library is unlocked again when this value is dropped"]
#[derive(Debug)]
pub struct Lock {
    _guard: ReentrantMutexGuard<'static, ()>,
    /// Neither `Send` nor `Sync`: on another thread the value, or a borrow of it, would prove
    /// nothing.
    _bound_to_thread: PhantomData<*const ()>,
}

thread_local! {
    /// Whether this thread's error stack was told not to print itself. Builds of libhdf5 that are
    /// thread-safe have one stack, with its own setting, for each thread.
    static SILENCED: Cell<bool> = const { Cell::new(false) };
}

/// Waits for the library to be free and takes it; the first caller initialises it.
///
/// Initialising runs `H5open`, without which the ids of built-in types and property list classes
/// are not set, and stops libhdf5 from printing its error stack on stderr: failures come back as
/// [`crate::Error`]. If `H5open` fails, so does every later call, each with its own error.
pub fn lock() -> Lock {
    static OPEN: Once = Once::new();
    let lock = Lock { _guard: hdf5_sys::LOCK.lock(), _bound_to_thread: PhantomData };
    OPEN.call_once(|| {
        // SAFETY: the lock is held; H5open may be called at any time and has no arguments.
        unsafe { hdf5_sys::h5::H5open() };
    });
    SILENCED.with(|silenced| {
        if !silenced.replace(true) {
            // SAFETY: the lock is held; no function to print with needs no data either.
            unsafe {
                hdf5_sys::h5e::H5Eset_auto2(hdf5_sys::h5e::H5E_DEFAULT, None, ptr::null_mut())
            };
        }
    });
    lock
}
