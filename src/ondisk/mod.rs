//! The few HDF5 on-disk structures that are decoded, and written, without libhdf5.
//!
//! Opening a virtual dataset through libhdf5 costs tens of microseconds a mapping. The list of mappings is
//! reached directly instead, in four positional reads:
//!
//! ```text
//! superblock ──► object header ──► layout message ──► global heap collection ──► object
//! (widths, base)  (v1, v2, blocks)  (class virtual)     (GCOL)                     (list of mappings, a string)
//! ```
//!
//! Attributes and fill values of variable-length strings are found in the object header as well, because libhdf5 (up to 2.2 at least)
//! reads a damaged global heap collection for ever (`H5HG__cache_heap_deserialize`). B-trees of chunks are walked
//! because that takes a third of the time of `H5Dchunk_iter` and can end where a read has what it needs.
//!
//! Everything here follows the HDF5 File Format Specification, version 3.0; the section is named where a
//! structure is decoded. All integers are little endian. Addresses in the file are relative to the
//! superblock's base address; *absolute* means bytes from the start of the file.
//!
//! Files are untrusted. No length, offset or count is used before it was checked, nothing allocates more than
//! the file holds, and every loop over the file is bounded. What is valid HDF5 but not decoded here
//! is [`OndiskError::Unsupported`], the sign for callers to ask libhdf5 instead; every other error means that the
//! file is damaged or not yet flushed.
//!
//! The one thing that is written is the other way round: [`MapPatcher`] gives lists of mappings to virtual datasets that
//! were made without.
//!
//! A file that another program writes without locks may not show its metadata until that program flushes it.

mod attribute;
mod checksum;
mod chunk_btree;
mod cursor;
mod error;
mod fill_value;
mod global_heap;
mod message;
mod object_header;
mod patch;
mod read_at;
mod superblock;
#[cfg(test)]
pub(crate) mod test_image;
mod write_at;

pub use attribute::{
    StoredAttribute, has_other_attributes, stored_attributes, variable_string_references,
};
pub use checksum::{Lookup3, lookup3};
pub(crate) use checksum::{ROUND, absorb_both};
pub use chunk_btree::{ChunkBTree, ChunkEntry};
pub(crate) use cursor::Cursor;
pub use cursor::FieldWidth;
pub use error::{OndiskError, Structure};
pub use fill_value::variable_string_fill_values;
pub(crate) use global_heap::size_in_collection;
pub use global_heap::{
    Collection, GlobalHeapId, ObjectRange, SearchEnd, check_collection, locate, locate_next,
};
pub use message::{Dataspace, Layout};
pub use object_header::{DatatypeMessage, ObjectHeader};
pub use patch::MapPatcher;
pub(crate) use patch::{HiddenList, TablePlace, set_rows};
pub use read_at::ReadAt;
pub use superblock::Superblock;
pub use write_at::WriteAt;
