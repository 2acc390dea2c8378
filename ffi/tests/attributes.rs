//! Attributes written through this crate are there when they are read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use std::slice;

use h5strata_ffi::h5s::{self, Extent};
use h5strata_ffi::id::File;
use h5strata_ffi::{Error, Lock, h5a, h5g, h5t};
use hdf5_sys::h5a::{H5Aclose, H5Aopen_by_name, H5Aread};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::{h5f as sys_h5f, h5p, h5t as sys};
use support::fresh::{Fresh, bytes, i32_type, variable_strings};
use support::{Writer, Written, c, ok, open_objects};

fn read(lock: &Lock, file: &File, path: &str, name: &str) -> (Extent, Vec<u8>) {
    let attribute = h5a::open(lock, file, path, name).unwrap();
    let extent = h5s::extent(lock, &h5a::space(lock, &attribute).unwrap()).unwrap();
    (extent, h5a::read(lock, &attribute).unwrap())
}

fn strings(lock: &Lock, file: &File, path: &str, name: &str) -> Vec<Vec<u8>> {
    let attribute = h5a::open(lock, file, path, name).unwrap();
    h5a::read_variable_strings(lock, &attribute).unwrap()
}

#[test]
fn values_and_shapes_are_written() {
    let fresh = Fresh::new();
    let (lock, file, datatype) = (&fresh.lock, &fresh.file, i32_type(&fresh.lock));
    drop(h5g::create(lock, file, "g").unwrap());
    let write = |name, shape, values: &[i32]| {
        h5a::write(lock, file, "g", name, &datatype, shape, &bytes(values)).unwrap();
    };
    write("scalar", Some([].as_slice()), &[1]);
    write("null", None, &[]);
    write("empty", Some(&[2, 0]), &[]);
    write("array", Some(&[2, 2]), &[1, 2, 3, 4]);
    write("größe", Some(&[1]), &[5]);
    let fresh = fresh.read_only();
    let found = |name| read(&fresh.lock, &fresh.file, "g", name);
    assert_eq!(found("scalar"), (Extent::Scalar, bytes(&[1])));
    assert_eq!(found("null"), (Extent::Null, vec![]));
    assert_eq!(found("empty").0.dims(), [2, 0]);
    let (extent, values) = found("array");
    assert_eq!((extent.dims(), values), ([2, 2].as_slice(), bytes(&[1, 2, 3, 4])));
    assert_eq!(found("größe").1, bytes(&[5]));
    let names = h5a::names(&fresh.lock, &fresh.file, "g").unwrap();
    assert_eq!(names, ["array", "empty", "größe", "null", "scalar"]);
}

#[test]
fn an_attribute_is_replaced_whatever_it_was() {
    let fresh = Fresh::new();
    let (lock, file, datatype) = (&fresh.lock, &fresh.file, i32_type(&fresh.lock));
    let text = variable_strings(lock);
    h5a::write_variable_strings(lock, file, "/", "a", &text, Some(&[1]), &["old"]).unwrap();
    h5a::write(lock, file, "/", "a", &datatype, Some(&[2]), &bytes(&[1, 2])).unwrap();
    assert_eq!(read(lock, file, "/", "a").1, bytes(&[1, 2]));
    h5a::write_variable_strings(lock, file, "/", "a", &text, Some(&[]), &["new"]).unwrap();
    let fresh = fresh.read_only();
    assert_eq!(strings(&fresh.lock, &fresh.file, "/", "a"), [b"new"]);
    assert_eq!(h5a::names(&fresh.lock, &fresh.file, "/").unwrap(), ["a"]);
}

#[test]
fn an_attribute_that_cannot_be_written_stays_as_it_was() {
    let fresh = Fresh::new();
    let (lock, file, datatype) = (&fresh.lock, &fresh.file, i32_type(&fresh.lock));
    let text = variable_strings(lock);
    h5a::write(lock, file, "/", "a", &datatype, Some(&[]), &bytes(&[1])).unwrap();
    let error = h5a::write(lock, file, "/", "a", &datatype, Some(&[2]), &[0; 7]).unwrap_err();
    assert!(matches!(error, Error::BufferLength { expected: 8, found: 7, .. }), "{error:?}");
    let error = h5a::write(lock, file, "/", "a", &datatype, None, &[0; 4]).unwrap_err();
    assert!(matches!(error, Error::BufferLength { expected: 0, .. }), "{error:?}");
    let error = h5a::write(lock, file, "/", "a", &text, Some(&[]), &[0; 8]).unwrap_err();
    assert!(matches!(error, Error::PointersInType { .. }), "{error:?}");
    let write = |datatype, values: &[&str]| {
        h5a::write_variable_strings(lock, file, "/", "a", datatype, Some(&[1]), values).unwrap_err()
    };
    assert!(matches!(write(&text, &["x\0y"]), Error::InteriorNul { .. }));
    assert!(matches!(write(&text, &["x", "y"]), Error::Count { expected: 1, found: 2, .. }));
    assert!(matches!(write(&datatype, &["x"]), Error::TypeClass { .. }));
    assert_eq!(read(lock, file, "/", "a").1, bytes(&[1]));
}

#[test]
fn what_is_missing_is_an_error() {
    let fresh = Fresh::new();
    let (lock, file, datatype) = (&fresh.lock, &fresh.file, i32_type(&fresh.lock));
    assert!(h5a::delete(lock, file, "/", "a").is_err());
    assert!(h5a::write(lock, file, "none", "a", &datatype, Some(&[]), &[0; 4]).is_err());
    assert!(h5a::copy(lock, file, "/", file, "/", "a").is_err());
    let name = h5a::write(lock, file, "/", "a\0", &datatype, Some(&[]), &[0; 4]);
    assert!(matches!(name, Err(Error::InteriorNul { .. })));
    h5a::write(lock, file, "/", "a", &datatype, Some(&[]), &[0; 4]).unwrap();
    h5a::delete(lock, file, "/", "a").unwrap();
    assert!(!h5a::exists(lock, file, "/", "a").unwrap());
}

#[test]
fn a_file_open_for_reading_keeps_its_attributes() {
    let fresh = Fresh::new();
    let datatype = i32_type(&fresh.lock);
    h5a::write(&fresh.lock, &fresh.file, "/", "a", &datatype, Some(&[]), &[0; 4]).unwrap();
    let fresh = fresh.read_only();
    let (lock, file) = (&fresh.lock, &fresh.file);
    let refusals = [
        h5a::write(lock, file, "/", "a", &datatype, Some(&[]), &[1; 4]),
        h5a::write(lock, file, "/", "b", &datatype, Some(&[]), &[1; 4]),
        h5a::copy(lock, file, "/", file, "/", "a"),
        h5a::delete(lock, file, "/", "a"),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::ReadOnly { .. })), "{refusal:?}");
    }
    assert_eq!(read(lock, file, "/", "a").1, [0; 4]);
}

/// Copies the attribute `a` of the root group into another file, closes that and opens it again.
fn copied(written: &Written) -> Fresh {
    let to = Fresh::new();
    let before = open_objects(&to.lock);
    drop(h5g::create(&to.lock, &to.file, "g").unwrap());
    h5a::copy(&to.lock, &written.file, "/", &to.file, "g", "a").unwrap();
    // Once more, over the first.
    h5a::copy(&to.lock, &written.file, "/", &to.file, "g", "a").unwrap();
    assert_eq!(open_objects(&to.lock), before);
    let to = to.read_only();
    let types = [(&written.file, "/"), (&to.file, "g")].map(|(file, path)| {
        let attribute = h5a::open(&to.lock, file, path, "a").unwrap();
        h5t::describe(&to.lock, &h5a::datatype(&to.lock, &attribute).unwrap()).unwrap()
    });
    assert_eq!(types[0], types[1]);
    to
}

/// What libhdf5 itself reads of the attribute `a` of the group `g`: for elements with pointers,
/// which the crate does not hand out. What they point to is not freed.
fn elements<const N: usize, T: Copy>(fresh: &Fresh, datatype: hid_t, nothing: T) -> [T; N] {
    let (path, default) = (c(fresh.path.to_str().unwrap()), h5p::H5P_DEFAULT);
    let mut elements = [nothing; N];
    // SAFETY: the lock is held by `fresh`; the ids are fresh, and the callers ask for as many
    // elements as there are, of the type that `datatype` has in memory.
    unsafe {
        let file = ok(sys_h5f::H5Fopen(path.as_ptr(), sys_h5f::H5F_ACC_RDONLY, default));
        let (group, name) = (c("g"), c("a"));
        let attribute = ok(H5Aopen_by_name(file, group.as_ptr(), name.as_ptr(), default, default));
        ok(H5Aread(attribute, datatype, elements.as_mut_ptr().cast()));
        ok(H5Aclose(attribute));
        ok(sys_h5f::H5Fclose(file));
    }
    elements
}

#[test]
fn numbers_and_null_dataspaces_are_copied() {
    let fresh = Fresh::new();
    let (lock, file, datatype) = (&fresh.lock, &fresh.file, i32_type(&fresh.lock));
    drop(h5g::create(lock, file, "g").unwrap());
    h5a::write(lock, file, "/", "a", &datatype, Some(&[2, 1]), &bytes(&[1, 2])).unwrap();
    h5a::write(lock, file, "/", "null", &datatype, None, &[]).unwrap();
    for name in ["a", "null"] {
        h5a::copy(lock, file, "/", file, "g", name).unwrap();
        h5a::copy(lock, file, "g", file, "g", name).unwrap();
        assert_eq!(read(lock, file, "/", name), read(lock, file, "g", name));
    }
}

#[test]
fn strings_of_variable_length_are_copied() {
    let writer = Writer::new();
    writer.strings("/", Some("a"), &["ä", "", "long enough"]);
    let copy = copied(&writer.finish());
    let expected = ["ä", "", "long enough"].map(|text| text.as_bytes().to_vec());
    assert_eq!(strings(&copy.lock, &copy.file, "g", "a"), expected);
}

#[test]
fn sequences_of_variable_length_are_copied() {
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the type is fresh.
    let datatype = unsafe { ok(sys::H5Tvlen_create(*sys::H5T_NATIVE_INT)) };
    let values = [[1, 2, 3].as_slice(), &[], &[4]].map(|values: &[i32]| values.to_vec());
    let sequences = values
        .each_ref()
        .map(|values| sys::hvl_t { len: values.len(), p: values.as_ptr().cast_mut().cast() });
    writer.bytes("/", Some("a"), datatype, Some(3), raw(&sequences));
    let copy = copied(&writer.finish());
    let nothing = sys::hvl_t { len: 0, p: std::ptr::null_mut() };
    let found = elements::<3, _>(&copy, datatype, nothing).map(|sequence| match sequence.len {
        0 => Vec::new(),
        // SAFETY: libhdf5 allocated as many integers as it says.
        length => unsafe { slice::from_raw_parts(sequence.p.cast::<i32>(), length) }.to_vec(),
    });
    assert_eq!(found, values);
}

#[test]
fn strings_within_compounds_are_copied() {
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Named {
        name: *const c_char,
        number: i64,
    }
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the types are fresh, the names end in a zero byte.
    let datatype = unsafe {
        let text = ok(sys::H5Tcopy(*sys::H5T_C_S1));
        ok(sys::H5Tset_size(text, sys::H5T_VARIABLE));
        let compound = ok(sys::H5Tcreate(sys::H5T_class_t::H5T_COMPOUND, size_of::<Named>()));
        ok(sys::H5Tinsert(compound, c("name").as_ptr(), 0, text));
        let number = *sys::H5T_NATIVE_INT64;
        ok(sys::H5Tinsert(compound, c("number").as_ptr(), offset_of!(Named, number), number));
        compound
    };
    let names = [c("first"), c("second")];
    let values = [
        Named { name: names[0].as_ptr(), number: 1 },
        Named { name: names[1].as_ptr(), number: -2 },
    ];
    writer.bytes("/", Some("a"), datatype, Some(2), raw(&values));
    let copy = copied(&writer.finish());
    let found: [_; 2] = elements(&copy, datatype, Named { name: std::ptr::null(), number: 0 });
    for ((found, number), name) in found.into_iter().zip([1, -2]).zip(names) {
        assert_eq!(found.number, number);
        // SAFETY: libhdf5 allocated a string that ends in a zero byte.
        assert_eq!(unsafe { CStr::from_ptr(found.name) }, &*name);
    }
}

#[test]
fn references_are_copied_as_they_are() {
    let writer = Writer::new();
    // The header of the root group: an address that there is.
    let address = 96_u64.to_ne_bytes();
    writer.bytes("/", Some("a"), *hdf5_sys::h5t::H5T_STD_REF_OBJ, Some(1), &address);
    let copy = copied(&writer.finish());
    assert_eq!(read(&copy.lock, &copy.file, "g", "a").1, address);
}

#[test]
fn attributes_of_a_named_type_are_copied() {
    let writer = Writer::new();
    // SAFETY: the writer holds the lock; the type is a fresh copy.
    let datatype = unsafe { ok(sys::H5Tcopy(*sys::H5T_NATIVE_INT)) };
    writer.name_type("named", datatype);
    writer.bytes("/", Some("a"), datatype, Some(1), &bytes(&[7]));
    let copy = copied(&writer.finish());
    assert_eq!(read(&copy.lock, &copy.file, "g", "a").1, bytes(&[7]));
}

/// The bytes of values.
fn raw<T>(values: &[T]) -> &[u8] {
    // SAFETY: the types of this file have no padding between their members.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
