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
//! Filters of a new dataset are asked for by a [`FilterRequest`], which gives them as h5py and
//! hdf5plugin would write them: what filters learn from the dataset (`set_local` of their plugins)
//! is filled in by [`Filter::localised`].
//!
//! Chunks of an optional szip are written without it; [`Pipeline::can_encode`] tells beforehand. Any other filter is an error for the chunks
//! it was applied to, and for those alone.

mod bits;
mod bitshuffle;
mod blosc;
mod buffer;
mod bzip2;
mod create;
mod deflate;
mod error;
mod filter;
mod fletcher32;
mod layout;
mod lz4;
mod lz77;
mod lzf;
mod params;
mod pipeline;
mod reader;
mod request;
mod scratch;
mod shuffle;
mod single;
mod stage;
mod szip;
mod zstd;

pub use bitshuffle::Compression as BitshuffleCompression;
pub use blosc::{Codec as BloscCodec, Shuffle as BloscShuffle};
pub use error::{BadParams, CodecError, Corruption};
pub use filter::Filter;
pub(crate) use filter::{id, stored_name};
pub use layout::ChunkLayout;
pub use pipeline::Pipeline;
pub use request::FilterRequest;
pub use scratch::Scratch;
pub(crate) use single::{decode_first_by_lzf, decode_one, encode_one};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
