//! What differs between versions, and which version wrote what: against a naive model over random histories, against
//! versioned-hdf5's `get_diff`, and what it costs.
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
mod histories;
mod model;
mod package;
mod rules;

use h5strata::VersionedFile;
use h5strata::store::DatasetDiff;
use support::scratch::Scratch;

/// How the dataset "x" differs between two versions, whether it does or not.
fn diff(file: &VersionedFile, old: &str, new: &str) -> DatasetDiff {
    let dataset = |version| file.version(version).unwrap().dataset("x").unwrap();
    dataset(old).diff(&dataset(new)).unwrap()
}

/// Coordinates of the changed chunks, sorted.
fn coordinates(diff: &DatasetDiff) -> Vec<Vec<u64>> {
    let mut coordinates: Vec<Vec<u64>> =
        diff.changed_chunks().map(|chunk| chunk.coordinate.to_vec()).collect();
    coordinates.sort();
    coordinates
}
