//! What the store promises of files that are made anew from old ones: deleted versions, repacked files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod deleting;
mod handles;
mod histories;
mod picture;
mod repacking;

use std::path::PathBuf;

use support::{SupportError, made};

use h5strata::{DeleteOptions, DeleteReport, DeleteSelection, Error, VersionedFile};

/// A new versioned file in a folder of its own, which goes when it is dropped.
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

    fn create(&self) -> VersionedFile {
        VersionedFile::create(&self.path).unwrap()
    }

    /// Has a step of `tests/python/rebuilding.py` done to the file.
    fn python(&self, step: &str) -> Result<String, SupportError> {
        made::rebuilding(step, &self.path, &[])
    }

    /// Names of all files in the folder.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn delete(file: &mut VersionedFile, names: &[&str]) -> Result<DeleteReport, Error> {
    let selection = DeleteSelection::new().names(names.iter().copied());
    file.delete_versions(&selection, &DeleteOptions::new())
}
