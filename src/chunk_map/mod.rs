//! A version's grid of chunks, and the stored chunk behind each.
//!
//! A version's dataset is a virtual dataset with one mapping a stored chunk (format-v4.md, "A
//! version's dataset"). A `VirtualDataset` reads its extent and finds its list of mappings straight
//! from the file, because libhdf5 needs tens of microseconds a mapping to open it. From the list
//! comes a [`ChunkMap`]: the whole of it, or just the chunks that a small read needs. Every mapping
//! is checked against the grid and against `raw_data`: what does not fit is an error, never fill.

mod builder;
mod error;
mod library;
mod map;
pub mod vds_block;
mod virtual_dataset;

pub(crate) use builder::Geometry;
pub use error::{MapError, MappingFault};
pub use map::ChunkMap;
pub(crate) use virtual_dataset::{ElementType, FewMappings, VirtualDataset, open_in_library};
