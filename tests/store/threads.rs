//! Many threads that read one file, and several files at once, get what one thread gets, and nobody waits for ever.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use h5strata::{Dataset, OpenOptions, RawPath, Selection, Version, VersionedFile};
use rayon::prelude::*;

use crate::open;
use crate::support::Outcome;
use crate::support::answers::Digest;
use crate::support::made::{self, MadeFile};
use crate::support::values::Values;

/// More than any test here takes on a slow machine.
const FOR_EVER: Duration = Duration::from_secs(120);

/// Runs `work` on a thread of its own; fails if it does not come to an end.
fn ends(work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match finished.recv_timeout(FOR_EVER) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("still waiting after {FOR_EVER:?}"),
        // Ended or panicked: `join` tells which.
        _ => worker.join().unwrap(),
    }
}

fn check(file: &VersionedFile, row: &Digest) {
    let dataset = file.version(&row.version).unwrap().dataset(&row.dataset).unwrap();
    let values = Values::whole(&dataset).unwrap();
    assert_eq!(values.sha256(), row.sha256, "{}: {row:?}", file.path().display());
}

/// Files with several datasets each: numbers, filters, strings.
fn files() -> Result<Vec<MadeFile>, Box<dyn std::error::Error>> {
    let names =
        ["random-3d", "filter-builtin", "dtype-strings", "libver-latest", "random-datasets"];
    Ok(names.into_iter().map(made::file).collect::<Result<_, _>>()?)
}

#[test]
fn files_and_datasets_can_be_shared_and_sent() {
    fn shared_and_sent<T: Send + Sync + Clone + 'static>() {}
    shared_and_sent::<VersionedFile>();
    shared_and_sent::<Version>();
    shared_and_sent::<Dataset>();
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<h5strata::Error>();
}

#[test]
fn many_threads_on_one_file_get_the_serial_answer() -> Outcome {
    for made in files()? {
        for path in [RawPath::Auto, RawPath::Library] {
            for pool in [0, 2] {
                let file = OpenOptions::new().raw_path(path).threads(pool).open(&made.path)?;
                let digests = made.digests()?;
                ends(move || {
                    thread::scope(|scope| {
                        for first in 0..8 {
                            let (file, digests) = (&file, &digests);
                            // Each thread walks all datasets, each from another one on.
                            scope.spawn(move || {
                                let at = first * digests.len() / 8;
                                let (head, tail) = digests.split_at(at);
                                tail.iter().chain(head).for_each(|row| check(file, row));
                            });
                        }
                    });
                });
            }
        }
    }
    Ok(())
}

#[test]
fn one_dataset_is_read_by_many_threads_at_once() -> Outcome {
    let file = open("report-strided")?;
    let dataset = file.version("r0")?.dataset("data")?;
    ends(move || {
        thread::scope(|scope| {
            for first in 0..8_usize {
                let dataset = &dataset;
                scope.spawn(move || {
                    for start in (first..100).step_by(8) {
                        let selection: Selection = format!("{start}::100").parse().unwrap();
                        let values = dataset.read::<i64>(selection).unwrap();
                        let expected: Vec<i64> = (start as i64..100_000).step_by(100).collect();
                        assert_eq!(values.into_raw_vec_and_offset().0, expected);
                    }
                });
            }
        });
    });
    Ok(())
}

#[test]
fn several_files_are_opened_and_read_at_once() -> Outcome {
    let files: Vec<_> = files()?
        .into_iter()
        .map(|made| made.digests().map(|d| (made, d)))
        .collect::<Result<_, _>>()?;
    ends(move || {
        thread::scope(|scope| {
            for first in 0..2 * files.len() {
                let files = &files;
                scope.spawn(move || {
                    for number in 0..files.len() {
                        let (made, digests) = &files[(first + number) % files.len()];
                        let file = VersionedFile::open(&made.path).unwrap();
                        digests.iter().step_by(5).for_each(|row| check(&file, row));
                    }
                });
            }
        });
    });
    Ok(())
}

#[test]
fn reads_inside_a_callers_own_pool_end() -> Outcome {
    let made = made::file("filter-builtin")?;
    for pool in [0, 1, 2] {
        let file = OpenOptions::new().threads(pool).open(&made.path)?;
        let digests = made.digests()?;
        ends(move || {
            let own = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            own.install(|| digests.par_iter().for_each(|row| check(&file, row)));
            // The pool that all reads share, used by the caller as well.
            digests.par_iter().for_each(|row| check(&file, row));
        });
    }
    Ok(())
}
