//! Digests of chunks, by which equal ones are found (format-v4.md, "hash_table").

use std::ops::Range;
use std::rc::Rc;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use tape_sha256::{Message, hash_messages, lane_width};

use crate::dims::{ChunkIndex, Dims, unravel};
use crate::raw::Threads;
use crate::staged::{Base, StagedArray};

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

    /// So many elements of each axis from the first on.
    pub(super) fn first(shape: &[u64], chunk_shape: &[u64]) -> Self {
        Self { shape: Dims::from_slice(shape), chunk_shape: Dims::from_slice(chunk_shape) }
    }

    /// The part of a chunk of a staged array that is inside its shape.
    pub(super) fn of<B: Base>(chunk: ChunkIndex, array: &StagedArray<B>) -> Self {
        Self::new(&unravel(chunk.0, array.grid()), array.shape(), array.chunk_shape())
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
        for outside in self.byte_runs_outside(fill.len()) {
            let outside = chunk.get_mut(outside).unwrap_or_default();
            outside.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
        }
    }

    /// Whether a whole chunk has the fill value wherever it is outside the bounds.
    pub(super) fn is_fill_outside(&self, chunk: &[u8], fill: &[u8]) -> bool {
        self.byte_runs_outside(fill.len()).all(|outside| {
            let mut elements = chunk.get(outside).unwrap_or_default().chunks_exact(fill.len());
            elements.all(|element| element == fill)
        })
    }

    /// The elements outside, as ranges of the chunk's bytes; some of them may be empty.
    fn byte_runs_outside(&self, element_size: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let elements = self.chunk_shape.iter().product::<u64>();
        let end = usize::try_from(elements).unwrap_or(0).saturating_mul(element_size);
        let inside = self.byte_runs(element_size).chain(std::iter::once(end..end));
        inside.scan(0, |start, inside| Some(std::mem::replace(start, inside.end)..inside.start))
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
}

/// A shape as Python prints a tuple.
fn python_tuple(shape: &[u64]) -> String {
    match shape {
        [only] => format!("({only},)"),
        axes => {
            let axes: Vec<String> = axes.iter().map(u64::to_string).collect();
            format!("({})", axes.join(", "))
        }
    }
}

/// Number of chunks whose digests are best made together.
///
/// A digest is one chain of steps, each of which waits for the one before it; a core that goes through several
/// chunks side by side is done with all of them sooner.
pub(super) fn together() -> usize {
    lane_width()
}

/// A chunk of elements of fixed size, whole, in C order.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'c> {
    pub(super) elements: &'c [u8],
    pub(super) trimmed: &'c Trimmed,
    /// The fill value, an element.
    pub(super) fill: &'c [u8],
}

/// Digests of chunks, on all threads; `None` for a whole chunk that holds nothing but its fill value.
///
/// versioned-hdf5 looks for the digest of a whole chunk of fill: an edge chunk has one whatever it holds, and files
/// have the same chunks whoever has written them.
pub(super) fn of_chunks(chunks: &[Chunk<'_>], threads: Threads<'_>) -> Vec<Option<Digest>> {
    let bytes: usize = chunks.iter().map(|chunk| chunk.elements.len()).sum();
    if !threads.are_worth(bytes) {
        return side_by_side(chunks);
    }
    // As many as go side by side, but no thread is to wait while others have more than one.
    let group = chunks.len().div_ceil(threads.count()).clamp(1, together());
    let groups = chunks.par_chunks(group);
    threads.install(|| groups.flat_map_iter(side_by_side).collect())
}

fn side_by_side(chunks: &[Chunk<'_>]) -> Vec<Option<Digest>> {
    let mut digests = vec![None; chunks.len()];
    // Whole chunks go through a core side by side, at their best those of one length.
    let mut whole = Vec::with_capacity(chunks.len());
    let mut shape: (&[u64], Rc<str>) = (&[], Rc::from(""));
    for (place, chunk) in digests.iter_mut().zip(chunks) {
        let Chunk { elements, trimmed, fill } = *chunk;
        if !trimmed.is_whole() {
            *place = Some(of_elements(elements, fill.len(), trimmed));
        } else if !is_fill(elements, fill, trimmed) {
            if shape.0 != trimmed.chunk_shape.as_slice() {
                shape = (&trimmed.chunk_shape, python_tuple(&trimmed.chunk_shape).into());
            }
            whole.push((place, elements, Rc::clone(&shape.1)));
        }
    }
    for group in whole.chunks_mut(together()) {
        let mut found = vec![Digest::default(); group.len()];
        // An empty place in a group takes as long as one that is used.
        if group.len() * 2 > together() {
            let messages: Vec<_> = (group.iter())
                .map(|(_, elements, shape)| Message::pair(&[], elements, shape.as_bytes()))
                .collect();
            hash_messages(&messages, &mut found);
        } else {
            for (digest, (_, elements, shape)) in found.iter_mut().zip(group.iter()) {
                let hasher = Sha256::new().chain_update(elements).chain_update(&**shape);
                *digest = hasher.finalize().into();
            }
        }
        for ((place, ..), digest) in group.iter_mut().zip(found) {
            **place = Some(digest);
        }
    }
    digests
}

/// Digest of a chunk of elements of fixed size; `chunk` is whole, in C order.
pub(super) fn of_elements(chunk: &[u8], element_size: usize, trimmed: &Trimmed) -> Digest {
    let mut hasher = Sha256::new();
    for run in trimmed.byte_runs(element_size) {
        hasher.update(chunk.get(run).unwrap_or_default());
    }
    hasher.update(python_tuple(&trimmed.shape));
    hasher.finalize().into()
}

/// Digest of a chunk of strings of variable length; `strings` are those inside the bounds, in C order.
pub(super) fn of_strings<'s>(strings: impl Iterator<Item = &'s [u8]>, trimmed: &Trimmed) -> Digest {
    let mut hasher = Sha256::new();
    for string in strings {
        hasher.update((string.len() as u64).to_le_bytes());
        hasher.update(string);
    }
    hasher.update(python_tuple(&trimmed.shape));
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

    /// Bytes that look random, other ones for each seed.
    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let step = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
            Some((*state >> 56) as u8)
        };
        std::iter::repeat(seed).scan(seed, |state, _| step(state)).take(len).collect()
    }

    fn one_by_one(messages: &[Message<'_>]) -> Vec<Digest> {
        let one = |message: &Message<'_>| {
            let hasher = Sha256::new().chain_update(message.body).chain_update(message.tail);
            hasher.finalize().into()
        };
        messages.iter().map(one).collect()
    }

    fn side_by_side(messages: &[Message<'_>]) -> Vec<Digest> {
        let mut digests = vec![Digest::default(); messages.len()];
        hash_messages(messages, &mut digests);
        digests
    }

    #[test]
    fn messages_side_by_side_have_the_digests_of_fips_180() {
        let of = |text: &str| hex(side_by_side(&[Message::new(text.as_bytes())])[0]);
        assert_eq!(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(
            of(&"a".repeat(1_000_000)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn messages_of_any_length_have_the_same_digests_side_by_side() {
        let tail = b"(10240, 3)";
        for len in 0..300 {
            let bodies: Vec<Vec<u8>> = (0..37).map(|seed| noise(len, seed)).collect();
            for count in [1, 2, 15, 16, 17, 37] {
                let equal: Vec<_> =
                    bodies[..count].iter().map(|body| Message::pair(&[], body, tail)).collect();
                assert_eq!(side_by_side(&equal), one_by_one(&equal), "{count} of {len} bytes");
            }
            let unequal: Vec<_> = (bodies.iter().enumerate())
                .map(|(at, body)| {
                    Message::pair(&[], &body[..len * 31 % (at + len + 1) % (len + 1)], tail)
                })
                .collect();
            assert_eq!(side_by_side(&unequal), one_by_one(&unequal), "up to {len} bytes");
        }
    }

    #[test]
    fn chunks_have_the_same_digests_however_many_there_are() {
        let fill = [0xff, 0];
        let (shape, chunk_shape) = ([6, 90], [4, 20]);
        let chunk_of = |number: u64| {
            let trimmed = Trimmed::new(&[number % 2, number / 2 % 5], &shape, &chunk_shape);
            let filled = number % 7 == 3;
            (if filled { fill.repeat(80) } else { noise(160, number) }, trimmed)
        };
        let chunks: Vec<(Vec<u8>, Trimmed)> = (0..200).map(chunk_of).collect();
        let whole = chunks.iter().filter(|(_, trimmed)| trimmed.is_whole()).count();
        assert!(whole > 2 * together());
        let of = |(elements, trimmed): &'_ (Vec<u8>, Trimmed)| -> Option<Digest> {
            let is_fill = trimmed.is_whole() && is_fill(elements, &fill, trimmed);
            (!is_fill).then(|| of_elements(elements, fill.len(), trimmed))
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for count in [0, 1, 2, 3, 20, 50, 200] {
            let expected: Vec<_> = chunks[..count].iter().map(of).collect();
            let chunks: Vec<_> = (chunks[..count].iter())
                .map(|(elements, trimmed)| Chunk { elements, trimmed, fill: &fill })
                .collect();
            for threads in [Threads::One, Threads::Pool(&pool)] {
                assert_eq!(of_chunks(&chunks, threads), expected, "{count} chunks");
            }
        }
    }
}
