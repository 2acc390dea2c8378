//! The bytes of one chunk: made, copied and cleared.

use std::sync::Arc;

use crate::dims::{
    Dims, DimsError, byte_count, check_chunk_shape, chunk_grid, element_count, unravel,
};

/// No memory for so many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoMemory {
    pub(super) bytes: u64,
}

/// What all chunks of an array have in common.
#[derive(Clone, Debug)]
pub(super) struct ChunkFormat {
    /// Shape in elements.
    pub(super) shape: Dims,
    /// Number of bytes.
    pub(super) bytes: usize,
    /// Bytes of one element that was never written.
    pub(super) fill: Arc<[u8]>,
}

impl ChunkFormat {
    /// `fill` must not be empty.
    pub(super) fn new(shape: &[u64], fill: &[u8]) -> Result<Self, DimsError> {
        check_chunk_shape(shape.len(), shape)?;
        let bytes = byte_count(shape, fill.len())?;
        // A buffer has at most isize::MAX bytes.
        let bytes = isize::try_from(bytes).map_err(|_| DimsError::Overflow)?.unsigned_abs();
        Ok(Self { shape: shape.into(), bytes, fill: fill.into() })
    }

    /// Bytes of an element.
    pub(super) fn element_size(&self) -> usize {
        self.fill.len()
    }

    /// The grid of chunks of an array, whose padded size in elements must fit 64 bits.
    pub(super) fn grid(&self, array: &[u64]) -> Result<Dims, DimsError> {
        let grid = chunk_grid(array, &self.shape)?;
        element_count(&grid)?
            .checked_mul(element_count(&self.shape)?)
            .ok_or(DimsError::Overflow)?;
        Ok(grid)
    }

    /// Elements along each axis of the chunk at a coordinate that lie inside an array.
    pub(super) fn extent(&self, coordinate: &[u64], array: &[u64]) -> Dims {
        coordinate
            .iter()
            .zip(&self.shape)
            .zip(array)
            .map(|((&index, &chunk), &size)| size.saturating_sub(index * chunk).min(chunk))
            .collect()
    }

    /// The same for the chunk at a row-major position of `grid`.
    pub(super) fn extent_at(&self, position: u64, grid: &[u64], array: &[u64]) -> Dims {
        self.extent(&unravel(position, grid), array)
    }

    /// A chunk that holds nothing but fill.
    pub(super) fn filled(&self) -> Result<Vec<u8>, NoMemory> {
        let mut chunk = reserve(self.bytes)?;
        self.fill(&mut chunk);
        Ok(chunk)
    }

    /// Makes nothing but fill of an empty buffer that has room for a chunk.
    pub(super) fn fill(&self, chunk: &mut Vec<u8>) {
        match uniform(&self.fill) {
            Some(byte) => chunk.resize(self.bytes, byte),
            None => {
                chunk.extend_from_slice(&self.fill);
                while chunk.len() < self.bytes {
                    let more = chunk.len().min(self.bytes - chunk.len());
                    chunk.extend_from_within(..more);
                }
            }
        }
    }

    /// Makes everything of a chunk fill that lies beyond `extent`.
    pub(super) fn clear_beyond(&self, extent: &[u64], chunk: &mut [u8]) {
        let mut block = self.bytes;
        for (&size, &inside) in self.shape.iter().zip(extent) {
            // The bytes of a chunk fit memory, so those of a part of it do.
            let (Ok(size), Ok(inside)) = (usize::try_from(size), usize::try_from(inside)) else {
                return;
            };
            let row = block / size;
            if inside < size {
                for block in chunk.chunks_exact_mut(block) {
                    self.clear(&mut block[inside * row..]);
                }
            }
            block = row;
        }
    }

    fn clear(&self, part: &mut [u8]) {
        match uniform(&self.fill) {
            Some(byte) => part.fill(byte),
            None => {
                for element in part.chunks_exact_mut(self.fill.len()) {
                    element.copy_from_slice(&self.fill);
                }
            }
        }
    }
}

/// The byte that all bytes of an element are equal to, if there is one.
fn uniform(element: &[u8]) -> Option<u8> {
    let (&first, rest) = element.split_first()?;
    rest.iter().all(|&byte| byte == first).then_some(first)
}

/// An empty vector with room for `count` items.
pub(super) fn reserve<T>(count: usize) -> Result<Vec<T>, NoMemory> {
    let mut items = Vec::new();
    match items.try_reserve_exact(count) {
        Ok(()) => Ok(items),
        Err(_) => Err(NoMemory { bytes: (count as u64).saturating_mul(size_of::<T>() as u64) }),
    }
}

/// A copy of a chunk.
pub(super) fn copy(chunk: &[u8]) -> Result<Vec<u8>, NoMemory> {
    let mut copy = reserve(chunk.len())?;
    copy.extend_from_slice(chunk);
    Ok(copy)
}
