//! Datasets that get other settings in all versions: what changes is what was asked for, and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod handles;
mod histories;
mod kinds;
mod made;
mod package;
mod rules;
mod strings;

use std::path::PathBuf;

use h5strata::{Durability, OpenOptions, VersionedFile};

/// A folder of its own with a place for a file, which goes when it is dropped.
struct Scratch {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.h5");
        Self { folder, path }
    }

    /// A file whose commits are not synced.
    fn create(&self) -> VersionedFile {
        OpenOptions::new().durability(Durability::Process).create(&self.path).unwrap()
    }

    /// The same file again, to be written to.
    fn open(&self) -> VersionedFile {
        OpenOptions::new().durability(Durability::Process).open_rw(&self.path).unwrap()
    }

    /// Names of the files in the folder.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Checks that a file is sound.
fn assert_sound(file: &VersionedFile) {
    let report = file.verify(&h5strata::VerifyOptions::new()).unwrap();
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{findings:#?}");
}
