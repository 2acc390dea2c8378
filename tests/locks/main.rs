//! Who is kept out of a file by whom: writers, readers of ours, h5py, and processes that are killed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "../support/mod.rs"]
mod support;

mod h5py;
mod processes;
mod readers;
mod writers;

use std::fs::{File, TryLockError};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use h5strata::atomic::{LockError, LockPolicy, ReaderGate, WriterLock};

/// Longer than anything here takes, also on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// Long enough for several attempts.
const SHORT: Duration = Duration::from_millis(50);

/// Opens the file of its first argument in the mode of its second, says how that went, and keeps it open for a number
/// of seconds. Whatever the tests run with, it locks: HDF5 looks at the variable when it is loaded.
const HOLD: &str = r#"
import os, sys, time
os.environ["HDF5_USE_FILE_LOCKING"] = "TRUE"
import h5py
path, mode, seconds = sys.argv[1:]
try:
    file = h5py.File(path, mode)
except OSError as error:
    print("refused", error, flush=True)
else:
    with file:
        print("open", flush=True)
        time.sleep(float(seconds))
"#;

/// A file in a folder of its own, which goes when it is dropped.
struct Scratch {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.h5");
        std::fs::write(&path, b"old content").unwrap();
        Self { path, _folder: folder }
    }

    /// A file that h5py can open.
    fn hdf5() -> Self {
        let scratch = Self::new();
        let mut made = Other::h5py_for(&scratch.path, "w", Duration::ZERO);
        assert!(made.is_open() && made.child.wait().unwrap().success(), "{}", made.said);
        scratch
    }

    fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.path).unwrap()
    }

    /// A writer, locking whatever the environment says.
    fn writer(&self) -> Result<WriterLock, LockError> {
        WriterLock::acquire(&self.open(), &self.path, LockPolicy::Required)
    }

    /// A gate of an open of its own, for reading only.
    fn gate(&self, patience: Duration) -> ReaderGate {
        let file = File::open(&self.path).unwrap();
        ReaderGate::new(&file, &self.path, LockPolicy::Required, patience).unwrap()
    }

    /// Whether anybody has the whole file locked, shared or alone.
    fn is_locked(&self) -> bool {
        matches!(self.open().try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Whether somebody has the whole file locked alone.
    fn is_locked_alone(&self) -> bool {
        matches!(self.open().try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

/// What a check says that finds the file as it was left.
#[expect(clippy::unnecessary_wraps, reason = "a check may fail")]
fn unchanged() -> std::io::Result<bool> {
    Ok(true)
}

/// Another process, killed when it is dropped.
struct Other {
    child: Child,
    said: String,
}

impl Other {
    /// Starts it and waits for the line that says how its start went.
    fn start(command: &Command, is_said: impl Fn(&str) -> bool) -> Self {
        let mut child = support::start(command).unwrap();
        let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let said = lines.map(Result::unwrap).find(|line| is_said(line)).unwrap_or_default();
        Self { child, said }
    }

    /// h5py, which opens the file and keeps it open.
    fn h5py(path: &Path, mode: &str) -> Self {
        Self::h5py_for(path, mode, LONG)
    }

    /// h5py, which opens the file and closes it after a while.
    fn h5py_for(path: &Path, mode: &str, time: Duration) -> Self {
        let mut command = Command::new(support::made::python().unwrap());
        command.args(["-c", HOLD]).arg(path).arg(mode).arg(time.as_secs_f64().to_string());
        Self::start(&command, |_| true)
    }

    fn is_open(&self) -> bool {
        self.said == "open"
    }

    /// Whether libhdf5 said that it could not lock the file.
    fn is_refused_by_lock(&self) -> bool {
        self.said.starts_with("refused") && self.said.contains("unable to lock file")
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.kill();
    }
}
