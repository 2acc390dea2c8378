//! The command line, run as a program.
//!
//! `sessions/*.txt` hold commands as a user types them and what they print; `UPDATE_SESSIONS=1` writes them anew. A
//! test that fails shows the command, its status and both streams.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by a panic")]

mod commits;
mod listings;
mod memory;
mod outputs;
mod program;
mod progress;
mod readme;
mod robustness;
mod sessions;
#[path = "../support/mod.rs"]
mod support;

/// A test fails by an error, or by a panic.
type Outcome = Result<(), Box<dyn std::error::Error>>;
