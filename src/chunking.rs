//! Chunk shapes: a guess where none is given, and advice where one wastes space or time.
//!
//! Pure arithmetic. Shapes are in elements, slowest axis first; an axis of length 0 is one that will
//! grow.
//!
//! # The rule for more than one axis
//!
//! A chunk has 64 KiB at least, so that what each one costs beside its bytes (an index entry, a digest,
//! a mapping) stays small, and 1 MiB at most, so that a change rewrites little. In between it has up to
//! four times the square root of the dataset's bytes: a larger dataset gets both more chunks and
//! larger ones. It starts as the whole dataset, and its axis of most elements is halved (upwards) until
//! it fits: near-square in elements, short axes whole, and no axis in more than 2ⁿ nearly equal parts.

use std::fmt;

use crate::dims::Dims;

/// What an axis of unknown length counts as (`guess_chunk`).
const GROWING: u64 = 1024;

/// h5py's constants for one axis, in bytes (`CHUNK_BASE`, `CHUNK_MIN`, `CHUNK_MAX`).
const ONE_AXIS_BASE: f64 = 16_384.0;
const ONE_AXIS_LEAST: f64 = 8_192.0;
const ONE_AXIS_MOST: f64 = 1_048_576.0;

/// What a chunk of more than one axis has at most, as a multiple of the square root of the bytes ...
const ROOTS: u128 = 4;
/// ... and within these bounds in bytes. The last halving leaves at least half of it.
const LEAST_TARGET: u128 = 128 << 10;
const MOST_TARGET: u128 = 1 << 20;

/// Stored bytes may be this many times the real ones ...
const WASTE_FACTOR: u128 = 2;
/// ... or more by this many bytes, before it is worth a word.
const WASTE_BYTES: u128 = 1 << 20;

/// Chunks of fewer bytes are small ...
const SMALL_CHUNK: u128 = 4 << 10;
/// ... and more than this many of them too many.
const MANY_CHUNKS: u128 = 1000;

/// A chunk shape for a dataset of `shape` with elements of `element_size` bytes; `None` without axes.
///
/// With one axis it is h5py's `guess_chunk(shape, None, element_size)`, as versioned-hdf5 takes it.
/// With more it is that of the [module's rule](self); chunks are never longer than an axis. For
/// elements of variable length the size is that of their references, 16 bytes in files.
#[must_use]
pub fn guess(shape: &[u64], element_size: usize) -> Option<Dims> {
    match shape {
        [] => None,
        [length] => Some(Dims::from_slice(&[guess_one_axis(*length, element_size)])),
        _ => Some(guess_axes(shape, element_size)),
    }
}

/// h5py's rule, in its own floating point so that it rounds the same.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the chunk's length is a whole number between 1 and the axis's, as h5py has it"
)]
fn guess_one_axis(length: u64, element_size: usize) -> u64 {
    let size = element_size as f64;
    let mut chunk = if length == 0 { GROWING } else { length } as f64;
    let scale = 2_f64.powf((chunk * size / (1024.0 * 1024.0)).log10());
    let target = (ONE_AXIS_BASE * scale).clamp(ONE_AXIS_LEAST, ONE_AXIS_MOST);
    loop {
        let bytes = chunk * size;
        let near = bytes < target || (bytes - target).abs() / target < 0.5;
        if near && bytes < ONE_AXIS_MOST || chunk <= 1.0 {
            return chunk as u64;
        }
        chunk = (chunk / 2.0).ceil();
    }
}

/// The module's rule.
fn guess_axes(shape: &[u64], element_size: usize) -> Dims {
    let mut chunk: Vec<u64> =
        shape.iter().map(|&axis| if axis == 0 { GROWING } else { axis }).collect();
    let root = bytes(&chunk, element_size).isqrt();
    let target = (ROOTS * root).clamp(LEAST_TARGET, MOST_TARGET);
    while bytes(&chunk, element_size) > target {
        // Of equally long axes the slowest, so that runs of the fastest stay long.
        let Some(longest) = chunk.iter_mut().rev().max_by_key(|axis| **axis) else { break };
        if *longest == 1 {
            break;
        }
        *longest = longest.div_ceil(2);
    }
    Dims::from_slice(&chunk)
}

/// What is wrong with a chunk shape, and a better one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What is wrong.
    pub problem: Problem,
    /// The chunk shape.
    pub chunk_shape: Dims,
    /// A better one.
    pub better: Dims,
}

/// What can be wrong with a chunk shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Chunks reach beyond the edges and are stored whole.
    Waste {
        /// Bytes of the values.
        real_bytes: u128,
        /// Bytes of the chunks before compression.
        stored_bytes: u128,
    },
    /// Many small chunks: each costs more than its bytes.
    SmallChunks {
        /// Chunks of the dataset.
        chunks: u128,
        /// Bytes of each.
        chunk_bytes: u128,
    },
}

/// Advice for a dataset of `shape` stored in chunks of `chunk_shape`, if the shape is worth any:
/// chunks that take more than twice the bytes of the values and at least 1 MiB more, or more than
/// 1000 chunks of less than 4 KiB.
///
/// Without elements, with a chunk axis of 0, or when the number of axes differs, there is none.
#[must_use]
pub fn waste(shape: &[u64], chunk_shape: &[u64], element_size: usize) -> Option<Advice> {
    if shape.len() != chunk_shape.len() || chunk_shape.contains(&0) {
        return None;
    }
    let real_bytes = bytes(shape, element_size);
    let chunk_bytes = bytes(chunk_shape, element_size);
    if real_bytes == 0 {
        return None;
    }
    let axes = shape.iter().zip(chunk_shape);
    let chunks = axes.fold(1_u128, |product, (&axis, &chunk)| {
        product.saturating_mul(axis.div_ceil(chunk).into())
    });
    let stored_bytes = chunks.saturating_mul(chunk_bytes);
    let problem =
        if stored_bytes / WASTE_FACTOR > real_bytes && stored_bytes - real_bytes >= WASTE_BYTES {
            Problem::Waste { real_bytes, stored_bytes }
        } else if chunk_bytes < SMALL_CHUNK && chunks > MANY_CHUNKS {
            Problem::SmallChunks { chunks, chunk_bytes }
        } else {
            return None;
        };
    let better = guess(shape, element_size).filter(|better| better.as_slice() != chunk_shape)?;
    Some(Advice { problem, chunk_shape: Dims::from_slice(chunk_shape), better })
}

/// `chunks (900, 3, 3) take 304 times the space of the values: (3, 74, 62) would be better`.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunks {} ", Tuple(&self.chunk_shape))?;
        match self.problem {
            Problem::Waste { real_bytes, stored_bytes } => {
                let tenths = stored_bytes.saturating_mul(10) / real_bytes.max(1);
                match tenths {
                    0..100 => write!(f, "take {}.{} times", tenths / 10, tenths % 10)?,
                    _ => write!(f, "take {} times", tenths / 10)?,
                }
                f.write_str(" the space of the values")?;
            }
            Problem::SmallChunks { chunks, chunk_bytes } => {
                write!(f, "have {chunk_bytes} bytes, and there are {chunks} of them")?;
            }
        }
        write!(f, ": {} would be better", Tuple(&self.better))
    }
}

/// A shape as Python writes it.
struct Tuple<'a>(&'a [u64]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            axes => {
                let axes: Vec<_> = axes.iter().map(u64::to_string).collect();
                write!(f, "({})", axes.join(", "))
            }
        }
    }
}

/// Bytes of a block.
fn bytes(shape: &[u64], element_size: usize) -> u128 {
    let element = u128::try_from(element_size).unwrap_or(u128::MAX);
    shape.iter().fold(element, |product, &axis| product.saturating_mul(axis.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_more_axes_have_64_kib_to_1_mib_and_fit_the_dataset() {
        let shapes: &[&[u64]] = &[
            &[3, 74, 3944],
            &[4000, 4000],
            &[200, 50_000],
            &[365, 12_345],
            &[1, 10_000_000],
            &[10_000_000, 1],
            &[0, 36, 26, 19],
            &[1000, 16, 512, 128],
            &[u64::MAX, u64::MAX],
            &[0, 0],
            &[7, 0, 3],
            &[1; 32],
            &[2; 32],
        ];
        for shape in shapes {
            for element_size in [1, 2, 8, 12, 300, 10_000] {
                let chunk = guess(shape, element_size).unwrap();
                let room = bytes(&chunk, element_size);
                let whole: Vec<u64> =
                    shape.iter().map(|&axis| if axis == 0 { GROWING } else { axis }).collect();
                assert!(chunk.iter().zip(&whole).all(|(&chunk, &axis)| 0 < chunk && chunk <= axis));
                assert!(room <= 1 << 20, "{shape:?} {element_size} {chunk:?}");
                let small = bytes(&whole, element_size) < 64 << 10;
                assert!(room >= 64 << 10 || small, "{shape:?} {element_size} {chunk:?}");
                assert_eq!(small, small && chunk.as_slice() == whole);
            }
        }
    }

    #[test]
    fn chunks_are_near_square_and_powers_of_two_where_the_shape_is() {
        for (shape, expected) in [
            (&[4096, 4096][..], &[128, 128][..]),
            (&[3, 74, 3944], &[3, 74, 62]),
            (&[100_000, 4], &[3125, 4]),
            (&[0, 1024], &[128, 128]),
        ] {
            assert_eq!(guess(shape, 8).unwrap().as_slice(), expected);
        }
        assert_eq!(guess(&[], 8), None);
    }

    #[test]
    fn elements_longer_than_any_chunk_stand_alone() {
        assert_eq!(guess(&[50, 50], 1 << 30).unwrap().as_slice(), [1, 1]);
        assert_eq!(guess(&[50], 1 << 30).unwrap().as_slice(), [1]);
    }

    #[test]
    fn a_shape_that_wastes_most_of_its_storage_gets_a_better_one() {
        let advice = waste(&[3, 74, 3944], &[900, 3, 3], 8).unwrap();
        assert_eq!(
            advice.to_string(),
            "chunks (900, 3, 3) take 304 times the space of the values: (3, 74, 62) would be better"
        );
        let advice = waste(&[1000, 100], &[2001, 100], 80).unwrap();
        assert!(matches!(advice.problem, Problem::Waste { .. }), "{advice:?}");
        assert_eq!(waste(&[1000, 100], &[1000, 100], 80), None);
        // The edges take as much as the values, but next to nothing.
        assert_eq!(waste(&[1, 10], &[300, 100], 8), None);
        assert_eq!(waste(&[0, 10], &[300_000, 100], 8), None);
    }

    #[test]
    fn many_small_chunks_get_a_larger_shape() {
        let advice = waste(&[10_000_000], &[100], 8).unwrap();
        assert_eq!(
            advice.to_string(),
            "chunks (100,) have 800 bytes, and there are 100000 of them: (9766,) would be better"
        );
        assert_eq!(waste(&[100_000], &[100], 8), None);
        assert_eq!(waste(&[10_000_000], &[512], 8), None);
    }

    #[test]
    fn what_is_no_chunk_shape_gets_no_advice() {
        assert_eq!(waste(&[10, 10], &[10], 8), None);
        assert_eq!(waste(&[1 << 40], &[0], 8), None);
        assert_eq!(waste(&[], &[], 8), None);
        assert!(waste(&[u64::MAX; 2], &[1, 1], 8).is_some());
    }

    #[test]
    fn a_better_shape_wastes_nothing() {
        for shape in [&[3, 74, 3944][..], &[1, 1, 1_000_000], &[17, 5, 3, 2], &[1_000_003]] {
            let better = guess(shape, 8).unwrap();
            assert_eq!(waste(shape, &better, 8), None, "{shape:?}");
        }
    }
}
