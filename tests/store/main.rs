//! What the store promises of files, versions and datasets, by kind of promise.
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

mod broken;
mod history;
mod threads;

use h5strata::VersionedFile;
use support::made;

/// Opens a made file.
fn open(name: &str) -> Result<VersionedFile, Box<dyn std::error::Error>> {
    Ok(VersionedFile::open(made::file(name)?.path)?)
}
