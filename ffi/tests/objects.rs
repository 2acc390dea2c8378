//! Links, objects and attributes, found by path without opening the objects.

mod support;

use h5strata_ffi::h5l::Link;
use h5strata_ffi::h5o::{self, ObjectKind};
use h5strata_ffi::{Error, h5a, h5g, h5l, h5s, h5t};
use hdf5_sys::h5t as sys_h5t;
use support::{Options, Writer, Written};

fn file() -> Written {
    let writer = Writer::with_user_block(512);
    writer.group("g");
    writer.group("g/z");
    writer.counting("g/a", &[3], &Options::default());
    writer.counting("g/b c", &[3], &Options::default());
    writer.soft_link("g/soft", "/g/a");
    writer.soft_link("g/dangling", "/nowhere");
    writer.external_link("g/far", "far.h5", "/x");
    writer.finish()
}

#[test]
fn names_come_in_ascending_order() {
    let written = file();
    assert_eq!(h5l::names(&written.lock, &written.file).unwrap(), ["g"]);
    let group = h5g::open(&written.lock, &written.file, "g").unwrap();
    let names = h5l::names(&written.lock, &group).unwrap();
    assert_eq!(names, ["a", "b c", "dangling", "far", "soft", "z"]);
    let empty = h5g::open(&written.lock, &written.file, "/g/z").unwrap();
    assert_eq!(h5l::names(&written.lock, &empty).unwrap(), Vec::<String>::new());
}

#[test]
fn a_link_exists_or_not_however_deep() {
    let written = file();
    let exists = |path| h5l::exists(&written.lock, &written.file, path).unwrap();
    for there in ["/", "g", "/g", "g/a", "/g//a", "g/b c", "g/dangling", "g/./a"] {
        assert!(exists(there), "{there}");
    }
    for missing in ["x", "/x/y/z", "g/x", "g/x/y"] {
        assert!(!exists(missing), "{missing}");
    }
}

#[test]
fn links_are_told_apart() {
    let written = file();
    let link = |path| h5l::link(&written.lock, &written.file, path).unwrap();
    assert!(matches!(link("g/a"), Link::Hard { .. }));
    assert_eq!(link("g/soft"), Link::Soft);
    assert_eq!(link("g/far"), Link::External);
    assert!(h5l::link(&written.lock, &written.file, "g/none").is_err());
}

#[test]
fn an_object_is_where_its_link_says() {
    let written = file();
    let address = h5o::address(&written.lock, &written.file, "g/a").unwrap();
    assert_eq!(h5l::link(&written.lock, &written.file, "g/a").unwrap(), Link::Hard { address });
    assert_eq!(h5o::address(&written.lock, &written.file, "g/soft").unwrap(), address);
    // Object headers begin with a signature, or in version 1 with their version and a zero byte.
    // The user block is not counted in the address.
    let at = usize::try_from(address).unwrap() + 512;
    let start = &written.contents()[at..at + 4];
    assert!(start == b"OHDR" || start[..2] == [1, 0], "{start:?}");
}

#[test]
fn an_object_of_another_file_is_refused() {
    let written = file();
    let far = support::beside(&written.path, "far.h5");
    let writer = Writer::new();
    writer.counting("x", &[3], &Options::default());
    std::fs::copy(writer.finish().path, far).unwrap();
    let kind = h5o::object(&written.lock, &written.file, "g/far").unwrap().kind;
    assert_eq!(kind, ObjectKind::Dataset);
    let error = h5o::address(&written.lock, &written.file, "g/far").unwrap_err();
    assert!(matches!(error, Error::OtherFile { path } if path == "g/far"));
}

#[test]
fn kinds_are_told_without_opening() {
    let written = file();
    let kind = |path| h5o::object(&written.lock, &written.file, path).unwrap().kind;
    assert_eq!(kind("/"), ObjectKind::Group);
    assert_eq!(kind("g"), ObjectKind::Group);
    assert_eq!(kind("g/a"), ObjectKind::Dataset);
    assert!(h5o::object(&written.lock, &written.file, "g/dangling").is_err());
}

#[test]
fn attributes_are_listed_found_and_read() {
    let writer = Writer::new();
    writer.counting("a", &[3], &Options::default());
    let integer = *sys_h5t::H5T_STD_I64LE;
    writer.bytes(
        "a",
        Some("numbers"),
        integer,
        Some(2),
        &[1_i64.to_le_bytes(), 2_i64.to_le_bytes()].concat(),
    );
    writer.strings("a", Some("words"), &["eins", "", "dreiß"]);
    writer.bytes("a", Some("one"), integer, None, &7_i64.to_le_bytes());
    let written = writer.finish();
    let lock = &written.lock;

    assert_eq!(h5o::object(lock, &written.file, "a").unwrap().attributes, 3);
    assert_eq!(h5a::names(lock, &written.file, "a").unwrap(), ["numbers", "one", "words"]);
    assert!(h5a::names(lock, &written.file, "/").unwrap().is_empty());
    assert!(h5a::exists(lock, &written.file, "a", "one").unwrap());
    assert!(!h5a::exists(lock, &written.file, "a", "two").unwrap());

    let numbers = h5a::open(lock, &written.file, "a", "numbers").unwrap();
    let bytes = h5a::read(lock, &numbers).unwrap();
    assert_eq!(bytes, [1_i64.to_le_bytes(), 2_i64.to_le_bytes()].concat());
    let extent = h5s::extent(lock, &h5a::space(lock, &numbers).unwrap()).unwrap();
    assert_eq!(extent.dims(), [2]);

    let one = h5a::open(lock, &written.file, "a", "one").unwrap();
    assert_eq!(h5a::read(lock, &one).unwrap(), 7_i64.to_le_bytes());
    let extent = h5s::extent(lock, &h5a::space(lock, &one).unwrap()).unwrap();
    assert_eq!(extent, h5s::Extent::Scalar);

    let words = h5a::open(lock, &written.file, "a", "words").unwrap();
    let strings = h5a::read_variable_strings(lock, &words).unwrap();
    assert_eq!(strings, ["eins".as_bytes(), b"", "dreiß".as_bytes()]);
    assert!(h5t::is_variable_string(lock, &h5a::datatype(lock, &words).unwrap()).unwrap());
}

#[test]
fn pointers_are_never_handed_out_as_bytes() {
    let writer = Writer::new();
    writer.strings("/", Some("words"), &["a"]);
    writer.bytes("/", Some("n"), *sys_h5t::H5T_STD_I64LE, None, &[0; 8]);
    let written = writer.finish();
    let words = h5a::open(&written.lock, &written.file, "/", "words").unwrap();
    let error = h5a::read(&written.lock, &words).unwrap_err();
    assert!(matches!(error, Error::PointersInType { .. }));
    let number = h5a::open(&written.lock, &written.file, "/", "n").unwrap();
    let error = h5a::read_variable_strings(&written.lock, &number).unwrap_err();
    assert!(matches!(error, Error::TypeClass { .. }));
}
