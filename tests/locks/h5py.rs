//! h5py as the other program.

use std::time::Duration;

use h5strata::atomic::LockError;

use super::{Other, SHORT, Scratch, unchanged};

#[test]
fn a_reading_h5py_makes_a_timeout_and_a_writing_one_stays_out() {
    let scratch = Scratch::hdf5();
    let mut writer = scratch.writer().unwrap();
    // It can open the file while a writer stages.
    let mut reading = Other::h5py(&scratch.path, "r");
    assert!(reading.is_open(), "{}", reading.said);
    let error = writer.exclude_readers(SHORT, unchanged).unwrap_err();
    assert!(matches!(error, LockError::Timeout { .. }), "{error}");
    reading.kill();
    // The shared lock of the writer alone keeps it out now.
    let writing = Other::h5py(&scratch.path, "r+");
    assert!(writing.is_refused_by_lock(), "{}", writing.said);
    drop(writer.exclude_readers(SHORT, unchanged).unwrap());
}

#[test]
fn a_writing_h5py_keeps_writers_and_readers_out() {
    let scratch = Scratch::hdf5();
    let mut writing = Other::h5py(&scratch.path, "r+");
    assert!(writing.is_open(), "{}", writing.said);
    assert!(matches!(scratch.writer(), Err(LockError::Busy { .. })));
    assert!(matches!(scratch.gate(SHORT).enter(), Err(LockError::Busy { .. })));
    writing.kill();
    scratch.writer().unwrap();
    drop(scratch.gate(SHORT).enter().unwrap());
}

#[test]
fn h5py_cannot_read_during_an_exclusion_and_can_after_it() {
    let scratch = Scratch::hdf5();
    let mut writer = scratch.writer().unwrap();
    let exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
    let during = Other::h5py_for(&scratch.path, "r", Duration::ZERO);
    assert!(during.is_refused_by_lock(), "{}", during.said);
    drop(exclusion);
    let after = Other::h5py_for(&scratch.path, "r", Duration::ZERO);
    assert!(after.is_open(), "{}", after.said);
}

#[test]
fn a_reader_of_ours_is_in_the_way_of_a_writing_h5py_for_one_operation() {
    let scratch = Scratch::hdf5();
    let gate = scratch.gate(SHORT);
    let inside = gate.enter().unwrap();
    let during = Other::h5py_for(&scratch.path, "r+", Duration::ZERO);
    assert!(during.is_refused_by_lock(), "{}", during.said);
    drop(inside);
    let after = Other::h5py_for(&scratch.path, "r+", Duration::ZERO);
    assert!(after.is_open(), "{}", after.said);
}
