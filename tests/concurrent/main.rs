//! A file that one process changes while others read it, wait for it, or are killed.
//!
//! What every version holds is computed from its name ([`series`]), so each read of each process is checked exactly.
//! Other processes are this test program again in a role ([`roles`]), the program `h5strata`, or
//! `tests/python/concurrent_reader.py`. None may take longer than [`limit`]: who waits for ever fails the test.
//!
//! `H5STRATA_TEST_COMMITS` says how many commits the longest of the tests makes.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod exclusion;
mod handles;
mod moved;
mod no_locks;
mod process;
mod recovery;
mod roles;
mod series;
mod spilled;
mod stopped;
mod stream;
mod unlocked;

use std::path::PathBuf;
use std::time::Duration;

use h5strata::{Durability, OpenOptions, VersionedFile};

/// Longer than anything here takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);
/// Environment variable: how many commits are made beside readers.
const COMMITS: &str = "H5STRATA_TEST_COMMITS";
/// Sooner than who would wait, waits.
const AT_ONCE: Duration = Duration::from_secs(15);

/// A versioned file in a folder of its own, which goes when it is dropped.
struct Scratch {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    /// The first versions of the series.
    fn with_versions(count: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.h5");
        let mut file = writing().create(&path).unwrap();
        (0..count).for_each(|version| series::commit(&mut file, version).unwrap());
        Self { folder, path }
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    /// Where the journal of the file is.
    fn journal(&self) -> PathBuf {
        journal_of(&self.path)
    }

    /// Checks everything in a file of so many versions, and that nothing lies beside it.
    fn holds(&self, count: u64) {
        holds(&VersionedFile::open(&self.path).unwrap(), count);
        assert!(!self.journal().exists());
    }
}

/// How many commits are made beside readers.
fn commits() -> u64 {
    std::env::var(COMMITS).map_or(200, |count| count.parse().unwrap())
}

/// The most time that a process may take.
fn limit() -> Duration {
    LIMIT.max(Duration::from_secs(commits()))
}

fn journal_of(path: &std::path::Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".h5strata-journal");
    name.into()
}

/// Checks everything in a file of so many versions.
fn holds(file: &VersionedFile, count: u64) {
    let names: Vec<_> = file.versions().unwrap().iter().map(|known| known.name.clone()).collect();
    assert_eq!(names, (0..count).map(series::name).collect::<Vec<_>>());
    names.iter().for_each(|name| series::check(&file.version(name).unwrap()));
}

/// How the tests write: nothing is synced, which is all the same to other processes.
fn writing() -> OpenOptions {
    OpenOptions::new().durability(Durability::Process).commit_patience(LIMIT)
}
