//! The list of mappings of a virtual dataset, as it is stored in the global heap.
//!
//! ```text
//! block:    version u8 (0, 1) | number of entries L | entries ... | checksum u32 of all before it
//! entry 0:  source file NUL | source dataset NUL | source selection | virtual selection
//! entry 1:  flags u8 | names, each a string or a reference to an earlier entry | source selection | virtual selection
//! ```
//!
//! (HDF5 File Format Specification VII.A, "Virtual Dataset"; `H5D__virtual_load_layout`, `H5D__virtual_store_layout`,
//! `H5S__hyper_deserialize`. L is the superblock's size of lengths.)
//!
//! A chunk map needs mappings of one plain block of elements to an equal block. [`decode_mappings`] gives these as
//! start and extent, however they are encoded, and refuses all others with an error that
//! [is unsupported](VdsBlockError::is_unsupported), so that libhdf5 can be asked instead. [`EntryTable`] finds single
//! mappings without reading all others. [`encode_list`] makes the list of a version's dataset; where few mappings differ
//! from those of another version it is made from that one's bytes.

mod chunk_list;
mod decode;
mod edit;
mod encode;
mod entry_table;
mod error;
mod names;
mod selection;
#[cfg(test)]
mod tests;

pub(crate) use chunk_list::list_bytes;
pub use chunk_list::{ChunkSources, check_list, encode_list};
pub use decode::{Mapping, decode_mappings, mapping_count};
pub use entry_table::{EntryTable, Lookup};
pub use error::{EntryFault, UnsupportedMapping, VdsBlockError};
