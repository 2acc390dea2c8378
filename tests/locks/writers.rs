//! Writers of one process, and what is there after each way an exclusion can end.

use std::io;
use std::time::Duration;

use h5strata::atomic::{LockError, LockPolicy, WriterLock};

use super::{LONG, SHORT, Scratch, unchanged};

#[test]
fn two_opens_of_one_process_exclude_each_other() {
    let scratch = Scratch::new();
    let writer = scratch.writer().unwrap();
    let error = scratch.writer().unwrap_err();
    assert!(matches!(&error, LockError::Writer { file } if *file == scratch.path), "{error}");
    drop(writer);
    scratch.writer().unwrap();
}

#[test]
fn a_refused_writer_takes_nothing_from_the_other() {
    let scratch = Scratch::new();
    let _writer = scratch.writer().unwrap();
    let own = scratch.open();
    for _ in 0..2 {
        let refused = WriterLock::acquire(&own, &scratch.path, LockPolicy::Required);
        assert!(matches!(refused, Err(LockError::Writer { .. })), "{refused:?}");
        assert!(scratch.is_locked());
    }
}

#[test]
fn a_writer_refused_by_another_program_leaves_no_lock() {
    let scratch = Scratch::new();
    let program = scratch.open();
    program.try_lock().unwrap();
    let own = scratch.open();
    let refused = WriterLock::acquire(&own, &scratch.path, LockPolicy::Required);
    assert!(matches!(refused, Err(LockError::Busy { .. })), "{refused:?}");
    program.unlock().unwrap();
    assert!(!scratch.is_locked());
    // The writer byte neither: `own` is still open.
    scratch.writer().unwrap();
}

#[test]
fn a_dropped_lock_is_gone_while_its_file_is_open() {
    let scratch = Scratch::new();
    let own = scratch.open();
    drop(WriterLock::acquire(&own, &scratch.path, LockPolicy::Required).unwrap());
    assert!(!scratch.is_locked());
    scratch.writer().unwrap();
}

#[test]
fn a_file_open_for_reading_only_has_no_writer() {
    let scratch = Scratch::new();
    let file = std::fs::File::open(&scratch.path).unwrap();
    let refused = WriterLock::acquire(&file, &scratch.path, LockPolicy::BestEffort);
    assert!(matches!(refused, Err(LockError::Io { .. })), "{refused:?}");
}

#[test]
fn an_exclusion_is_exclusive_while_it_lasts() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    assert!(scratch.is_locked() && !scratch.is_locked_alone());
    for _ in 0..3 {
        let exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
        assert!(scratch.is_locked_alone());
        drop(exclusion);
        assert!(scratch.is_locked() && !scratch.is_locked_alone());
    }
    writer.ensure_held().unwrap();
}

#[test]
fn a_reader_that_stays_makes_a_timeout_after_which_all_is_as_before() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let reader = scratch.open();
    reader.try_lock_shared().unwrap();
    let error = writer.exclude_readers(SHORT, || panic!("not excluded")).unwrap_err();
    assert!(matches!(error, LockError::Timeout { waited, .. } if waited >= SHORT), "{error}");
    reader.unlock().unwrap();
    // Still a writer, and readers of ours need not wait.
    writer.ensure_held().unwrap();
    assert!(scratch.is_locked() && !scratch.is_locked_alone());
    assert!(matches!(scratch.writer(), Err(LockError::Writer { .. })));
    drop(scratch.gate(Duration::ZERO).enter().unwrap());
    drop(writer.exclude_readers(SHORT, unchanged).unwrap());
}

#[test]
fn a_reader_that_goes_is_waited_for() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let reader = scratch.open();
    reader.try_lock_shared().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(SHORT);
            reader.unlock().unwrap();
        });
        drop(writer.exclude_readers(LONG, unchanged).unwrap());
    });
}

#[test]
fn a_changed_file_is_told_and_readers_are_let_in() {
    let scratch = Scratch::new();
    let mut writer = scratch.writer().unwrap();
    let changed = writer.exclude_readers(SHORT, || Ok(false)).unwrap_err();
    assert!(matches!(changed, LockError::Changed { .. }), "{changed}");
    let failed = writer.exclude_readers(SHORT, || Err(io::ErrorKind::NotFound.into())).unwrap_err();
    assert!(matches!(failed, LockError::Io { .. }), "{failed}");
    assert!(!scratch.is_locked_alone());
    drop(scratch.gate(Duration::ZERO).enter().unwrap());
}

#[test]
fn another_writer_that_slips_in_ends_the_right_to_write() {
    let scratch = Scratch::new();
    // Programs that try to write all the time, as h5py does it: at once or not at all.
    let mut writer = scratch.writer().unwrap();
    let reader = scratch.open();
    reader.try_lock_shared().unwrap();
    let own = scratch.open();
    let done = std::sync::atomic::AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                // A reader is there or a writer: never both.
                reader.unlock().unwrap();
                if own.try_lock().is_ok() {
                    std::thread::sleep(SHORT);
                    own.unlock().unwrap();
                }
                let _ = reader.try_lock_shared();
            }
        });
        let end = std::time::Instant::now() + LONG;
        let mut outcome = Ok(());
        while outcome.is_ok() && std::time::Instant::now() < end {
            outcome = match writer.exclude_readers(Duration::ZERO, unchanged).map(drop) {
                Err(LockError::Timeout { .. }) => Ok(()),
                other => other,
            };
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        outcome
    });
    assert!(matches!(outcome, Err(LockError::Lost { .. })), "{outcome:?}");
    assert!(matches!(writer.ensure_held(), Err(LockError::Lost { .. })));
    // It stays so when the other one is gone.
    let again = writer.exclude_readers(SHORT, || panic!("it may not go on"));
    assert!(matches!(again, Err(LockError::Lost { .. })));
}

#[test]
fn without_locks_nothing_is_locked_and_the_check_is_made() {
    let scratch = Scratch::new();
    let free = || WriterLock::acquire(&scratch.open(), &scratch.path, LockPolicy::Off).unwrap();
    let (mut one, _other) = (free(), free());
    assert!(!scratch.is_locked());
    let exclusion = one.exclude_readers(SHORT, unchanged).unwrap();
    assert!(!scratch.is_locked());
    drop(exclusion);
    let changed = one.exclude_readers(SHORT, || Ok(false));
    assert!(matches!(changed, Err(LockError::Changed { .. })));
    scratch.writer().unwrap();
}
