//! HDF5 filter pipelines on bytes, both ways, without libhdf5.
//!
//! A [`Pipeline`] is built once a dataset from the filters its creation property list names and is
//! shared by all threads; each thread brings a [`Scratch`] whose buffers are reused from chunk to
//! chunk. Stored bytes are untrusted: whatever they hold, decoding gives a chunk of the right size
//! or a [`CodecError`], and no intermediate result grows beyond a bound known beforehand.
//!
//! | id | filter | decoded | encoded |
//! |---|---|---|---|
//! | 1 | deflate | yes | yes |
//! | 2 | shuffle | yes | yes |
//! | 3 | fletcher32 | yes, checked | yes |
//! | 4 | szip | yes | no |
//! | 5, 6 | nbit, scaleoffset | through libhdf5 | no |
//! | 307 | bzip2 | yes | yes |
//! | 32000 | lzf | yes | yes |
//! | 32001 | blosc (blosclz, lz4, lz4hc, snappy, zlib, zstd) | yes | yes |
//! | 32004 | lz4 | yes | yes |
//! | 32008 | bitshuffle (alone, lz4, zstd) | yes | yes |
//! | 32015 | zstd | yes | yes |
//!
//! Chunks of an optional szip are written without it. Any other filter is an error for the chunks
//! it was applied to, and for those alone.

mod bits;
mod bitshuffle;
mod blosc;
mod buffer;
mod bzip2;
mod deflate;
mod error;
mod filter;
mod fletcher32;
mod lz4;
mod lz77;
mod lzf;
mod params;
mod pipeline;
mod reader;
mod scratch;
mod shuffle;
mod stage;
mod szip;
mod zstd;

pub use error::{BadParams, CodecError, Corruption};
pub use filter::Filter;
pub(crate) use lzf::{decode_lzf, encode_lzf};
pub use pipeline::Pipeline;
pub use scratch::Scratch;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
