//! Files whose bytes come from a storage are what they would be on disk, and share nothing with each other.
#![allow(clippy::unwrap_used, reason = "what fails to work fails the test")]

mod support;

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use h5strata_ffi::error::Minor;
use h5strata_ffi::{Error, h5d, h5f, h5fd, h5g, h5l, h5p, lock};
use support::fresh::{bytes, i32_type};
use support::open_objects;
use support::storage::{Memory, access, check, contents, create, fill, open, values, virtual_of};
use tempfile::TempDir;

/// The bytes of a file that `fill` has written.
fn filled() -> Vec<u8> {
    let (lock, storage) = (lock(), Memory::holding(Vec::new()));
    let (file, failure) = create(&lock, &storage);
    fill(&lock, &file).unwrap();
    drop(file);
    assert!(failure.take().is_none());
    contents(&storage)
}

fn kind(error: &Error) -> Option<ErrorKind> {
    match error {
        Error::Os { source, .. } => Some(source.kind()),
        _ => None,
    }
}

#[test]
fn what_was_written_through_a_storage_is_a_file_of_hdf5() {
    let (lock, directory) = (lock(), TempDir::new().unwrap());
    let path = directory.path().join("copy.h5");
    std::fs::write(&path, filled()).unwrap();
    let file = h5f::open_read_only(&lock, &path, None).unwrap();
    assert!(h5f::is_sec2(&lock, &file).unwrap());
    check(&lock, &file);
}

#[test]
fn what_was_written_on_disk_is_read_through_a_storage() {
    let (lock, directory) = (lock(), TempDir::new().unwrap());
    let path = directory.path().join("made.h5");
    let file = h5f::create(&lock, &path, &access(&lock)).unwrap();
    fill(&lock, &file).unwrap();
    drop(file);
    let storage = Memory::holding(std::fs::read(&path).unwrap());
    let (file, failure) = open(&lock, &storage, false).unwrap();
    assert!(!h5f::is_sec2(&lock, &file).unwrap());
    assert!(h5f::descriptor(&lock, &file).unwrap().is_none());
    check(&lock, &file);
    drop(file);
    assert!(failure.take().is_none());
    assert_eq!(storage.lock().unwrap().changes, 0);
}

#[test]
fn bytes_are_those_that_hdf5_writes_by_itself() {
    let (lock, directory) = (lock(), TempDir::new().unwrap());
    let path = directory.path().join("made.h5");
    let file = h5f::create(&lock, &path, &access(&lock)).unwrap();
    drop(h5g::create(&lock, &file, "a/b").unwrap());
    drop(file);
    let storage = Memory::holding(Vec::new());
    let (file, _) = create(&lock, &storage);
    drop(h5g::create(&lock, &file, "a/b").unwrap());
    drop(file);
    assert!(contents(&storage) == std::fs::read(&path).unwrap());
}

#[test]
fn a_file_is_opened_again_and_changed() {
    let (lock, storage) = (lock(), Memory::holding(filled()));
    let (file, failure) = open(&lock, &storage, true).unwrap();
    check(&lock, &file);
    drop(h5g::create(&lock, &file, "later").unwrap());
    h5l::delete(&lock, &file, "v").unwrap();
    drop(file);
    assert!(failure.take().is_none());
    let (file, _) = open(&lock, &storage, false).unwrap();
    assert_eq!(h5l::names(&lock, &file).unwrap(), ["a", "later"]);
}

#[test]
fn a_closed_file_lets_its_storage_go_and_an_open_object_keeps_it() {
    let (lock, storage) = (lock(), Memory::holding(filled()));
    let before = open_objects(&lock);
    let (file, _) = open(&lock, &storage, false).unwrap();
    let dataset = h5d::open(&lock, &file, "a/raw").unwrap();
    drop(file);
    assert_eq!(Arc::strong_count(&storage), 2);
    drop(dataset);
    assert_eq!(Arc::strong_count(&storage), 1);
    assert_eq!(open_objects(&lock), before);
}

#[test]
fn opens_of_one_name_and_one_storage_share_nothing() {
    let (lock, storage) = (lock(), Memory::holding(filled()));
    let other = Memory::holding(Vec::new());
    let (reader, _) = open(&lock, &storage, false).unwrap();
    assert_eq!(h5l::names(&lock, &reader).unwrap(), ["a", "v"]);
    let (file, _) = create(&lock, &other);
    assert_eq!(h5l::names(&lock, &file).unwrap(), [""; 0]);
    // Beside a reader a file of sec2 is refused to a writer of the same process, or shared with it.
    let (writer, failure) = open(&lock, &storage, true).unwrap();
    drop(h5g::create(&lock, &writer, "new").unwrap());
    assert_eq!(h5l::names(&lock, &writer).unwrap(), ["a", "new", "v"]);
    drop(writer);
    assert!(failure.take().is_none());
    assert_eq!(h5l::names(&lock, &reader).unwrap(), ["a", "v"], "as it was when it was read");
    let (late, _) = open(&lock, &storage, false).unwrap();
    assert_eq!(h5l::names(&lock, &late).unwrap(), ["a", "new", "v"]);
}

#[test]
fn settings_of_the_access_list_stay_and_the_list_is_not_changed() {
    let (lock, storage) = (lock(), Memory::holding(Vec::new()));
    let list = access(&lock);
    h5p::set_libver_bounds_earliest_to_v110(&lock, &list).unwrap();
    drop(h5fd::create(&lock, Path::new("made.h5"), &list, storage.clone()).unwrap());
    let directory = TempDir::new().unwrap();
    let file = h5f::create(&lock, &directory.path().join("other.h5"), &list).unwrap();
    assert!(h5f::is_sec2(&lock, &file).unwrap(), "the caller's list has its own driver");
}

#[test]
fn a_storage_that_is_not_empty_is_not_created_in() {
    let (lock, before) = (lock(), filled());
    let storage = Memory::holding(before.clone());
    let error = h5fd::create(&lock, Path::new("made.h5"), &access(&lock), storage.clone());
    assert_eq!(kind(&error.unwrap_err()), Some(ErrorKind::AlreadyExists));
    assert!(contents(&storage) == before);
    assert_eq!(Arc::strong_count(&storage), 1);
}

#[test]
fn what_is_no_file_of_hdf5_is_refused_as_such() {
    let lock = lock();
    for not_hdf5 in [Vec::new(), vec![7; 5000]] {
        let storage = Memory::holding(not_hdf5);
        for write in [false, true] {
            let error = open(&lock, &storage, write).unwrap_err();
            let refused = error.has_minor(Minor::NotHdf5)
                || write && kind(&error) == Some(ErrorKind::UnexpectedEof);
            assert!(refused, "{error:?}");
        }
        assert_eq!((Arc::strong_count(&storage), storage.lock().unwrap().changes), (1, 0));
    }
    let mut short = filled();
    short.truncate(short.len() / 2);
    let error = open(&lock, &Memory::holding(short), false).unwrap_err();
    assert!(error.has_minor(Minor::Truncated), "{error:?}");
}

#[test]
fn a_file_open_for_reading_is_not_written() {
    let (lock, before) = (lock(), filled());
    let storage = Memory::holding(before.clone());
    let (file, failure) = open(&lock, &storage, false).unwrap();
    assert!(matches!(h5g::create(&lock, &file, "g"), Err(Error::ReadOnly { .. })));
    drop(file);
    assert!(failure.take().is_none());
    assert!(contents(&storage) == before);
    assert_eq!(storage.lock().unwrap().changes, 0);
}

#[test]
fn a_tail_behind_the_end_of_allocation_is_cut_off_by_a_writer_alone() {
    let (lock, mut bytes) = (lock(), filled());
    let length = bytes.len();
    bytes.resize(length + 5000, 9);
    let storage = Memory::holding(bytes);
    drop(open(&lock, &storage, false).unwrap());
    assert_eq!(contents(&storage).len(), length + 5000);
    drop(open(&lock, &storage, true).unwrap());
    assert_eq!(contents(&storage).len(), length);
}

/// With the flags that the superblock of the newest form has, HDF5 keeps others out of a file that a writer did not
/// close (Format Specification II.A.2, File Consistency Flags).
#[test]
fn nothing_in_a_file_marks_it_as_open() {
    use hdf5_sys::h5f::{H5F_ACC_TRUNC, H5F_libver_t, H5Fclose, H5Fcreate};
    use hdf5_sys::h5p::{
        H5P_CLS_FILE_ACCESS, H5P_DEFAULT, H5Pclose, H5Pcreate, H5Pset_libver_bounds,
    };
    let (lock, directory) = (lock(), TempDir::new().unwrap());
    let path = directory.path().join("newest.h5");
    let name = support::c(path.to_str().unwrap());
    // SAFETY: the lock is held; the ids are fresh, the path ends in a zero byte.
    unsafe {
        let list = support::ok(H5Pcreate(*H5P_CLS_FILE_ACCESS));
        let newest = H5F_libver_t::H5F_LIBVER_V110;
        support::ok(H5Pset_libver_bounds(list, newest, newest));
        let file = H5Fcreate(name.as_ptr(), H5F_ACC_TRUNC, H5P_DEFAULT, list);
        support::ok(H5Fclose(support::ok(file)));
        support::ok(H5Pclose(list));
    }
    let before = std::fs::read(&path).unwrap();
    assert_eq!((before[8], before[11]), (3, 0), "version and flags of the superblock");
    let storage = Memory::holding(before);
    let (file, _) = open(&lock, &storage, true).unwrap();
    drop(h5g::create(&lock, &file, "g").unwrap());
    h5f::flush(&lock, &file).unwrap();
    assert_eq!(contents(&storage)[11], 0);
    let (reader, _) = open(&lock, &storage, false).unwrap();
    assert_eq!(h5l::names(&lock, &reader).unwrap(), ["g"]);
}

#[test]
fn a_virtual_dataset_reads_other_files_as_they_are_on_disk() {
    let (lock, directory) = (lock(), TempDir::new().unwrap());
    std::fs::write(directory.path().join("source.h5"), filled()).unwrap();
    let storage = Memory::holding(Vec::new());
    let path = directory.path().join("made.h5");
    let (file, _) = h5fd::create(&lock, &path, &access(&lock), storage.clone()).unwrap();
    virtual_of(&lock, &file, "other", "source.h5", "a/raw").unwrap();
    virtual_of(&lock, &file, "missing", "nowhere.h5", "a/raw").unwrap();
    drop(file);
    for write in [false, true] {
        let (file, failure) =
            h5fd::open(&lock, &path, &access(&lock), storage.clone(), write).unwrap();
        assert_eq!(values(&lock, &file, "other").unwrap(), (0..1000).collect::<Vec<_>>());
        assert_eq!(values(&lock, &file, "missing").unwrap(), [0; 1000]);
        drop(file);
        assert!(failure.take().is_none());
    }
}

/// What one open writes another thread's does not see, and nothing is mixed up.
#[test]
fn threads_have_files_of_their_own() {
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let storage: Arc<Mutex<Memory>> = Memory::holding(Vec::new());
                for round in 0..20 {
                    let lock = lock();
                    let (file, _) = if round == 0 {
                        create(&lock, &storage)
                    } else {
                        open(&lock, &storage, true).unwrap()
                    };
                    drop(lock);
                    let lock = h5strata_ffi::lock();
                    drop(h5g::create(&lock, &file, &format!("{number}-{round:02}")).unwrap());
                }
                let lock = lock();
                let (file, _) = open(&lock, &storage, false).unwrap();
                let names = h5l::names(&lock, &file).unwrap();
                assert_eq!(names.len(), 20);
                assert!(names.iter().all(|name| name.starts_with(&format!("{number}-"))));
            });
        }
    });
}

#[test]
fn locks_that_hdf5_is_told_to_take_do_not_matter() {
    for setting in ["TRUE", "FALSE", "BEST_EFFORT"] {
        let tests = std::env::current_exe().unwrap();
        let output = Command::new(tests)
            .args(["--exact", "opens_of_one_name_and_one_storage_share_nothing"])
            .env("HDF5_USE_FILE_LOCKING", setting)
            .output()
            .unwrap();
        assert!(output.status.success(), "{setting}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }
}

#[test]
fn elements_are_changed_in_place() {
    let (lock, storage) = (lock(), Memory::holding(filled()));
    let (file, failure) = open(&lock, &storage, true).unwrap();
    let dataset = h5d::open(&lock, &file, "a/raw").unwrap();
    let changed: Vec<i32> = (0..1000).rev().collect();
    h5d::write(&lock, &dataset, &i32_type(&lock), None, &bytes(&changed)).unwrap();
    drop((dataset, file));
    assert!(failure.take().is_none());
    let (file, _) = open(&lock, &storage, false).unwrap();
    assert_eq!(values(&lock, &file, "v").unwrap(), changed);
}
