//! Planner, kernel and reads against naive oracles that go one element at a time.
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
#[path = "../support/mod.rs"]
mod support;

mod kernel;
mod plan;
mod reads;
