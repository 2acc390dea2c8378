//! What is written through this crate is there when it is read: files, groups, links, datasets.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod support;

use std::ffi::CStr;
use std::path::Path;

use h5strata_ffi::error::Minor;
use h5strata_ffi::h5p::{self, FillValue, Filter, Layout};
use h5strata_ffi::h5s::{self, Extent, Hyperslab, Selection, UNLIMITED};
use h5strata_ffi::h5z::{self, FilterCodec};
use h5strata_ffi::{Error, h5d, h5f, h5g, h5l, h5o, lock};
use support::fresh::{Fresh, bytes, i32_type, variable_strings};
use support::open_objects;

fn filter(id: i32, flags: u32, parameters: &[u32]) -> Filter {
    Filter {
        id,
        flags,
        parameters: parameters.to_vec(),
        parameter_count: parameters.len(),
        name: String::new(),
    }
}

fn hyperslab<'a>(start: &'a [u64], count: &'a [u64]) -> Hyperslab<'a> {
    Hyperslab { start, stride: None, count, block: None }
}

#[test]
fn a_file_that_is_there_is_not_created_again() {
    let fresh = Fresh::new();
    let access = h5p::file_access(&fresh.lock).unwrap();
    let other = support::beside(&fresh.path, "other.h5");
    drop(h5f::create(&fresh.lock, &other, &access).unwrap());
    let before = std::fs::read(&other).unwrap();
    let error = h5f::create(&fresh.lock, &other, &access).unwrap_err();
    assert!(
        error.has_minor(Minor::FileExists) || error.has_minor(Minor::CantOpenFile),
        "{error:?}"
    );
    assert_eq!(std::fs::read(&other).unwrap(), before);
}

#[test]
fn a_new_file_has_the_oldest_superblock() {
    let fresh = Fresh::new().read_only();
    assert_eq!(std::fs::read(&fresh.path).unwrap()[8], 0);
}

#[test]
fn a_file_opened_for_writing_can_be_written() {
    let fresh = Fresh::new();
    drop(h5g::create(&fresh.lock, &fresh.file, "a").unwrap());
    let path = fresh.path.clone();
    let fresh = fresh.read_only();
    let access = h5p::file_access(&fresh.lock).unwrap();
    let missing = support::beside(&path, "missing.h5");
    let error = h5f::open_read_write(&fresh.lock, &missing, None).unwrap_err();
    assert!(error.has_minor(Minor::CantOpenFile), "{error:?}");
    let copy = support::beside(&path, "copy.h5");
    std::fs::copy(&path, &copy).unwrap();
    let file = h5f::open_read_write(&fresh.lock, &copy, Some(&access)).unwrap();
    drop(h5g::create(&fresh.lock, &file, "b").unwrap());
    drop(file);
    let file = h5f::open_read_only(&fresh.lock, &copy, None).unwrap();
    assert_eq!(h5l::names(&fresh.lock, &file).unwrap(), ["a", "b"]);
}

#[test]
fn a_flushed_file_is_whole_before_it_is_closed() {
    let fresh = Fresh::new();
    drop(h5g::create(&fresh.lock, &fresh.file, "a").unwrap());
    h5f::flush(&fresh.lock, &fresh.file).unwrap();
    let copy = support::beside(&fresh.path, "copy.h5");
    std::fs::copy(&fresh.path, &copy).unwrap();
    let file = h5f::open_read_only(&fresh.lock, &copy, None).unwrap();
    assert!(h5l::exists(&fresh.lock, &file, "a").unwrap());
}

#[test]
fn a_file_open_for_reading_is_not_written() {
    let fresh = Fresh::new();
    let datatype = i32_type(&fresh.lock);
    drop(fresh.create("a", &datatype, &[2], &fresh.chunked(&[2])));
    let fresh = fresh.read_only();
    let before = std::fs::read(&fresh.path).unwrap();
    let (lock, file) = (&fresh.lock, &fresh.file);
    let (dataset, elements) = (fresh.open("a"), bytes(&[1, 2]));
    let (space, list) = (h5s::scalar(lock).unwrap(), h5p::dataset_creation(lock).unwrap());
    let refusals = [
        h5g::create(lock, file, "g").map(drop),
        h5d::create(lock, file, "b", &datatype, &space, &list).map(drop),
        h5l::delete(lock, file, "a"),
        h5o::copy(lock, file, "a", file, "b"),
        h5d::write(lock, &dataset, &datatype, None, &elements),
        h5d::write_chunk(lock, &dataset, &[0], 0, &elements),
        h5d::set_extent(lock, &dataset, &[3]),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Err(Error::ReadOnly { .. })), "{refusal:?}");
    }
    drop(dataset);
    assert_eq!(std::fs::read(&fresh.path).unwrap(), before);
}

#[test]
fn groups_are_made_with_those_on_the_way() {
    let fresh = Fresh::new();
    let (lock, file) = (&fresh.lock, &fresh.file);
    let group = h5g::create(lock, file, "a/ä/c").unwrap();
    drop(h5g::create(lock, &group, "d").unwrap());
    let error = h5g::create(lock, file, "a/ä").unwrap_err();
    assert!(error.has_minor(Minor::Exists), "{error:?}");
    assert!(matches!(h5g::create(lock, file, "x\0y"), Err(Error::InteriorNul { .. })));
    drop(group);
    let fresh = fresh.read_only();
    let group = h5g::open(&fresh.lock, &fresh.file, "a/ä").unwrap();
    assert_eq!(h5l::names(&fresh.lock, &group).unwrap(), ["c"]);
    assert!(h5l::exists(&fresh.lock, &fresh.file, "a/ä/c/d").unwrap());
}

#[test]
fn a_removed_link_takes_along_what_has_no_other() {
    let fresh = Fresh::new();
    let (lock, file) = (&fresh.lock, &fresh.file);
    drop(h5g::create(lock, file, "a/b").unwrap());
    h5l::delete(lock, file, "a").unwrap();
    assert!(!h5l::exists(lock, file, "a/b").unwrap());
    assert!(h5l::delete(lock, file, "a").is_err());
}

#[test]
fn an_object_is_copied_with_what_is_in_it() {
    let (from, to) = (Fresh::new(), Fresh::new());
    let lock = &from.lock;
    let datatype = i32_type(lock);
    let dataset = from.create("g/a", &datatype, &[3], &from.chunked(&[2]));
    h5d::write(lock, &dataset, &datatype, None, &bytes(&[1, 2, 3])).unwrap();
    h5o::copy(lock, &from.file, "g", &to.file, "x/g").unwrap();
    h5o::copy(lock, &from.file, "g", &from.file, "h").unwrap();
    assert!(
        h5o::copy(lock, &from.file, "g", &from.file, "h").unwrap_err().has_minor(Minor::Exists)
    );
    assert!(h5o::copy(lock, &from.file, "none", &to.file, "none").is_err());
    h5d::write(lock, &dataset, &datatype, None, &bytes(&[4, 5, 6])).unwrap();
    assert_eq!(to.integers("x/g/a"), [1, 2, 3]);
    assert_eq!(from.integers("h/a"), [1, 2, 3]);
}

#[test]
fn dataspaces_have_the_extent_they_are_made_with() {
    let lock = lock();
    let extent = |space| h5s::extent(&lock, &space).unwrap();
    assert_eq!(extent(h5s::null(&lock).unwrap()), Extent::Null);
    assert_eq!(extent(h5s::scalar(&lock).unwrap()), Extent::Scalar);
    let Extent::Simple { dims, max_dims } =
        extent(h5s::growable(&lock, &[2, 0], &[UNLIMITED, 7]).unwrap())
    else {
        panic!()
    };
    assert_eq!((&*dims, &*max_dims), ([2, 0].as_slice(), [UNLIMITED, 7].as_slice()));
    assert!(matches!(h5s::growable(&lock, &[2], &[2, 2]), Err(Error::Rank { .. })));
    assert!(matches!(h5s::growable(&lock, &[2], &[1]), Err(Error::Call { .. })));
}

#[test]
fn a_dataset_is_created_as_its_list_says() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let list = fresh.chunked(&[2, 3]);
    h5p::add_filter(lock, &list, &filter(2, 1, &[])).unwrap();
    h5p::add_filter(lock, &list, &filter(1, 1, &[4])).unwrap();
    h5p::add_filter(lock, &list, &filter(3, 0, &[])).unwrap();
    h5p::set_fill_value(lock, &list, &datatype, &bytes(&[-7])).unwrap();
    h5p::set_no_times(lock, &list).unwrap();
    drop(fresh.create("g/a", &datatype, &[4, 4], &list));
    let error = h5d::create(
        lock,
        &fresh.file,
        "g/a",
        &datatype,
        &h5s::scalar(lock).unwrap(),
        &h5p::dataset_creation(lock).unwrap(),
    )
    .unwrap_err();
    assert!(error.has_minor(Minor::Exists), "{error:?}");

    let fresh = fresh.read_only();
    let lock = &fresh.lock;
    let found = h5d::creation(lock, &fresh.open("g/a")).unwrap();
    assert_eq!(h5p::layout(lock, &found).unwrap(), Layout::Chunked);
    assert_eq!(*h5p::chunk_shape(lock, &found).unwrap(), [2, 3]);
    let filters: Vec<_> = (0..h5p::filter_count(lock, &found).unwrap())
        .map(|index| h5p::filter(lock, &found, index).unwrap())
        .map(|filter| (filter.id, filter.flags, filter.parameters))
        .collect();
    assert_eq!(filters, [(2, 1, vec![4]), (1, 1, vec![4]), (3, 0, vec![])]);
    let fill = h5p::fill_value(lock, &found, &datatype).unwrap();
    assert_eq!(fill, FillValue::Bytes(bytes(&[-7])));
    assert_eq!(fresh.integers("g/a"), [-7; 16]);
}

#[test]
fn a_list_refuses_what_does_not_fit() {
    let lock = lock();
    let list = h5p::dataset_creation(&lock).unwrap();
    assert!(matches!(h5p::set_chunk(&lock, &list, &[1; 33]), Err(Error::Rank { .. })));
    assert!(h5p::set_chunk(&lock, &list, &[0]).is_err());
    let (datatype, strings) = (i32_type(&lock), variable_strings(&lock));
    let error = h5p::set_fill_value(&lock, &list, &datatype, &[0; 3]).unwrap_err();
    assert!(matches!(error, Error::BufferLength { expected: 4, found: 3, .. }), "{error:?}");
    let error = h5p::set_fill_value(&lock, &list, &strings, &[0; 8]).unwrap_err();
    assert!(matches!(error, Error::PointersInType { .. }), "{error:?}");
    let error = h5p::set_fill_variable_string(&lock, &list, &datatype, b"a").unwrap_err();
    assert!(matches!(error, Error::TypeClass { .. }), "{error:?}");
    let error = h5p::set_fill_variable_string(&lock, &list, &strings, b"a\0").unwrap_err();
    assert!(matches!(error, Error::InteriorNul { .. }), "{error:?}");
    let cut = Filter { parameter_count: 300, ..filter(1, 0, &[4]) };
    let error = h5p::add_filter(&lock, &list, &cut).unwrap_err();
    assert!(matches!(error, Error::Limit { found: 300, limit: 1, .. }), "{error:?}");
}

#[test]
fn a_dataset_whose_filter_is_missing_is_not_created() {
    let fresh = Fresh::new();
    let list = fresh.chunked(&[2]);
    h5p::add_filter(&fresh.lock, &list, &filter(31_998, 0, &[1])).unwrap();
    let space = h5s::simple(&fresh.lock, &[2]).unwrap();
    let datatype = i32_type(&fresh.lock);
    let created = h5d::create(&fresh.lock, &fresh.file, "a", &datatype, &space, &list);
    assert!(matches!(created, Err(Error::Call { call: "H5Dcreate2", .. })), "{created:?}");
    assert!(!h5l::exists(&fresh.lock, &fresh.file, "a").unwrap());
}

/// Adds its second parameter to every byte.
struct Add;

impl FilterCodec for Add {
    const ID: i32 = 302;
    const NAME: &'static CStr = c"add";

    fn decode(parameters: &[u32], input: &[u8], _size_hint: usize) -> Option<Vec<u8>> {
        let add = u8::try_from(*parameters.get(1)?).ok()?;
        Some(input.iter().map(|byte| byte.wrapping_sub(add)).collect())
    }

    fn encode(parameters: &[u32], input: &[u8]) -> Option<Vec<u8>> {
        let add = u8::try_from(*parameters.get(1)?).ok()?;
        Some(input.iter().map(|byte| byte.wrapping_add(add)).collect())
    }
}

#[test]
fn a_filter_in_rust_gets_the_parameters_of_its_dataset() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    h5z::register::<Add>(lock).unwrap();
    for (path, add) in [("three", 3), ("five", 5)] {
        let list = fresh.chunked(&[2]);
        h5p::add_filter(lock, &list, &filter(Add::ID, 0, &[9, add])).unwrap();
        let dataset = fresh.create(path, &datatype, &[2], &list);
        h5d::write(lock, &dataset, &datatype, None, &bytes(&[0, 1])).unwrap();
    }
    let fresh = fresh.read_only();
    for (path, add) in [("three", 3), ("five", 5)] {
        let mut stored = [0; 8];
        h5d::read_chunk(&fresh.lock, &fresh.open(path), &[0], &mut stored).unwrap();
        assert_eq!(stored[7], add);
        assert_eq!(fresh.integers(path), [0, 1]);
    }
}

#[test]
fn elements_are_written_where_they_are_selected() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let dataset = fresh.create("a", &datatype, &[2, 3], &fresh.chunked(&[2, 2]));
    h5d::write(lock, &dataset, &datatype, None, &bytes(&[1, 2, 3, 4, 5, 6])).unwrap();
    let part = hyperslab(&[0, 1], &[2, 2]);
    h5d::write(lock, &dataset, &datatype, Some(&part), &bytes(&[7, 8, 9, 10])).unwrap();
    h5d::write(lock, &dataset, &datatype, Some(&hyperslab(&[0, 0], &[0, 0])), &[]).unwrap();
    let fresh = fresh.read_only();
    assert_eq!(fresh.integers("a"), [1, 7, 8, 4, 9, 10]);
}

#[test]
fn elements_that_do_not_fit_are_refused() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let dataset = fresh.create("a", &datatype, &[3], &fresh.chunked(&[2]));
    let error = h5d::write(lock, &dataset, &datatype, None, &[0; 11]).unwrap_err();
    assert!(matches!(error, Error::BufferLength { expected: 12, found: 11, .. }), "{error:?}");
    let rank = hyperslab(&[0, 0], &[1, 1]);
    let error = h5d::write(lock, &dataset, &datatype, Some(&rank), &[0; 4]).unwrap_err();
    assert!(matches!(error, Error::Rank { expected: 1, found: 2, .. }), "{error:?}");
    let beyond = hyperslab(&[2], &[2]);
    assert!(h5d::write(lock, &dataset, &datatype, Some(&beyond), &[0; 8]).is_err());
    let strings = variable_strings(lock);
    let error = h5d::write(lock, &dataset, &strings, None, &[0; 24]).unwrap_err();
    assert!(matches!(error, Error::PointersInType { .. }), "{error:?}");
    let error = h5d::write_variable_strings(lock, &dataset, None, &["a"; 3]).unwrap_err();
    assert!(matches!(error, Error::TypeClass { .. }), "{error:?}");
    let error = h5d::set_extent(lock, &dataset, &[3, 3]).unwrap_err();
    assert!(matches!(error, Error::Rank { .. }), "{error:?}");
}

#[test]
fn elements_beyond_a_smaller_extent_are_gone() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let dataset = fresh.create("a", &datatype, &[3], &fresh.chunked(&[2]));
    h5d::write(lock, &dataset, &datatype, None, &bytes(&[1, 2, 3])).unwrap();
    h5d::set_extent(lock, &dataset, &[1]).unwrap();
    h5d::set_extent(lock, &dataset, &[4]).unwrap();
    assert_eq!(fresh.integers("a"), [1, 0, 0, 0]);
}

#[test]
fn chunks_are_stored_as_they_are_given() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let list = fresh.chunked(&[2]);
    h5p::add_filter(lock, &list, &filter(1, 1, &[4])).unwrap();
    let dataset = fresh.create("a", &datatype, &[4], &list);
    h5d::write_chunk(lock, &dataset, &[2], 1, &bytes(&[5, 6])).unwrap();
    let error = h5d::write_chunk(lock, &dataset, &[0, 0], 1, &[1]).unwrap_err();
    assert!(matches!(error, Error::Rank { .. }), "{error:?}");
    assert!(h5d::write_chunk(lock, &dataset, &[1], 1, &bytes(&[5, 6])).is_err());
    let error = h5d::write_chunk(lock, &dataset, &[4], 1, &bytes(&[5, 6])).unwrap_err();
    assert!(matches!(error, Error::OutOfBounds { axis: 0, found: 4, extent: 4, .. }), "{error:?}");
    assert!(h5d::write_chunk(lock, &dataset, &[0], 1, &[]).is_err());
    drop(dataset);
    let fresh = fresh.read_only();
    let dataset = fresh.open("a");
    assert_eq!(h5d::num_chunks(&fresh.lock, &dataset).unwrap(), 1);
    let info = h5d::chunk_info(&fresh.lock, &dataset, &[2]).unwrap().unwrap();
    assert_eq!((info.size, info.filter_mask), (8, 1));
    assert_eq!(fresh.integers("a"), [0, 0, 5, 6]);
}

#[test]
fn strings_of_variable_length_are_written() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, variable_strings(&fresh.lock));
    let list = fresh.chunked(&[2]);
    h5p::set_fill_variable_string(lock, &list, &datatype, b"fill").unwrap();
    let dataset = fresh.create("a", &datatype, &[4], &list);
    let long = "x".repeat(100_000);
    let part = hyperslab(&[1], &[3]);
    h5d::write_variable_strings(lock, &dataset, Some(&part), &["ä", "", long.as_str()]).unwrap();
    let error =
        h5d::write_variable_strings(lock, &dataset, Some(&part), &["a", "b\0", "c"]).unwrap_err();
    assert!(matches!(error, Error::InteriorNul { .. }), "{error:?}");
    let error = h5d::write_variable_strings(lock, &dataset, Some(&part), &["a"]).unwrap_err();
    assert!(matches!(error, Error::Count { expected: 3, found: 1, .. }), "{error:?}");
    drop(dataset);
    let fresh = fresh.read_only();
    let dataset = fresh.open("a");
    let strings = h5d::read_variable_strings(&fresh.lock, &dataset, None).unwrap();
    assert_eq!(strings, ["fill", "ä", "", &long].map(|text| text.as_bytes().to_vec()));
    let found = h5d::creation(&fresh.lock, &dataset).unwrap();
    let fill = h5p::fill_value(&fresh.lock, &found, &datatype).unwrap();
    assert_eq!(fill, FillValue::VariableString(b"fill".to_vec()));
}

#[test]
fn a_virtual_dataset_shows_its_sources() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let raw = fresh.create("raw", &datatype, &[4], &fresh.chunked(&[2]));
    h5d::write(lock, &raw, &datatype, None, &bytes(&[1, 2, 3, 4])).unwrap();
    let list = h5p::dataset_creation(lock).unwrap();
    h5p::set_fill_value(lock, &list, &datatype, &bytes(&[-1])).unwrap();
    let (target, source) =
        (h5s::growable(lock, &[3], &[UNLIMITED]).unwrap(), h5s::simple(lock, &[4]).unwrap());
    h5s::select_hyperslab(lock, &target, &hyperslab(&[0], &[2])).unwrap();
    h5s::select_hyperslab(lock, &source, &hyperslab(&[2], &[2])).unwrap();
    h5p::set_virtual(lock, &list, &target, ".", "raw", &source).unwrap();
    drop(fresh.create("v", &datatype, &[3], &list));

    h5s::select_hyperslab(lock, &source, &hyperslab(&[2], &[1])).unwrap();
    assert!(h5p::set_virtual(lock, &list, &target, ".", "raw", &source).is_err());
    let named = h5p::set_virtual(lock, &list, &target, ".", "r\0", &source);
    assert!(matches!(named, Err(Error::InteriorNul { .. })));
    drop(raw);

    let fresh = fresh.read_only();
    assert_eq!(fresh.integers("v"), [3, 4, -1]);
    let found = h5d::creation(&fresh.lock, &fresh.open("v")).unwrap();
    assert_eq!(h5p::mapping_count(&fresh.lock, &found).unwrap(), 1);
    let mapping = h5p::mapping(&fresh.lock, &found, 0).unwrap();
    assert_eq!((mapping.source_file.as_str(), mapping.source_dataset.as_str()), (".", "raw"));
    let Selection::Regular(target) = mapping.target else { panic!("{mapping:?}") };
    assert_eq!(*target.start, [0]);
}

#[test]
fn a_virtual_dataset_may_have_no_mapping() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let list = h5p::dataset_creation(lock).unwrap();
    h5p::set_virtual_layout(lock, &list).unwrap();
    h5p::set_fill_value(lock, &list, &datatype, &bytes(&[8])).unwrap();
    drop(fresh.create("v", &datatype, &[2, 2], &list));
    let fresh = fresh.read_only();
    let found = h5d::creation(&fresh.lock, &fresh.open("v")).unwrap();
    assert_eq!(h5p::layout(&fresh.lock, &found).unwrap(), Layout::Virtual);
    assert_eq!(h5p::mapping_count(&fresh.lock, &found).unwrap(), 0);
    assert_eq!(fresh.integers("v"), [8; 4]);
}

#[test]
fn the_same_calls_make_the_same_bytes() {
    let write = || {
        let fresh = Fresh::new();
        let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
        let list = fresh.chunked(&[2]);
        h5p::set_no_times(lock, &list).unwrap();
        let dataset = fresh.create("g/a", &datatype, &[2], &list);
        h5d::write(lock, &dataset, &datatype, None, &bytes(&[1, 2])).unwrap();
        drop(dataset);
        std::fs::read(&fresh.read_only().path).unwrap()
    };
    let first = write();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert!(first == write(), "the files differ");
}

#[test]
fn nothing_stays_open() {
    let fresh = Fresh::new();
    let (lock, datatype) = (&fresh.lock, i32_type(&fresh.lock));
    let before = open_objects(lock);
    let dataset = fresh.create("g/a", &datatype, &[2], &fresh.chunked(&[2]));
    h5d::write(lock, &dataset, &datatype, None, &bytes(&[1, 2])).unwrap();
    drop(dataset);
    h5g::create(lock, &fresh.file, "g").unwrap_err();
    assert_eq!(open_objects(lock), before);
    assert!(Path::new(&fresh.path).exists());
}
