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

use support::scratch::Scratch;
use support::{SupportError, made};

use h5strata::{DeleteOptions, DeleteReport, DeleteSelection, Error, VersionedFile};

impl Scratch {
    /// Has a step of `tests/python/rebuilding.py` done to the file.
    fn python(&self, step: &str) -> Result<String, SupportError> {
        made::rebuilding(step, &self.path, &[])
    }
}

fn delete(file: &mut VersionedFile, names: &[&str]) -> Result<DeleteReport, Error> {
    let selection = DeleteSelection::new().names(names.iter().copied());
    file.delete_versions(&selection, &DeleteOptions::new())
}
