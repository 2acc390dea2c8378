//! What `verify` finds: nothing in sound files, and in damaged ones each piece that is damaged, by its name.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod chunks;
mod others;
mod repair;
mod sound;
mod structure;
mod upgrades;

use h5strata::store::{Finding, Severity};
use h5strata::{VerifyOptions, VerifyReport, VersionedFile};
use std::fs::OpenOptions as OsOptions;
use std::os::unix::fs::FileExt as _;
use support::scratch::Scratch;
use support::{Outcome, SupportError, made};

impl Scratch {
    /// Changes the file, which is not open, by `tests/python/alter.py`.
    fn alter(&self, command: &str, arguments: &[&str]) -> Result<String, SupportError> {
        made::alter(command, &self.path, arguments)
    }

    /// Gives one bit of the byte at a place in the file its other value.
    fn flip(&self, place: u64) {
        let file = OsOptions::new().read(true).write(true).open(&self.path).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, place).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], place).unwrap();
    }

    /// The only place in the file where these bytes are.
    fn place_of(&self, wanted: &[u8]) -> u64 {
        let bytes = std::fs::read(&self.path).unwrap();
        let mut places = bytes.windows(wanted.len()).enumerate().filter(|(_, w)| *w == wanted);
        let (place, _) = places.next().unwrap();
        assert!(places.next().is_none(), "{wanted:?} is twice in the file");
        place as u64
    }

    /// Where a chunk of a dataset begins in the file.
    fn address(&self, version: &str, dataset: &str, chunk: &[u64]) -> u64 {
        let file = VersionedFile::open(&self.path).unwrap();
        let dataset = file.version(version).unwrap().dataset(dataset).unwrap();
        let chunks = dataset.stored_chunks().unwrap();
        chunks.iter().find(|stored| stored.coordinate.as_slice() == chunk).unwrap().address
    }

    fn verify(&self) -> VerifyReport {
        self.verify_with(&VerifyOptions::new())
    }

    fn verify_with(&self, options: &VerifyOptions) -> VerifyReport {
        VersionedFile::open(&self.path).unwrap().verify(options).unwrap()
    }

    /// Everything that is found, as text.
    fn findings(&self) -> Vec<String> {
        texts(&self.verify())
    }

    /// The same without reading any chunk.
    fn quick_findings(&self) -> Vec<String> {
        texts(&self.verify_with(&VerifyOptions::new().quick(true)))
    }
}

/// What was found, each with how bad it is.
fn texts(report: &VerifyReport) -> Vec<String> {
    let text = |finding: &Finding| match finding.severity() {
        Severity::Damage => format!("damage: {finding}"),
        Severity::Remark => format!("remark: {finding}"),
    };
    report.findings.iter().map(text).collect()
}

/// Fails unless nothing at all is found.
#[track_caller]
fn assert_sound(report: &VerifyReport, name: &str) {
    assert_eq!(texts(report), [""; 0], "{name}");
    assert!(report.is_sound());
}
