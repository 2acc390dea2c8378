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

use h5strata::{Durability, OpenOptions, VersionedFile};
use support::scratch::Scratch;

impl Scratch {
    /// The same file again, to be written to.
    fn open(&self) -> VersionedFile {
        OpenOptions::new().durability(Durability::Process).open_rw(&self.path).unwrap()
    }
}

/// Checks that a file is sound.
fn assert_sound(file: &VersionedFile) {
    let report = file.verify(&h5strata::VerifyOptions::new()).unwrap();
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{findings:#?}");
}
