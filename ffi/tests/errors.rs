//! A failed call says why, as data.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use std::path::Path;

use h5strata_ffi::error::Minor;
use h5strata_ffi::{Error, h5d, h5f, h5g, lock};
use support::{Options, Writer};

fn frames(error: &Error) -> &[h5strata_ffi::error::Frame] {
    match error {
        Error::Call { stack, .. } => stack.frames(),
        other => panic!("not a failed call: {other}"),
    }
}

#[test]
fn a_missing_file_names_the_call_and_the_reason() {
    let error = h5f::open_read_only(&lock(), Path::new("/no/such/file.h5"), None).unwrap_err();
    assert!(error.has_minor(Minor::CantOpenFile), "{error:?}");
    assert!(!error.has_minor(Minor::NotHdf5));
    let text = error.to_string();
    assert!(text.starts_with("H5Fopen: ") && text.contains("No such file"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn frames_run_from_the_innermost_function_to_the_one_called() {
    let error = h5f::open_read_only(&lock(), Path::new("/no/such/file.h5"), None).unwrap_err();
    let frames = frames(&error);
    assert_eq!(frames.first().unwrap().function, "H5FD__sec2_open");
    assert_eq!(frames.last().unwrap().function, "H5Fopen");
    for frame in frames {
        assert!(frame.file.ends_with(".c") && frame.line > 0, "{frame:?}");
        assert!(!frame.major.is_empty() && !frame.minor_text.is_empty(), "{frame:?}");
    }
}

#[test]
fn a_missing_dataset_is_not_found() {
    let written = Writer::new().finish();
    let error = h5d::open(&written.lock, &written.file, "nothing/here").unwrap_err();
    assert!(error.has_minor(Minor::NotFound), "{error:?}");
}

#[test]
fn a_file_of_something_else_is_not_hdf5() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("text.h5");
    std::fs::write(&path, "no HDF5 in here".repeat(1000)).unwrap();
    let lock = lock();
    assert!(!h5f::is_accessible(&lock, &path).unwrap());
    let error = h5f::open_read_only(&lock, &path, None).unwrap_err();
    assert!(error.has_minor(Minor::NotHdf5), "{error:?}");
}

#[test]
fn a_truncated_file_is_an_error() {
    let writer = Writer::new();
    writer.counting("a", &[5000], &Options::default());
    let written = writer.finish();
    let short = support::beside(&written.path, "short.h5");
    let contents = written.contents();
    std::fs::write(&short, &contents[..contents.len() - 1000]).unwrap();
    let error = h5f::open_read_only(&written.lock, &short, None).unwrap_err();
    assert!(error.has_minor(Minor::Truncated), "{error:?}");
}

#[test]
fn a_name_with_a_zero_byte_is_refused_before_c_sees_it() {
    let written = Writer::new().finish();
    let error = h5g::open(&written.lock, &written.file, "a\0b").unwrap_err();
    assert!(matches!(error, Error::InteriorNul { name } if name == "a\0b"));
}

#[test]
fn a_later_failure_does_not_carry_frames_of_an_earlier_one() {
    let written = Writer::new().finish();
    let first = h5d::open(&written.lock, &written.file, "x").unwrap_err();
    let second = h5d::open(&written.lock, &written.file, "x").unwrap_err();
    assert_eq!(frames(&first).len(), frames(&second).len());
}

#[test]
fn a_failure_leaves_nothing_on_the_error_stack() {
    let lock = lock();
    h5f::open_read_only(&lock, Path::new("/no/such/file.h5"), None).unwrap_err();
    // SAFETY: the lock is held; the number stands for this thread's stack.
    assert_eq!(unsafe { hdf5_sys::h5e::H5Eget_num(hdf5_sys::h5e::H5E_DEFAULT) }, 0);
}
