//! Shapes and indices: rank-bounded, inline, with checked arithmetic.
//!
//! HDF5 limits a dataspace to [`MAX_RANK`] dimensions (`H5S_MAX_RANK`, HDF5 File Format
//! Specification IV.A.2.b), so every per-axis value fits a vector that never leaves the stack.

use std::fmt;

use smallvec::SmallVec;

/// The highest number of dimensions an HDF5 dataspace can have (`H5S_MAX_RANK`).
pub const MAX_RANK: usize = 32;

/// One value per axis, inline for every rank HDF5 knows.
pub type PerAxis<T> = SmallVec<[T; MAX_RANK]>;

/// A shape or a coordinate in elements, slowest axis first (C order).
pub type Dims = PerAxis<u64>;

/// Position of a chunk in the row-major grid of chunks of one dataset version, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkIndex(pub u64);

/// Position of a stored chunk in `raw_data`, from 0: HDF5 chunk `(k, 0, 0, ...)` (format-v4.md, "raw_data").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawChunk(pub u64);

impl fmt::Display for ChunkIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RawChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A shape that cannot be used for arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DimsError {
    /// More axes than HDF5 allows.
    #[error("rank {rank} is above the limit of {MAX_RANK}")]
    RankTooHigh {
        /// The number of axes asked for.
        rank: usize,
    },
    /// Two shapes that belong together differ in rank.
    #[error("rank {found} where rank {expected} is needed")]
    RankMismatch {
        /// The rank needed.
        expected: usize,
        /// The rank given.
        found: usize,
    },
    /// A chunk shape with an axis of 0 elements.
    #[error("chunk axis {axis} has 0 elements")]
    EmptyChunkAxis {
        /// The axis, from 0.
        axis: usize,
    },
    /// The number of elements or bytes does not fit 64 bits.
    #[error("the number of elements or bytes does not fit 64 bits")]
    Overflow,
}

/// The number of elements of a shape; 1 for rank 0.
///
/// # Errors
/// [`DimsError::Overflow`] if the product does not fit 64 bits.
pub fn element_count(shape: &[u64]) -> Result<u64, DimsError> {
    // A zero axis makes the product zero whatever the other axes say.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1u64, |product, &axis| product.checked_mul(axis))
        .ok_or(DimsError::Overflow)
}

/// The number of bytes of a shape whose elements have `element_size` bytes.
///
/// # Errors
/// [`DimsError::Overflow`] if the product does not fit 64 bits.
pub fn byte_count(shape: &[u64], element_size: usize) -> Result<u64, DimsError> {
    let element_size = u64::try_from(element_size).map_err(|_| DimsError::Overflow)?;
    element_count(shape)?.checked_mul(element_size).ok_or(DimsError::Overflow)
}

/// The number of chunks along each axis that a shape needs, edge chunks counted whole.
///
/// # Errors
/// [`DimsError::RankMismatch`], [`DimsError::RankTooHigh`] or [`DimsError::EmptyChunkAxis`].
pub fn chunk_grid(shape: &[u64], chunk_shape: &[u64]) -> Result<Dims, DimsError> {
    check_chunk_shape(shape.len(), chunk_shape)?;
    Ok(shape.iter().zip(chunk_shape).map(|(&axis, &chunk)| axis.div_ceil(chunk)).collect())
}

/// Checks that a chunk shape can divide a dataspace of the given rank.
///
/// # Errors
/// [`DimsError::RankMismatch`], [`DimsError::RankTooHigh`] or [`DimsError::EmptyChunkAxis`].
pub fn check_chunk_shape(rank: usize, chunk_shape: &[u64]) -> Result<(), DimsError> {
    if rank > MAX_RANK {
        return Err(DimsError::RankTooHigh { rank });
    }
    if rank != chunk_shape.len() {
        return Err(DimsError::RankMismatch { expected: rank, found: chunk_shape.len() });
    }
    match chunk_shape.iter().position(|&axis| axis == 0) {
        Some(axis) => Err(DimsError::EmptyChunkAxis { axis }),
        None => Ok(()),
    }
}

/// Distance in elements between neighbours along each axis of a C-ordered array of this shape.
///
/// # Errors
/// [`DimsError::Overflow`] if a stride does not fit 64 bits.
pub fn strides(shape: &[u64]) -> Result<Dims, DimsError> {
    let mut strides: Dims = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] =
            strides[axis].checked_mul(shape[axis].max(1)).ok_or(DimsError::Overflow)?;
    }
    Ok(strides)
}

/// Row-major position of a coordinate; `None` outside the shape or beyond 64 bits.
pub fn ravel(coordinate: &[u64], shape: &[u64]) -> Option<u64> {
    if coordinate.len() != shape.len() {
        return None;
    }
    coordinate.iter().zip(shape).try_fold(0u64, |position, (&index, &axis)| {
        if index >= axis {
            return None;
        }
        position.checked_mul(axis)?.checked_add(index)
    })
}

/// Coordinate of a row-major position; every axis of `shape` must be above 0.
pub fn unravel(mut position: u64, shape: &[u64]) -> Dims {
    let mut coordinate: Dims = SmallVec::from_elem(0, shape.len());
    for axis in (0..shape.len()).rev() {
        coordinate[axis] = position % shape[axis].max(1);
        position /= shape[axis].max(1);
    }
    coordinate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_checked() {
        assert_eq!(element_count(&[]), Ok(1));
        assert_eq!(element_count(&[3, 74, 3944]), Ok(875_568));
        assert_eq!(element_count(&[u64::MAX, 0]), Ok(0));
        assert_eq!(element_count(&[u64::MAX, 2]), Err(DimsError::Overflow));
        assert_eq!(byte_count(&[1 << 61], 8), Err(DimsError::Overflow));
    }

    #[test]
    fn grid_counts_edge_chunks() {
        assert_eq!(chunk_grid(&[3, 74, 3944], &[900, 3, 3]).unwrap().as_slice(), [1, 25, 1315]);
        assert_eq!(chunk_grid(&[0], &[5]).unwrap().as_slice(), [0]);
        assert_eq!(chunk_grid(&[4], &[0]), Err(DimsError::EmptyChunkAxis { axis: 0 }));
        assert_eq!(
            chunk_grid(&[4], &[1, 1]),
            Err(DimsError::RankMismatch { expected: 1, found: 2 })
        );
    }

    #[test]
    fn ravel_and_unravel_are_inverse() {
        let shape = [3, 5, 7];
        for position in 0..105 {
            assert_eq!(ravel(&unravel(position, &shape), &shape), Some(position));
        }
        assert_eq!(ravel(&[3, 0, 0], &shape), None);
        assert_eq!(strides(&shape).unwrap().as_slice(), [35, 7, 1]);
    }

    #[test]
    fn rank_32_stays_inline() {
        let shape: Dims = SmallVec::from_elem(1, MAX_RANK);
        assert!(!strides(&shape).unwrap().spilled());
    }
}
