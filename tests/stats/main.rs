//! Where the bytes of files are: counted by hand, by a naive model, and by h5py; and what counting costs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod costs;
mod counted;
mod made_files;

use h5strata::store::{DatasetStats, VersionStats};
use h5strata::{OpenOptions, Stats, StatsOptions, VersionedFile};
use support::scratch::Scratch;

impl Scratch {
    /// Counts the file's bytes, all of them.
    fn stats(&self) -> Stats {
        whole(&VersionedFile::open(&self.path).unwrap())
    }
}

/// Counts a file's bytes, and finds nothing that cannot be counted.
fn whole(file: &VersionedFile) -> Stats {
    let stats = file.stats(&StatsOptions::new()).unwrap();
    let faults: Vec<String> = stats.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, [""; 0], "{}", file.path().display());
    stats
}

fn dataset<'s>(stats: &'s Stats, path: &str) -> &'s DatasetStats {
    stats.datasets.iter().find(|dataset| dataset.dataset == path).unwrap()
}

fn version<'s>(stats: &'s Stats, name: &str) -> &'s VersionStats {
    stats.versions.iter().find(|version| version.version == name).unwrap()
}
