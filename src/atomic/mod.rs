//! Commits that are whole or not there, whatever stops the writer.
//!
//! ```text
//!            writes                            a commit
//!   below the end ──► overlay of pages ──► journal ──► file
//!   behind it ──────────────────────────────────────► file (the tail)
//! ```
//!
//! A file has a *committed end*: the end of allocation that its superblock tells. While a version is made, what is
//! written behind that end goes to the file, where nobody looks; what is written below it goes to the pages
//! of an overlay. The commit makes the tail durable, writes the pages to a journal next to the file, and then
//! to the file. Whenever that is interrupted there is no complete journal and the file is the old one but for its tail,
//! or there is one and recovery makes the file the new one; who may not write reads through the journal.
//!
//! Nobody reads while the pages are written to the file: a [`WriterLock`] keeps the readers out, who come and go
//! through a [`ReaderGate`]. A file at rest is plain HDF5, and no reader of it needs to know of any of this.
//!
//! Nothing here calls libhdf5, which sees an overlay, or a file that is read, through a driver of its own
//! ([`Storage`](h5strata_ffi::h5fd::Storage)). Of the operating system it asks: open, positional reads and writes,
//! setting the size, setting blocks aside, fsync, fdatasync, unlink, and locks.

mod batch;
mod commit;
mod committed_end;
mod durability;
mod error;
mod identity;
mod journal;
mod locks;
mod merge;
mod overlay;
mod page;
mod pages;
mod read_view;
mod reader;
mod recovery;
mod room;
mod sidecar;
mod tail;
#[cfg(test)]
mod tests;

#[cfg(test)]
use read_view::read_through;

pub(crate) use committed_end::committed_end;
pub use durability::Durability;
pub use error::{Action, JournalError};
pub use identity::Belonging;
pub use locks::{Exclusion, LockError, LockPolicy, ReadGuard, ReaderGate, WriterLock};
pub(crate) use overlay::Overlay;
pub(crate) use read_view::ReadView;
pub(crate) use reader::{Entered, Reader, ReaderStorage};
pub use recovery::{Recovery, Replay};
pub(crate) use recovery::{cut_tail, recover, recover_moved};
pub(crate) use sidecar::JournalPath;
