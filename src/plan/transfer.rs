use crate::dims::{ChunkIndex, Dims};

/// The selected elements of one chunk along one axis, and where they go in the buffer.
///
/// Offsets count elements from the start of the chunk, positions elements from the start of the
/// buffer, both along this axis alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    /// Evenly spaced elements.
    Strided {
        /// Offset of the first element.
        offset: u64,
        /// Distance between elements in the chunk; above 0.
        stride: u64,
        /// Number of elements; above 0.
        count: u64,
        /// Buffer position of the first element.
        position: u64,
        /// Whether buffer positions fall by 1 an element instead of rising by 1.
        reversed: bool,
    },
    /// Elements one by one, in rising order of their offsets; never empty.
    Listed {
        /// Offsets in the chunk, repeats allowed.
        offsets: &'p [u64],
        /// Buffer position of each.
        positions: &'p [u64],
    },
    /// The true elements of a mask; the first and the last one are true.
    Masked {
        /// Offset of the first element of `mask`.
        offset: u64,
        /// One flag an element of the chunk.
        mask: &'p [bool],
        /// Number of true flags.
        count: u64,
        /// Buffer position of the first true element; the others follow it.
        position: u64,
    },
}

impl Piece<'_> {
    /// Number of selected elements.
    pub fn count(&self) -> u64 {
        match self {
            Self::Strided { count, .. } | Self::Masked { count, .. } => *count,
            Self::Listed { offsets, .. } => offsets.len() as u64,
        }
    }

    /// The lowest selected offset in the chunk.
    pub fn first_offset(&self) -> u64 {
        match self {
            Self::Strided { offset, .. } | Self::Masked { offset, .. } => *offset,
            Self::Listed { offsets, .. } => offsets.first().copied().unwrap_or(0),
        }
    }

    /// The highest selected offset in the chunk.
    pub fn last_offset(&self) -> u64 {
        match self {
            Self::Strided { offset, stride, count, .. } => offset + stride * (count - 1),
            Self::Listed { offsets, .. } => offsets.last().copied().unwrap_or(0),
            Self::Masked { offset, mask, .. } => offset + mask.len() as u64 - 1,
        }
    }
}

/// Distances in elements between neighbours along each axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strides {
    /// In a chunk.
    pub(crate) chunk: Dims,
    /// In the buffer.
    pub(crate) buffer: Dims,
}

/// What one chunk has to give to the buffer (or, writing, to get from it).
#[derive(Clone, Copy, Debug)]
pub struct Transfer<'t> {
    pub(crate) chunk: ChunkIndex,
    pub(crate) pieces: &'t [Piece<'t>],
    pub(crate) strides: &'t Strides,
}

impl<'t> Transfer<'t> {
    /// The chunk's row-major position in the chunk grid.
    pub fn chunk(&self) -> ChunkIndex {
        self.chunk
    }

    /// One piece for each axis; for points a single piece over the chunk's elements in C order.
    pub fn pieces(&self) -> &'t [Piece<'t>] {
        self.pieces
    }

    /// Distance in elements between neighbours in the chunk, for each piece.
    pub fn chunk_strides(&self) -> &'t [u64] {
        &self.strides.chunk
    }

    /// Distance in elements between neighbours in the buffer, for each piece.
    pub fn buffer_strides(&self) -> &'t [u64] {
        &self.strides.buffer
    }

    /// Number of elements transferred.
    pub fn count(&self) -> u64 {
        self.pieces.iter().map(Piece::count).product()
    }

    /// First selected element and one past the last one, in elements from the start of the chunk.
    pub fn chunk_span(&self) -> std::ops::Range<u64> {
        let mut span = 0..1;
        for (piece, stride) in self.pieces.iter().zip(&self.strides.chunk) {
            span.start += piece.first_offset() * stride;
            span.end += piece.last_offset() * stride;
        }
        span
    }
}
