//! File systems without locks: readers go without them, writers only where they are told to.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Run, program};
use crate::support::Outcome;
use crate::{Scratch, series};

/// What file systems say that have no locks.
const ERRORS: [i32; 3] = [libc::ENOLCK, libc::ENOSYS, libc::EOPNOTSUPP];

/// What they may lack.
const CALLS: [&str; 3] = ["flock,fcntl", "flock", "fcntl"];

/// Has programs believe that files have no locks.
struct WithoutLocks {
    library: PathBuf,
}

impl WithoutLocks {
    /// Compiles the library into a folder.
    fn new(folder: &Path) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/concurrent/no_locks.c");
        let library = folder.join("libnolocks.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]);
        compiler.arg("-o").arg(&library).arg(source).arg("-ldl");
        assert!(compiler.status().unwrap().success(), "{compiler:?}");
        Self { library }
    }

    /// Runs a command where these calls fail with an error; `word` is what `HDF5_USE_FILE_LOCKING` says.
    fn run(&self, calls: &str, error: i32, word: Option<&str>, command: &Command) -> Run {
        let (library, error) = (self.library.to_string_lossy(), error.to_string());
        let mut variables =
            vec![("LD_PRELOAD", &*library), ("NO_LOCKS_CALLS", calls), ("NO_LOCKS_ERRNO", &error)];
        variables.extend(word.map(|word| ("HDF5_USE_FILE_LOCKING", word)));
        Run::with(&variables, command)
    }
}

/// A change of the first element, as a file of operations.
fn operations(folder: &Path) -> std::io::Result<String> {
    let path = folder.join("operations.json");
    std::fs::write(&path, r#"[{"op": "write", "dataset": "series", "select": "0", "value": 7}]"#)?;
    Ok(path.to_string_lossy().into_owned())
}

/// The first three elements of the current version.
fn first_three(path: &Path) -> Command {
    program("read", path, &["series", "-s", ":3", "--format", "csv"])
}

#[test]
fn who_reads_goes_without_and_who_writes_is_told_what_to_do() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let folder = scratch.folder.path();
    let (without, operations) = (WithoutLocks::new(folder), operations(folder)?);
    let before = scratch.bytes();
    let absent = folder.join("new.h5");
    let name = series::name(1);
    for error in ERRORS {
        for calls in CALLS {
            for word in [None, Some("TRUE"), Some("1")] {
                let what = format!("{calls}: {error}: {word:?}");
                let run = |command| without.run(calls, error, word, &command);
                assert_eq!(run(first_three(&scratch.path)).succeeds(), "0\n1\n2\n", "{what}");
                assert!(
                    run(program("log", &scratch.path, &[])).succeeds().contains(&name),
                    "{what}"
                );
                for command in [
                    program("commit", &scratch.path, &["made", "--ops", &operations]),
                    program("set-current", &scratch.path, &[&name]),
                    program("recover", &scratch.path, &[]),
                ] {
                    let said = run(command).fails();
                    for part in [
                        "versions.h5: the file system has no file locks",
                        &std::io::Error::from_raw_os_error(error).to_string(),
                        "where nobody else uses the file, set HDF5_USE_FILE_LOCKING=FALSE",
                    ] {
                        assert!(said.contains(part), "{what}: {part:?} is not in {said}");
                    }
                }
                assert!(scratch.bytes() == before && !scratch.journal().exists(), "{what}");
            }
        }
    }
    // Nobody else knows a file that has no name yet.
    without
        .run(CALLS[0], ERRORS[0], Some("BEST_EFFORT"), &program("init", &absent, &[]))
        .succeeds();
    assert!(absent.exists());
    Ok(())
}

#[test]
fn who_is_told_to_go_without_or_to_do_its_best_commits_and_recovers() -> Outcome {
    let folder = tempfile::tempdir()?;
    let (without, operations) = (WithoutLocks::new(folder.path()), operations(folder.path())?);
    for error in ERRORS {
        for calls in CALLS {
            for word in ["FALSE", "0", "BEST_EFFORT"] {
                let what = format!("{calls}: {error}: {word}");
                let scratch = Scratch::with_versions(3);
                let run = |command| without.run(calls, error, Some(word), &command).succeeds();
                run(program("commit", &scratch.path, &["made", "--ops", &operations]));
                assert!(!scratch.journal().exists(), "{what}");
                assert_eq!(run(first_three(&scratch.path)), "7\n1\n2\n", "{what}");
                run(program("set-current", &scratch.path, &[&series::name(2)]));
                let said = run(program("recover", &scratch.path, &[]));
                assert!(said.contains("nothing to recover"), "{what}: {said}");
                // With locks again.
                assert_eq!(Run::with(&[], &first_three(&scratch.path)).succeeds(), "0\n1\n2\n");
                let old = program("read", &scratch.path, &["series", "-s", "0", "-v", "made"]);
                assert_eq!(Run::with(&[], &old).succeeds().trim(), "7", "{what}");
            }
        }
    }
    Ok(())
}

/// What is no lack of locks was taken for one, and a file written to that others could be writing.
#[test]
fn a_lock_that_fails_for_another_reason_is_an_error_to_all_but_those_who_take_none() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let without = WithoutLocks::new(scratch.folder.path());
    let before = scratch.bytes();
    let command = program("set-current", &scratch.path, &["r0"]);
    for calls in CALLS {
        for word in [None, Some("BEST_EFFORT")] {
            let said = without.run(calls, libc::EIO, word, &command).fails();
            let reason = std::io::Error::from_raw_os_error(libc::EIO).to_string();
            assert!(said.contains("versions.h5") && said.contains(&reason), "{calls}: {said}");
        }
    }
    assert!(scratch.bytes() == before);
    without.run(CALLS[0], libc::EIO, Some("FALSE"), &command).succeeds();
    assert!(scratch.bytes() != before);
    Ok(())
}
