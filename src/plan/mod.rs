//! Pure arithmetic: a selection and a chunk grid become transfers. No file, no I/O.
//!
//! # Terms
//!
//! For a dataset of shape *S* cut into chunks of shape *C*, let *E* be the sequence of elements
//! that a selection names, in the order of the result:
//!
//! - the *chunk* of an element is `floor(e / C)` along every axis, its *offset* is `e mod C`;
//! - a *transfer* is the part of *E* that lies in one chunk: which elements of the chunk, and which
//!   elements of the buffer they belong to. It is the product of one [`Piece`] an axis.
//! - the *buffer* is the result in C order, without padding.
//!
//! # Guarantees
//!
//! 1. **Once.** Every position of the buffer belongs to exactly one transfer, and to exactly one
//!    element of it. The copy kernel writes one buffer from several threads on the strength of it.
//! 2. **Ordered.** Transfers come in row-major order of their chunks, one for every chunk that holds
//!    a selected element, none for any other.
//! 3. **Inside.** Every offset lies inside the chunk and the dataset, every buffer position inside
//!    the buffer.
//! 4. **Nothing allocated** on the heap for integers and slices, whatever the rank. Index arrays and
//!    points take [`PICK_BYTES`] for each index, masks nothing an element, and both
//!    [`GROUP_BYTES`] for each touched chunk of their axis, from the arena that the caller lends.
//! 5. **Checked.** What does not fit 64 bits is an error before any transfer is made.
//!
//! # Cost
//!
//! A transfer of slices costs one step of an odometer: the axes that did not move keep their piece.
//! Index arrays are sorted once by chunk and offset, so that a chunk is visited once and its
//! elements in the order they are stored.

mod axis;
mod display;
mod group;
mod read_plan;
mod transfer;
mod transfers;

pub use group::{GROUP_BYTES, PICK_BYTES};
pub use read_plan::{PlanError, ReadPlan};
pub use transfer::{Piece, Transfer};
pub use transfers::Transfers;
