//! Who may do what to a file meanwhile: locks between writers, readers and other programs.
//!
//! | lock | on | who | how long |
//! |---|---|---|---|
//! | writer | byte 2^62 | a writer of ours, exclusive | while the file is open for writing |
//! | pending | byte 2^62 + 1 | a writer of ours that waits for readers to go, exclusive | one commit's wait and apply |
//! | shared | whole file | a writer of ours; a reader of ours; `h5py` reading | open for writing; one operation; open |
//! | exclusive | whole file | a writer of ours; `h5py` writing | one commit's apply; open |
//!
//! The bytes are locked by `fcntl(F_OFD_SETLK)`, far behind any data, and nobody but h5strata looks at them. The whole
//! file is locked by `flock`, as libhdf5's own driver does it (`H5FD__sec2_lock`): readers `LOCK_SH`, writers
//! `LOCK_EX`, and whoever does not get its lock at once gives up.
//!
//! ```text
//! writer   ──[writer byte, shared ─────────── pending byte ── exclusive: apply ── shared ───]──►
//! reader      [shared] [shared]  [shared]     waits ...                           [shared]
//! h5py r      [shared ─────────────────]      refused                             [shared ──]
//! h5py r+     refused                                                                          [exclusive]
//! ```
//!
//! # Who owns a lock
//! Both kinds belong to the *open file description*: what `open` makes, and what `File::try_clone`, `dup` and `fork`
//! share. So two opens of one file exclude each other even within a process, while a clone holds what its original
//! holds, and unlocking one unlocks the other. [`WriterLock`] and [`ReaderGate`] each want a file that was opened for
//! them; the opener may read and write through it, but must not lock it or hand it to another of them. The kernel takes
//! locks back when the last descriptor of a description is closed, however a process ends; a process that is forked
//! and goes on without `exec` is one more holder.
//!
//! # Without locks
//! [`LockPolicy`] is what `HDF5_USE_FILE_LOCKING` says. Where a file system has no locks, writers are refused unless
//! they were told to go without, and readers go on.

mod error;
mod patience;
mod policy;
mod reader;
mod system;
mod writer;

pub use error::LockError;
pub use policy::LockPolicy;
pub use reader::{ReadGuard, ReaderGate};
pub(crate) use writer::has_writer;
pub use writer::{Exclusion, WriterLock};
