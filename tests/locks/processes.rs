//! Writers and readers of other processes, which are this test program again.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use h5strata::atomic::{LockError, LockPolicy, ReaderGate, WriterLock};

use super::{LONG, Other, SHORT, Scratch, unchanged};

/// Environment variables that make the test [`child`] do something: what, and with which file.
const ROLE: &str = "H5STRATA_TEST_LOCKS_ROLE";
const FILE: &str = "H5STRATA_TEST_LOCKS_FILE";
/// How the child says what came of it.
const SAYS: &str = "child: ";

/// Starts a child in a role. It keeps what it has until it is killed.
fn child_as(role: &str, scratch: &Scratch, locking: &str) -> Other {
    let mut command = Command::new("env");
    command.arg(format!("{ROLE}={role}")).arg(format!("{FILE}={}", scratch.path.display()));
    command.arg(format!("HDF5_USE_FILE_LOCKING={locking}"));
    command.arg(env::current_exe().unwrap());
    command.args(["--exact", "processes::child", "--nocapture", "--test-threads=1"]);
    let mut other = Other::start(&command, |line| line.contains(SAYS));
    other.said = other.said.split_once(SAYS).map(|(_, said)| said.to_owned()).unwrap_or_default();
    other
}

/// What a child process does; without a role, nothing.
#[test]
fn child() {
    let (Some(role), Some(path)) = (env::var_os(ROLE), env::var_os(FILE)) else { return };
    let path = PathBuf::from(path);
    match role.to_str().unwrap() {
        "writer" => {
            let writer = as_writer(&path);
            stay(&writer);
        }
        "exclusion" => {
            let mut writer = as_writer(&path).unwrap();
            stay(&writer.exclude_readers(LONG, unchanged));
        }
        "reader" => {
            let file = File::open(&path).unwrap();
            let gate = ReaderGate::new(&file, &path, LockPolicy::from_environment(), SHORT);
            stay(&gate.unwrap().enter());
        }
        other => panic!("{other}"),
    }
}

fn as_writer(path: &Path) -> Result<WriterLock, LockError> {
    let file = File::options().read(true).write(true).open(path).unwrap();
    WriterLock::acquire(&file, path, LockPolicy::from_environment())
}

/// Says what was got and keeps it.
fn stay<T>(got: &Result<T, LockError>) {
    match got {
        Ok(_) => println!("{SAYS}has it"),
        Err(error) => println!("{SAYS}{error:?}"),
    }
    thread::sleep(LONG);
}

#[test]
fn writers_of_two_processes_exclude_each_other_until_one_is_killed() {
    let scratch = Scratch::new();
    let mut other = child_as("writer", &scratch, "TRUE");
    assert_eq!(other.said, "has it");
    assert!(matches!(scratch.writer(), Err(LockError::Writer { .. })));
    let third = child_as("writer", &scratch, "TRUE");
    assert!(third.said.starts_with("Writer {"), "{}", third.said);
    // Readers are let in.
    drop(scratch.gate(Duration::ZERO).enter().unwrap());
    other.kill();
    scratch.writer().unwrap();
}

#[test]
fn a_process_killed_in_an_exclusion_leaves_no_lock() {
    let scratch = Scratch::new();
    let mut other = child_as("exclusion", &scratch, "TRUE");
    assert_eq!(other.said, "has it");
    assert!(scratch.is_locked_alone());
    assert!(matches!(scratch.gate(SHORT).enter(), Err(LockError::Busy { .. })));
    other.kill();
    assert!(!scratch.is_locked());
    drop(scratch.gate(Duration::ZERO).enter().unwrap());
    let mut writer = scratch.writer().unwrap();
    drop(writer.exclude_readers(SHORT, unchanged).unwrap());
}

#[test]
fn a_reader_of_another_process_is_waited_for_until_it_is_killed() {
    let scratch = Scratch::new();
    let mut other = child_as("reader", &scratch, "TRUE");
    assert_eq!(other.said, "has it");
    let mut writer = scratch.writer().unwrap();
    let error = writer.exclude_readers(SHORT, unchanged).unwrap_err();
    assert!(matches!(error, LockError::Timeout { .. }), "{error}");
    other.kill();
    drop(writer.exclude_readers(SHORT, unchanged).unwrap());
}

#[test]
fn a_process_told_to_go_without_locks_takes_none_and_looks_at_none() {
    let scratch = Scratch::new();
    for role in ["writer", "exclusion", "reader"] {
        let other = child_as(role, &scratch, "FALSE");
        assert_eq!(other.said, "has it", "{role}");
        assert!(!scratch.is_locked(), "{role}");
        let mut writer = scratch.writer().unwrap();
        let _exclusion = writer.exclude_readers(SHORT, unchanged).unwrap();
        let another = child_as(role, &scratch, "0");
        assert_eq!(another.said, "has it", "{role}");
    }
}
