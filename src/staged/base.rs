use std::ops::ControlFlow;

use crate::dims::ChunkIndex;
use crate::kernel::NumberedDestination;

/// Where the unchanged chunks of a staged array are: a dataset of an older version, an array in memory, a
/// plain HDF5 dataset.
///
/// What it holds must not change while a staged array stands on it.
pub trait Base: Send + Sync {
    /// Why chunks cannot be brought.
    type Error: std::error::Error + Send + 'static;

    /// Shape in elements; that of the staged array may have become another one.
    fn shape(&self) -> &[u64];

    /// Shape of a chunk in elements.
    fn chunk_shape(&self) -> &[u64];

    /// The chunks that may hold something else than the fill value, none twice and in the order in which they are best
    /// brought; `None` if that is not known without a look at them.
    ///
    /// # Errors
    /// [`Self::Error`] if it cannot be found out.
    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, Self::Error> {
        Ok(None)
    }

    /// Brings elements of chunks straight to where they are wanted, if the base has a better way to do so than
    /// [`visit`](Self::visit); `None` if it has not, and nothing was brought.
    ///
    /// # Errors
    /// [`Self::Error`] if a chunk cannot be brought, or not to there.
    fn fetch(&self, wanted: &Wanted<'_, '_>) -> Option<Result<(), Self::Error>> {
        let _ = wanted;
        None
    }

    /// Brings whole chunks: calls `visit(position in chunks, chunk)` once for each, from any number of
    /// threads, in any order.
    ///
    /// `chunks` are row-major positions in the grid of [`shape`](Self::shape), none twice: in the order of
    /// [`stored`](Self::stored) if that tells which there are, else strictly rising. When
    /// `visit` answers [`ControlFlow::Break`], the chunks still to come are not wanted any more: the
    /// base may stop and return `Ok`, or bring them all the same.
    ///
    /// # Errors
    /// [`Self::Error`] if a chunk cannot be brought.
    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), Self::Error>;
}

/// What a read of a staged array still wants of its base.
#[derive(Debug)]
pub struct Wanted<'w, 'p> {
    /// Where it goes: every transfer that was not taken yet is one of [`chunks`](Self::chunks), all of which are of
    /// the grid of the staged array.
    pub destination: &'w NumberedDestination<'w, 'p>,
    /// The chunks, in rising order of their positions in the grid of the staged array.
    pub chunks: &'w [WantedChunk],
}

/// A chunk of which elements are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedChunk {
    /// Number of its transfer in the plan of the read.
    pub number: u64,
    /// Its position in the grid of the staged array.
    pub here: ChunkIndex,
    /// Its position in the grid of the base. It has the same extent there.
    pub there: ChunkIndex,
}

/// A chunk as a [`Base`] brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseChunk<'c> {
    /// Every element is the fill value.
    Fill,
    /// The bytes of the whole chunk in C order. What lies beyond the base's shape means nothing.
    Bytes(&'c [u8]),
}
