//! Locks on bytes belong to one open of a file, and exclude every other.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what cannot be opened fails the test")]

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;

use h5strata_ffi::Error;
use h5strata_ffi::os::{ByteLock, is_locked, lock_bytes, unlock_bytes};
use tempfile::NamedTempFile;

/// A byte far behind any data.
const FAR: u64 = 1 << 62;

fn two_opens() -> (NamedTempFile, [File; 2]) {
    let file = NamedTempFile::new().unwrap();
    let open = || OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    let opens = [open(), open()];
    (file, opens)
}

fn lock(file: &File, kind: ByteLock) -> bool {
    lock_bytes(file.as_fd(), FAR, 1, kind).unwrap()
}

fn locked(file: &File) -> bool {
    is_locked(file.as_fd(), FAR, 1).unwrap()
}

#[test]
fn an_exclusive_lock_keeps_out_every_other_open_of_the_same_process() {
    let (_path, [a, b]) = two_opens();
    assert!(lock(&a, ByteLock::Exclusive));
    assert!(!lock(&b, ByteLock::Exclusive));
    assert!(!lock(&b, ByteLock::Shared));
    assert!(lock(&a, ByteLock::Exclusive), "the holder may take it again");
    assert!(lock_bytes(b.as_fd(), FAR + 1, 1, ByteLock::Exclusive).unwrap(), "the next byte");
    unlock_bytes(a.as_fd(), FAR, 1).unwrap();
    assert!(lock(&b, ByteLock::Exclusive));
}

#[test]
fn shared_locks_keep_out_exclusive_ones_alone() {
    let (_path, [a, b]) = two_opens();
    assert!(lock(&a, ByteLock::Shared) && lock(&b, ByteLock::Shared));
    assert!(!lock(&a, ByteLock::Exclusive), "not to be converted while another reads");
    unlock_bytes(b.as_fd(), FAR, 1).unwrap();
    assert!(lock(&a, ByteLock::Exclusive));
    assert!(!lock(&b, ByteLock::Shared));
}

#[test]
fn asking_tells_the_locks_of_others_and_takes_none() {
    let (_path, [a, b]) = two_opens();
    assert!(!locked(&a) && !locked(&b));
    for kind in [ByteLock::Shared, ByteLock::Exclusive] {
        assert!(lock(&a, kind));
        assert!(locked(&b) && !locked(&a), "{kind:?}");
    }
    assert!(is_locked(b.as_fd(), FAR - 5, 10).unwrap() && !is_locked(b.as_fd(), 0, 10).unwrap());
    unlock_bytes(a.as_fd(), FAR, 1).unwrap();
    assert!(!locked(&b));
}

#[test]
fn the_last_duplicate_that_is_closed_releases_the_lock_and_no_other_descriptor() {
    let (path, [a, b]) = two_opens();
    assert!(lock(&a, ByteLock::Exclusive));
    let duplicate = a.try_clone().unwrap();
    drop(File::open(path.path()).unwrap());
    drop(a);
    assert!(locked(&b), "a duplicate still has it");
    drop(duplicate);
    assert!(!locked(&b));
}

#[test]
fn a_descriptor_must_be_open_for_what_it_locks() {
    let (path, _opens) = two_opens();
    let reader = File::open(path.path()).unwrap();
    assert!(lock(&reader, ByteLock::Shared));
    let refused = lock_bytes(reader.as_fd(), FAR, 1, ByteLock::Exclusive).unwrap_err();
    assert!(
        matches!(&refused, Error::Os { source, .. } if source.raw_os_error() == Some(libc::EBADF)),
        "{refused}"
    );
}

#[test]
fn ranges_beyond_what_a_file_can_have_are_refused() {
    let (_path, [a, _]) = two_opens();
    let beyond = lock_bytes(a.as_fd(), 1 << 63, 1, ByteLock::Shared).unwrap_err();
    assert!(matches!(beyond, Error::Limit { .. }), "{beyond}");
    let past_the_end = lock_bytes(a.as_fd(), i64::MAX.unsigned_abs(), 2, ByteLock::Shared);
    assert!(matches!(past_the_end, Err(Error::Os { .. })), "{past_the_end:?}");
}
