//! Ids are closed when they are dropped, and libhdf5 is used by one thread at a time.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use h5strata_ffi::{h5, h5a, h5d, h5f, h5g, h5s, lock};
use support::{Options, Writer, open_objects};

#[test]
fn everything_is_closed_when_it_is_dropped() {
    let writer = Writer::new();
    writer.group("g");
    writer.counting("g/a", &[4, 6], &Options { chunk: Some(&[2, 3]), ..Options::default() });
    writer.strings("g/a", Some("note"), &["x"]);
    let written = writer.finish();
    let before = open_objects(&written.lock);
    {
        let group = h5g::open(&written.lock, &written.file, "g").unwrap();
        let dataset = h5d::open(&written.lock, &group, "a").unwrap();
        let attribute = h5a::open(&written.lock, &group, "a", "note").unwrap();
        assert_eq!(
            h5s::selected(&written.lock, &h5d::space(&written.lock, &dataset).unwrap()).unwrap(),
            24
        );
        assert_eq!(h5a::read_variable_strings(&written.lock, &attribute).unwrap(), [b"x"]);
        assert_eq!(open_objects(&written.lock), before + 3);
    }
    assert_eq!(open_objects(&written.lock), before);
}

#[test]
fn an_object_outlives_the_file_it_came_from() {
    let writer = Writer::new();
    writer.counting("a", &[3], &Options::default());
    let written = writer.finish();
    let dataset = h5d::open(&written.lock, &written.file, "a").unwrap();
    drop(written.file);
    assert_eq!(
        h5s::selected(&written.lock, &h5d::space(&written.lock, &dataset).unwrap()).unwrap(),
        3
    );
}

#[test]
fn the_lock_can_be_taken_again_by_the_thread_that_has_it() {
    let outer = lock();
    let inner = lock();
    assert_eq!(h5::version(&outer).unwrap(), h5::version(&inner).unwrap());
}

#[test]
fn no_other_thread_is_inside_while_the_lock_is_held() {
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let _lock = lock();
                    assert_eq!(INSIDE.fetch_add(1, Ordering::SeqCst), 0);
                    thread::yield_now();
                    INSIDE.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
}

#[test]
fn ids_may_be_used_and_dropped_by_any_thread() {
    let writer = Writer::new();
    writer.counting("a", &[7], &Options::default());
    let written = writer.finish();
    let (file, path) = (written.file, written.path.clone());
    let directory_stays = written.lock;
    drop(directory_stays);
    let dataset = h5d::open(&lock(), &file, "a").unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let lock = lock();
                let space = h5d::space(&lock, &dataset).unwrap();
                assert_eq!(h5s::extent(&lock, &space).unwrap().dims(), [7]);
            });
        }
    });
    thread::spawn(move || drop((dataset, file))).join().unwrap();
    assert!(h5f::open_read_only(&lock(), &path, None).is_ok());
}
