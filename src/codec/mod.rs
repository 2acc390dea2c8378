//! HDF5 filter pipelines on bytes, both ways, without libhdf5.
//!
//! A [`Pipeline`] is built once a dataset from the filters its creation property list names and is
//! shared by all threads; each thread brings a [`Scratch`] whose buffers are reused from chunk to
//! chunk. Stored bytes are untrusted: whatever they hold, decoding gives a chunk of the right size or
//! a [`CodecError`], and no intermediate result grows beyond a bound known beforehand.
//!
//! | id | filter | decoded | encoded |
//! |---|---|---|---|
//! | 1 | deflate | yes | yes |
//! | 2 | shuffle | yes | yes |
//! | 3 | fletcher32 | yes, checked | yes |
//! | 5, 6 | nbit, scaleoffset | through libhdf5 | no |
//! | 32000 | lzf | yes | yes |
//!
//! Any other filter is an error for the chunks it was applied to, and for those alone.

mod buffer;
mod deflate;
mod error;
mod filter;
mod fletcher32;
mod lzf;
mod pipeline;
mod scratch;
mod shuffle;
mod stage;

pub use error::{BadParams, CodecError, Corruption};
pub use filter::Filter;
pub use pipeline::Pipeline;
pub use scratch::Scratch;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
