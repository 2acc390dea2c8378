//! Handles of one process: a writer, and files that other threads have opened for themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use h5strata::{OpenOptions, RawPath, VersionedFile};

use crate::support::Outcome;
use crate::{Scratch, series, writing};

/// Locks belong to the open file: those of one handle must not be taken for those of another, nor go with it.
#[test]
fn files_opened_apart_in_one_process_read_right_values_while_another_commits() -> Outcome {
    const VERSIONS: u64 = 60;
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let scratch = Scratch::with_versions(1);
        let (path, done) = (&scratch.path, &AtomicBool::new(false));
        let mut writer = writing().raw_path(raw_path).open_rw(path)?;
        thread::scope(|scope| {
            let readers: Vec<_> = [true, true, false]
                .map(|keep| {
                    scope.spawn(move || {
                        let mut file = OpenOptions::new().raw_path(raw_path).open(path).unwrap();
                        let first = file.version("r0").unwrap();
                        let grid = first.dataset("grid").unwrap();
                        let mut newest = 0;
                        loop {
                            let is_last = done.load(Ordering::Acquire);
                            if !keep {
                                file = OpenOptions::new().raw_path(raw_path).open(path).unwrap();
                            }
                            series::check(&file.current().unwrap());
                            while file.has_version(&series::name(newest + 1)).unwrap() {
                                newest += 1;
                            }
                            series::check(&file.version(&series::name(newest)).unwrap());
                            series::check(&first);
                            series::check_dataset(&grid);
                            if is_last {
                                return newest;
                            }
                        }
                    })
                })
                .into();
            let committed =
                (1..VERSIONS).try_for_each(|version| series::commit(&mut writer, version));
            done.store(true, Ordering::Release);
            for reader in readers {
                assert_eq!(reader.join().unwrap(), VERSIONS - 1);
            }
            committed
        })?;
        crate::holds(&writer, VERSIONS);
        drop(writer);
        scratch.holds(VERSIONS);
    }
    Ok(())
}

/// A reader that had listed the history before took a longer line of parents for one that never ends.
#[test]
fn going_back_counts_versions_that_were_committed_after_the_history_was_listed() -> Outcome {
    let scratch = Scratch::with_versions(1);
    let reader = VersionedFile::open(&scratch.path)?;
    assert_eq!(reader.versions()?.len(), 1);
    let mut writer = writing().open_rw(&scratch.path)?;
    (1..3).try_for_each(|version| series::commit(&mut writer, version))?;
    for back in 0..3 {
        assert_eq!(reader.back(back)?.name(), series::name(2 - back));
    }
    Ok(())
}

/// Locks of a process would go with the first of its handles that is closed.
#[test]
fn closing_a_reader_of_the_same_process_leaves_the_writer_its_locks() -> Outcome {
    let scratch = Scratch::with_versions(2);
    let writer = writing().open_rw(&scratch.path)?;
    for _ in 0..3 {
        crate::holds(&VersionedFile::open(&scratch.path)?, 2);
        assert!(matches!(writing().open_rw(&scratch.path), Err(h5strata::Error::Lock(_))));
    }
    let mut refused =
        crate::process::Process::holding(&scratch.path, "r+", std::time::Duration::ZERO);
    let said = refused.says();
    assert!(said.contains("unable to lock file"), "{said}");
    drop(writer);
    drop(writing().open_rw(&scratch.path)?);
    Ok(())
}
