//! What the store promises of versions that are made, by kind of promise.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod basics;
mod changes;
mod costs;
mod failures;
mod file_spaces;
mod handles;
mod indices;
mod journals;
mod leftovers;
mod long_lists;
mod mappings;
mod masks;
mod progress;
mod reuse;
mod rules;
mod space;

use h5strata::store::{Dataset, Element, StageFault};
use h5strata::{Error, Selection, VersionedFile};
use ndarray::ArrayD;
use support::scratch::Scratch;
use support::{SupportError, made};

impl Scratch {
    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    fn size(&self) -> u64 {
        std::fs::metadata(&self.path).unwrap().len()
    }

    /// Changes the file, which is not open, or lists it, by `tests/python/alter.py`.
    fn alter(&self, command: &str, arguments: &[&str]) -> Result<String, SupportError> {
        made::alter(command, &self.path, arguments)
    }

    /// Every object of the file, which is not open, as h5py sees it.
    fn listing(&self) -> Result<String, SupportError> {
        self.alter("listing", &[])
    }
}

fn dataset(file: &VersionedFile, version: &str, path: &str) -> Dataset {
    file.version(version).unwrap().dataset(path).unwrap()
}

/// The values of a dataset of 64-bit integers.
fn read(file: &VersionedFile, version: &str, path: &str) -> ArrayD<i64> {
    read_as(file, version, path)
}

fn read_as<T: Element>(file: &VersionedFile, version: &str, path: &str) -> ArrayD<T> {
    dataset(file, version, path).read(Selection::all()).unwrap()
}

fn read_strings(file: &VersionedFile, version: &str, path: &str) -> Vec<String> {
    let strings = dataset(file, version, path).read_strings(Selection::all()).unwrap();
    strings.into_raw_vec_and_offset().0
}

/// Why something could not be staged.
fn fault<T>(outcome: Result<T, Error>) -> StageFault {
    match outcome.err().unwrap() {
        Error::Stage { fault, .. } => *fault,
        error => panic!("{error}"),
    }
}
