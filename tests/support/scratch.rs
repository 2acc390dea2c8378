//! New versioned files.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test fails by a panic; compiled into several test binaries, and each of them uses a part"
)]

use std::path::{Path, PathBuf};

use h5strata::{Durability, OpenOptions, VersionedFile};

/// A place for a versioned file in a folder of its own, which goes when it is dropped.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.h5");
        Self { folder, path }
    }

    /// A copy of a file.
    pub(crate) fn copy_of(file: &Path) -> Self {
        let scratch = Self::new();
        std::fs::copy(file, &scratch.path).unwrap();
        scratch
    }

    /// Creates the file. Nothing is synced: these tests lose no power.
    pub(crate) fn create(&self) -> VersionedFile {
        OpenOptions::new().durability(Durability::Process).create(&self.path).unwrap()
    }

    /// The folder, which has nothing else in it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Names of all files in the folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
