//! The copy-on-write array of a version that is being made. Pure: no file, storage is a [`Base`].
//!
//! ```text
//!            chunk of the current grid
//!                       │
//!      ┌────────────────┼──────────────────┐
//!  staged: a buffer   base: unchanged,   fill: never written, or
//!  of its own         still in storage   outside of what is left of the base
//! ```
//!
//! # Rules
//!
//! 1. **Lazy.** Making a [`StagedArray`] reads nothing. A chunk of the base is read when it is read
//!    from, or when a write or a resize changes a part of it; a write that covers every element of a
//!    chunk inside the bounds never reads it.
//! 2. **Whole.** The buffer of a staged chunk has the bytes of a whole chunk in C order, and everything
//!    in it beyond the bounds of the array is fill: it can be stored as it is and carries no old data.
//! 3. **As in the base.** A chunk that still stands in the base has there the extent it has here. A resize
//!    that changes the extent of an edge chunk stages it; no other chunk costs anything.
//! 4. **Gone.** What a resize cuts off is never seen again: growing brings fill.
//! 5. **Copy-on-write.** A clone costs O(1), and what is written to one is never seen in the other.
//! 6. **All or nothing.** An operation that fails leaves the values as they were.
//!
//! Memory: the staged chunks, and while the base is read what it holds itself.

mod array;
mod base;
mod broadcast;
mod chunk;
mod error;
mod memory;
mod parallel;
mod read;
mod resize;
mod source;
mod targets;
mod view;
mod write;

pub use array::{ChunkState, StagedArray};
pub use base::{Base, BaseChunk, Wanted, WantedChunk};
pub use error::StagedError;
pub use memory::{MemoryBase, MemoryBaseError};
