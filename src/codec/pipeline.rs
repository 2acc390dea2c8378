//! A dataset's filters in order, and a chunk's way through them.

use std::mem;

use super::error::CodecError;
use super::filter::Filter;
use super::fletcher32;
use super::scratch::Scratch;
use super::stage::{Stage, Transform};

/// The most filters a pipeline can have: the bits of a filter mask (`H5Z_MAX_NFILTERS`).
const MAX_FILTERS: usize = 32;

/// What an intermediate result of unknown size may have, as a multiple of the chunk's size ...
const GROWTH_LIMIT: usize = 4;
/// ... and on top of that, in bytes. No compressor makes any chunk longer than this allows.
const GROWTH_SLACK: usize = 1 << 16;

/// The filters of a dataset, parameters checked.
///
/// A filter mask has one bit a filter, bit `i` for filter `i`; a set bit says that the filter was
/// skipped for the chunk (HDF5 File Format Specification, chunk index entries).
#[derive(Clone, Debug)]
pub struct Pipeline {
    filters: Vec<Filter>,
    stages: Vec<Stage>,
    chunk_bytes: usize,
}

impl Pipeline {
    /// A pipeline for chunks of `chunk_bytes` bytes, whose elements have `element_size` bytes.
    ///
    /// Filters that are unknown, or whose parameters are wrong, are errors for the chunks they were
    /// applied to.
    #[must_use]
    pub fn new(filters: Vec<Filter>, chunk_bytes: usize, element_size: usize) -> Self {
        let stages = filters.iter().map(|filter| Stage::new(filter, element_size)).collect();
        Self { filters, stages, chunk_bytes }
    }

    /// The filters, first applied first.
    #[must_use]
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Whether there are no filters, so that stored bytes are chunk bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Whether a chunk with this mask can be decoded by libhdf5 alone.
    #[must_use]
    pub fn needs_library(&self, filter_mask: u32) -> bool {
        self.active(filter_mask)
            .any(|(_, stage)| matches!(stage, Stage::Refused(CodecError::NeedsLibrary { .. })))
    }

    /// Whether every filter can be applied here: ask before anything is written.
    ///
    /// [`Pipeline::encode`] leaves out an optional filter that cannot, so that datasets which have one
    /// already can be continued.
    ///
    /// # Errors
    /// [`CodecError::NoEncoder`], [`CodecError::NeedsLibrary`] or [`CodecError::UnknownFilter`] for the
    /// first filter that cannot be applied; [`CodecError::BadParams`] for one whose parameters are
    /// wrong; [`CodecError::TooManyFilters`].
    pub fn can_encode(&self) -> Result<(), CodecError> {
        self.check_count()?;
        self.stages.iter().zip(&self.filters).try_for_each(|(stage, filter)| match stage {
            Stage::Refused(reason) => Err(reason.clone()),
            Stage::Transform(Transform::Szip(_)) => Err(CodecError::NoEncoder { id: filter.id }),
            _ => Ok(()),
        })
    }

    /// Undoes all filters that were applied to a stored chunk, last to first, into `out`, whose
    /// length must be the chunk's. After an error what is in `out` means nothing.
    ///
    /// # Errors
    /// [`CodecError::UnknownFilter`] or [`CodecError::NeedsLibrary`] for a filter that was applied
    /// and is not to be had; [`CodecError::BadParams`] for one whose parameters are wrong;
    /// [`CodecError::Checksum`], [`CodecError::Corrupt`], [`CodecError::TooLong`],
    /// [`CodecError::Length`] and [`CodecError::ChunkLength`] for damaged bytes;
    /// [`CodecError::OutOfMemory`].
    pub fn decode_into(
        &self,
        stored: &[u8],
        filter_mask: u32,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        self.check_length(out.len())?;
        self.check_count()?;
        let sizes = self.decoded_sizes(filter_mask);
        let lowest = self.active(filter_mask).next().map(|(index, _)| index);

        let Scratch { front, back, state } = scratch;
        let mut in_scratch = false;
        let mut len = stored.len();
        for (index, stage) in self.active(filter_mask).rev() {
            let filter = self.filters[index].id;
            let input = if in_scratch { &front.filled()[..len] } else { &stored[..len] };
            match stage {
                Stage::Identity => {}
                Stage::Refused(reason) => return Err(reason.clone()),
                Stage::Checksum => {
                    let content = fletcher32::verify(input);
                    len = content.map_err(|fault| fault.in_filter(filter, len))?.len();
                }
                Stage::Transform(transform) if Some(index) == lowest => {
                    let written = transform
                        .decode(state, input, out)
                        .map_err(|fault| fault.in_filter(filter, self.chunk_bytes))?;
                    return check_written(filter, Some(self.chunk_bytes), written);
                }
                Stage::Transform(transform) => {
                    let limit = sizes[index].unwrap_or(self.limit());
                    len = back
                        .prepare(limit)
                        .and_then(|room| transform.decode(state, input, room))
                        .map_err(|fault| fault.in_filter(filter, limit))?;
                    check_written(filter, sizes[index], len)?;
                    back.set_len(len);
                    mem::swap(front, back);
                    in_scratch = true;
                }
            }
        }
        self.check_length(len)?;
        out.copy_from_slice(if in_scratch { &front.filled()[..len] } else { &stored[..len] });
        Ok(())
    }

    /// Applies all filters to a chunk, first to last, and gives the chunk's filter mask.
    ///
    /// An optional filter that fails is skipped, as in `H5Z_pipeline`. So is an optional compressor
    /// that does not shrink the chunk: libhdf5 leaves that to each filter (LZF and Blosc refuse,
    /// deflate does not), and every reader takes either.
    ///
    /// # Errors
    /// [`CodecError::ChunkLength`] if `chunk` has not the chunk's size; what
    /// [`Pipeline::decode_into`] names for filters, or [`CodecError::Encode`], if the filter that
    /// fails is not optional.
    pub fn encode(
        &self,
        chunk: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<u32, CodecError> {
        self.check_length(chunk.len())?;
        self.check_count()?;
        let Scratch { front, back, state } = scratch;
        let mut in_scratch = false;
        let mut filter_mask = 0;
        for (index, stage) in self.stages.iter().enumerate() {
            let Filter { id, optional, .. } = self.filters[index];
            let input = if in_scratch { front.filled() } else { chunk };
            let applied = match stage {
                Stage::Identity => continue,
                Stage::Refused(reason) => Err(reason.clone()),
                Stage::Checksum => fletcher32::append(input, back)
                    .map(|()| true)
                    .map_err(|fault| fault.in_filter(id, input.len())),
                Stage::Transform(transform) => transform
                    .encode(state, input, back)
                    .map(|()| !(optional && transform.compresses() && back.len() >= input.len()))
                    .map_err(|fault| fault.in_filter(id, input.len())),
            };
            match applied {
                Ok(true) => {
                    mem::swap(front, back);
                    in_scratch = true;
                }
                Ok(false) => filter_mask |= 1 << index,
                Err(_) if optional => filter_mask |= 1 << index,
                Err(error) => return Err(error),
            }
        }
        let encoded = if in_scratch { front.filled() } else { chunk };
        out.clear();
        out.try_reserve(encoded.len())
            .map_err(|_| CodecError::OutOfMemory { bytes: encoded.len() })?;
        out.extend_from_slice(encoded);
        Ok(filter_mask)
    }

    /// The filters applied to a chunk that change it, with their positions.
    fn active(&self, filter_mask: u32) -> impl DoubleEndedIterator<Item = (usize, &Stage)> {
        self.stages.iter().enumerate().take(MAX_FILTERS).filter(move |&(index, stage)| {
            filter_mask & (1 << index) == 0 && *stage != Stage::Identity
        })
    }

    /// The number of bytes each applied filter must give when undone, where it is known.
    fn decoded_sizes(&self, filter_mask: u32) -> [Option<usize>; MAX_FILTERS] {
        let mut sizes = [None; MAX_FILTERS];
        let mut size = Some(self.chunk_bytes);
        for (index, stage) in self.active(filter_mask) {
            sizes[index] = size;
            size = size.and_then(|decoded| stage.encoded_size(decoded));
        }
        sizes
    }

    /// The most bytes an intermediate result of unknown size may have.
    fn limit(&self) -> usize {
        self.chunk_bytes.saturating_mul(GROWTH_LIMIT).saturating_add(GROWTH_SLACK)
    }

    fn check_length(&self, found: usize) -> Result<(), CodecError> {
        if found == self.chunk_bytes {
            return Ok(());
        }
        Err(CodecError::ChunkLength { expected: self.chunk_bytes, found })
    }

    fn check_count(&self) -> Result<(), CodecError> {
        match self.filters.len() {
            0..=MAX_FILTERS => Ok(()),
            count => Err(CodecError::TooManyFilters { count }),
        }
    }
}

/// Checks that a filter gave as many bytes as it must, where that is known.
fn check_written(filter: u16, expected: Option<usize>, found: usize) -> Result<(), CodecError> {
    match expected {
        Some(expected) if expected != found => Err(CodecError::Length { filter, expected, found }),
        _ => Ok(()),
    }
}
