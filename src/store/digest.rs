//! Digests of chunks, by which equal ones are found (format-v4.md, "hash_table").

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::dims::Dims;

/// SHA-256 of a chunk's values and shape.
pub(super) type Digest = [u8; 32];

/// Where the values of a chunk lie that are inside a dataset's bounds: the chunk in C order, cut at the edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trimmed {
    /// Shape of what is inside, in elements.
    pub(crate) shape: Dims,
    chunk_shape: Dims,
}

impl Trimmed {
    /// The part of the chunk at `coordinate`, in the grid of chunks, that is inside `shape`.
    pub(crate) fn new(coordinate: &[u64], shape: &[u64], chunk_shape: &[u64]) -> Self {
        let inside =
            coordinate.iter().zip(shape).zip(chunk_shape).map(|((&at, &axis), &chunk)| {
                axis.saturating_sub(at.saturating_mul(chunk)).min(chunk)
            });
        Self { shape: inside.collect(), chunk_shape: Dims::from_slice(chunk_shape) }
    }

    /// Whether nothing is cut off.
    pub(crate) fn is_whole(&self) -> bool {
        self.shape == self.chunk_shape
    }

    /// The elements inside, given one after the other, in a whole chunk that is else filled with `fill`.
    pub(super) fn spread(&self, inside: &[u8], element_size: usize, fill: &[u8]) -> Vec<u8> {
        let elements: u64 = self.chunk_shape.iter().product();
        let mut chunk = fill.repeat(usize::try_from(elements).unwrap_or(0));
        let mut rest = inside;
        for run in self.byte_runs(element_size) {
            let (row, after) = rest.split_at(run.len().min(rest.len()));
            if let Some(place) = chunk.get_mut(run).and_then(|place| place.get_mut(..row.len())) {
                place.copy_from_slice(row);
            }
            rest = after;
        }
        chunk
    }

    /// Puts the fill value wherever a whole chunk is outside the bounds.
    pub(super) fn fill_outside(&self, chunk: &mut [u8], fill: &[u8]) {
        let mut refill = |outside: Range<usize>| {
            let outside = chunk.get_mut(outside).unwrap_or_default();
            outside.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
        };
        let mut start = 0;
        for inside in self.byte_runs(fill.len()) {
            refill(start..inside.start);
            start = inside.end;
        }
        let elements = self.chunk_shape.iter().product::<u64>();
        refill(start..usize::try_from(elements).unwrap_or(0).saturating_mul(fill.len()));
    }

    /// Number of elements inside.
    fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The elements inside, as ranges of the chunk's elements: rising, and as few as there can be.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        // The axes from `inner` on are whole, so the axis before them is one run with them.
        let whole = self.shape.iter().zip(&self.chunk_shape).rev().take_while(|(a, b)| a == b);
        let inner = self.shape.len() - whole.count();
        let run_axis = inner.saturating_sub(1);
        let run: u64 = self.shape[run_axis..].iter().product();
        let stride: u64 = self.chunk_shape[run_axis..].iter().product();
        let outer = &self.shape[..run_axis];
        let outer_chunk = &self.chunk_shape[..run_axis];
        let rows: u64 = if self.count() == 0 { 0 } else { outer.iter().product() };
        (0..rows).map(move |row| {
            let coordinate = crate::dims::unravel(row, outer);
            let in_chunk = coordinate
                .iter()
                .zip(outer_chunk)
                .fold(0, |position, (index, axis)| position * axis + index);
            let start = in_chunk * stride;
            start..start + run
        })
    }

    /// The elements inside, as ranges of the chunk's bytes.
    pub(crate) fn byte_runs(&self, element_size: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let byte = move |element: u64| {
            // Chunks that are looked at are in memory.
            usize::try_from(element).unwrap_or(usize::MAX).saturating_mul(element_size)
        };
        self.runs().map(move |run| byte(run.start)..byte(run.end))
    }

    /// The shape as Python prints a tuple.
    fn python_tuple(&self) -> String {
        match self.shape.as_slice() {
            [only] => format!("({only},)"),
            axes => {
                let axes: Vec<String> = axes.iter().map(u64::to_string).collect();
                format!("({})", axes.join(", "))
            }
        }
    }
}

/// Digest of a chunk of elements of fixed size; `chunk` is whole, in C order.
pub(super) fn of_elements(chunk: &[u8], element_size: usize, trimmed: &Trimmed) -> Digest {
    let mut hasher = Sha256::new();
    for run in trimmed.byte_runs(element_size) {
        hasher.update(chunk.get(run).unwrap_or_default());
    }
    hasher.update(trimmed.python_tuple());
    hasher.finalize().into()
}

/// Digest of a chunk of strings of variable length; `strings` are those inside the bounds, in C order.
pub(super) fn of_strings<'s>(strings: impl Iterator<Item = &'s [u8]>, trimmed: &Trimmed) -> Digest {
    let mut hasher = Sha256::new();
    for string in strings {
        hasher.update((string.len() as u64).to_le_bytes());
        hasher.update(string);
    }
    hasher.update(trimmed.python_tuple());
    hasher.finalize().into()
}

/// Whether every element inside the bounds has the bits of `fill`.
pub(super) fn is_fill(chunk: &[u8], fill: &[u8], trimmed: &Trimmed) -> bool {
    trimmed.byte_runs(fill.len()).all(|run| {
        let run = chunk.get(run).unwrap_or_default();
        match run.get(..fill.len()) {
            // Equal to the fill value where it begins, and to itself one element on.
            Some(first) => first == fill && run[fill.len()..] == run[..run.len() - fill.len()],
            None => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(digest: Digest) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn runs_cover_what_is_inside_and_nothing_else() {
        for (coordinate, shape, chunk) in [
            (&[0, 0, 0][..], &[5, 5, 5][..], &[2, 3, 4][..]),
            (&[2, 1, 1], &[5, 5, 5], &[2, 3, 4]),
            (&[1, 0, 0], &[3, 3, 4], &[2, 3, 4]),
            (&[1], &[5], &[3]),
            (&[0], &[0], &[3]),
        ] {
            let trimmed = Trimmed::new(coordinate, shape, chunk);
            let inside = |element: &u64| {
                let offset = crate::dims::unravel(*element, chunk);
                offset.iter().zip(&trimmed.shape).all(|(offset, axis)| offset < axis)
            };
            let expected: Vec<u64> = (0..chunk.iter().product()).filter(inside).collect();
            assert_eq!(trimmed.runs().flatten().collect::<Vec<u64>>(), expected);
        }
    }

    #[test]
    fn digests_are_those_of_hashlib() {
        // hashlib.sha256(numpy.arange(3, dtype="<i8").tobytes() + b"(3,)").hexdigest()
        let chunk: Vec<u8> = (0..4i64).flat_map(i64::to_le_bytes).collect();
        let edge = Trimmed::new(&[0], &[3], &[4]);
        assert_eq!(
            hex(of_elements(&chunk, 8, &edge)),
            "6b1e0170df3836491ffcfa025ec4437fa3ea883392cf7fc5fd8797a4da01b1f2"
        );
        // The same of b"\x02\0\0\0\0\0\0\0ab" + bytes(8) + b"(2,)".
        let two = Trimmed::new(&[0], &[2], &[2]);
        assert_eq!(
            hex(of_strings([&b"ab"[..], b""].into_iter(), &two)),
            "e66d88692549b9120637f4609575f8246bc20aa6b34a194b0c57b145a644db7b"
        );
    }

    #[test]
    fn fill_is_decided_on_bits_inside_the_bounds() {
        let edge = Trimmed::new(&[1], &[7], &[4]);
        let chunk = |values: [f64; 4]| values.map(f64::to_le_bytes).concat();
        let zero = 0f64.to_le_bytes();
        assert!(is_fill(&chunk([0.0, 0.0, 0.0, 9.0]), &zero, &edge));
        assert!(!is_fill(&chunk([0.0, -0.0, 0.0, 9.0]), &zero, &edge));
        assert!(!is_fill(&chunk([0.0, 0.0, 1.0, 0.0]), &zero, &edge));
    }
}
