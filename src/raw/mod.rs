//! Stored chunks of a `raw_data` dataset: where they are, and bringing their elements to the buffer.
//!
//! ```text
//! plan ──► chunk map ──► where stored ──► bytes ───────────► codec ──► kernel ──► buffer
//!          raw chunk     ChunkTable       positional read,             slot of the
//!                                         or H5Dread_chunk             transfer
//! ```
//!
//! Threads take batches of transfers. A thread looks ahead in its batch for transfers whose bytes
//! follow each other in the file, reads them at once and then serves them one by one; what lies in
//! one piece both in the file and in the buffer is read straight into the buffer. Decoding and copying
//! run outside the lock of libhdf5. A thread holds one read window and two chunks at most; a dataset
//! keeps a few decoded chunks for readers that ask for a few elements at a time.

mod bytes;
mod deliver;
mod error;
mod fetch;
mod library;
mod library_strings;
mod need;
mod raw_data;
mod recent;
mod serve;
mod stored;
mod strings;
mod table;
mod threads;
mod write;

pub use bytes::{FileBytes, IoCounts};
pub use error::{ReadError, ReadFault};
pub(crate) use fetch::Fetch;
pub(crate) use library_strings::read_strings_by_library;
pub(crate) use raw_data::OpenDataset;
pub use raw_data::{RawData, RawPath};
pub(crate) use stored::{read_stored, read_stored_to};
pub use strings::StringFault;
pub(crate) use strings::{
    EMPTY_REFERENCE, FILL_REFERENCE, MAX_REFERENCE, reference_size, resolve_strings,
};
pub use table::StoredChunk;
pub(crate) use threads::Threads;
pub(crate) use write::RawWriter;
