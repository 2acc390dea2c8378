//! A filter in Rust runs inside libhdf5.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use std::ffi::CStr;

use h5strata_ffi::error::Minor;
use h5strata_ffi::h5d::Reader;
use h5strata_ffi::h5z::{self, FilterCodec};
use h5strata_ffi::{Error, h5d, lock};
use support::{Options, Writer, Written, integers};

/// Adds its first parameter to every byte and appends one byte, so that lengths differ.
struct Shift;

impl FilterCodec for Shift {
    const ID: i32 = 300;
    const NAME: &'static CStr = c"shift";

    fn decode(parameters: &[u32], input: &[u8], _size_hint: usize) -> Option<Vec<u8>> {
        let shift = u8::try_from(*parameters.first()?).ok()?;
        let (_, contents) = input.split_last()?;
        Some(contents.iter().map(|byte| byte.wrapping_sub(shift)).collect())
    }

    fn encode(parameters: &[u32], input: &[u8]) -> Option<Vec<u8>> {
        let shift = u8::try_from(*parameters.first()?).ok()?;
        Some(input.iter().map(|byte| byte.wrapping_add(shift)).chain([0xee]).collect())
    }
}

/// Leaves bytes alone when writing and panics when reading.
struct Panics;

impl FilterCodec for Panics {
    const ID: i32 = 301;
    const NAME: &'static CStr = c"panics";

    fn decode(_parameters: &[u32], _input: &[u8], _size_hint: usize) -> Option<Vec<u8>> {
        panic!("on purpose")
    }

    fn encode(_parameters: &[u32], input: &[u8]) -> Option<Vec<u8>> {
        Some(input.to_vec())
    }
}

fn written<F: FilterCodec>(parameters: &[u32]) -> Written {
    let writer = Writer::new();
    h5z::register::<F>(&writer.lock).unwrap();
    writer.counting(
        "a",
        &[40],
        &Options { chunk: Some(&[10]), filter: Some((F::ID, parameters)), ..Options::default() },
    );
    writer.finish()
}

fn read(written: &Written) -> Result<Vec<i32>, Error> {
    let lock = &written.lock;
    let dataset = h5d::open(lock, &written.file, "a").unwrap();
    let reader = Reader::new(lock, &dataset, h5d::datatype(lock, &dataset).unwrap()).unwrap();
    let mut bytes = [0; 160];
    reader.read(lock, None, &mut bytes).map(|()| integers(&bytes))
}

#[test]
fn what_it_encodes_it_decodes() {
    let written = written::<Shift>(&[3]);
    assert_eq!(read(&written).unwrap(), (0..40).collect::<Vec<_>>());
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    assert_eq!(h5d::chunk_storage_size(&written.lock, &dataset, &[10]).unwrap(), 41);
    let mut stored = [0; 41];
    h5d::read_chunk(&written.lock, &dataset, &[10], &mut stored).unwrap();
    assert_eq!((stored[0], stored[40]), (10 + 3, 0xee));
}

#[test]
fn a_filter_that_panics_is_an_error() {
    let written = written::<Panics>(&[]);
    let error = read(&written).unwrap_err();
    assert!(matches!(error, Error::Call { call: "H5Dread", .. }), "{error:?}");
    assert!(!error.has_minor(Minor::NoFilter));
}

#[test]
fn availability_is_told() {
    let lock = lock();
    assert!(h5z::is_available(&lock, 2).unwrap());
    assert!(!h5z::is_available(&lock, 31_999).unwrap());
    h5z::register::<Shift>(&lock).unwrap();
    assert!(h5z::is_available(&lock, Shift::ID).unwrap());
}
