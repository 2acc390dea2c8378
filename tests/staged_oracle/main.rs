//! Staged arrays against a naive array of elements: the same random histories over arrays in memory, over a base that
//! knows fill, and over committed datasets of versioned files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by a panic, and its numbers are small"
)]

#[path = "../support/pieces.rs"]
mod pieces;

mod committed;
mod history;
mod memory;
mod model;
