//! Filter 2, byte shuffle: byte `b` of every element, then byte `b + 1` of every element, and so
//! on.
//!
//! Bytes behind the last whole element stay where they are (`H5Z__filter_shuffle`).
//!
//! Element sizes of 2, 4, 8 and 16 bytes move in tiles of [`TILE`] elements. A tile is a matrix
//! whose transposition rotates the bits of every byte's position, and one *perfect shuffle* (the
//! two halves of the tile interleaved) rotates them by one. A perfect shuffle is two vector
//! instructions for two rows.

use std::array;

/// Elements of a tile, and bytes of a row of it: one vector register.
const TILE: usize = 16;
/// log2 of [`TILE`].
const TILE_BITS: usize = 4;

type Row = wide::u8x16;

/// Gathers the bytes of each significance; `out` must be as long as `input`.
pub(super) fn shuffle(element_size: usize, input: &[u8], out: &mut [u8]) {
    transpose(element_size, input, out, Direction::Shuffle);
}

/// Undoes [`shuffle`]; `out` must be as long as `input`.
pub(super) fn unshuffle(element_size: usize, input: &[u8], out: &mut [u8]) {
    transpose(element_size, input, out, Direction::Unshuffle);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Shuffle,
    Unshuffle,
}

fn transpose(element_size: usize, input: &[u8], out: &mut [u8], direction: Direction) {
    let count = input.len().checked_div(element_size).unwrap_or(0);
    if element_size < 2 || count < 2 {
        out.copy_from_slice(input);
        return;
    }
    let whole = count * element_size;
    let (input, input_tail) = input.split_at(whole);
    let (out, out_tail) = out.split_at_mut(whole);
    out_tail.copy_from_slice(input_tail);
    match (element_size, direction) {
        (2, Direction::Shuffle) => shuffle_tiles::<2>(input, out),
        (4, Direction::Shuffle) => shuffle_tiles::<4>(input, out),
        (8, Direction::Shuffle) => shuffle_tiles::<8>(input, out),
        (16, Direction::Shuffle) => shuffle_tiles::<16>(input, out),
        (2, Direction::Unshuffle) => unshuffle_tiles::<2>(input, out),
        (4, Direction::Unshuffle) => unshuffle_tiles::<4>(input, out),
        (8, Direction::Unshuffle) => unshuffle_tiles::<8>(input, out),
        (16, Direction::Unshuffle) => unshuffle_tiles::<16>(input, out),
        _ => elementwise(element_size, 0, input, out, direction),
    }
}

/// [`unshuffle`] of whole elements of `SIZE` bytes.
fn unshuffle_tiles<const SIZE: usize>(input: &[u8], out: &mut [u8]) {
    let count = input.len() / SIZE;
    let planes: [&[[u8; TILE]]; SIZE] =
        array::from_fn(|byte| input[byte * count..(byte + 1) * count].as_chunks().0);
    let (tiles, _) = out.as_chunks_mut::<TILE>().0.as_chunks_mut::<SIZE>();
    for (index, tile) in tiles.iter_mut().enumerate() {
        let mut rows: [Row; SIZE] = array::from_fn(|byte| Row::new(planes[byte][index]));
        for _ in 0..SIZE.ilog2() {
            rows = perfect_shuffle(rows);
        }
        *tile = rows.map(Row::to_array);
    }
    elementwise(SIZE, count / TILE * TILE, input, out, Direction::Unshuffle);
}

/// [`shuffle`] of whole elements of `SIZE` bytes.
fn shuffle_tiles<const SIZE: usize>(input: &[u8], out: &mut [u8]) {
    let count = input.len() / SIZE;
    let (tiles, _) = input.as_chunks::<TILE>().0.as_chunks::<SIZE>();
    for (index, tile) in tiles.iter().enumerate() {
        let mut rows: [Row; SIZE] = array::from_fn(|row| Row::new(tile[row]));
        for _ in 0..TILE_BITS {
            rows = perfect_shuffle(rows);
        }
        for (byte, row) in rows.iter().enumerate() {
            let start = byte * count + index * TILE;
            out[start..start + TILE].copy_from_slice(&row.to_array());
        }
    }
    elementwise(SIZE, count / TILE * TILE, input, out, Direction::Shuffle);
}

/// Interleaves the bytes of the two halves of a tile.
#[inline(always)]
fn perfect_shuffle<const SIZE: usize>(rows: [Row; SIZE]) -> [Row; SIZE] {
    array::from_fn(|row| {
        let (low, high) = (rows[row / 2], rows[row / 2 + SIZE / 2]);
        if row % 2 == 0 { Row::unpack_low(low, high) } else { Row::unpack_high(low, high) }
    })
}

/// Elements that the loop over one significance handles before it moves on to the next: the
/// bytes touched stay in the first-level cache.
const ELEMENTS_A_ROUND: usize = 64;

/// The transposition for any element size, from element `first` on.
fn elementwise(
    element_size: usize,
    first: usize,
    input: &[u8],
    out: &mut [u8],
    direction: Direction,
) {
    let count = input.len() / element_size;
    for start in (first..count).step_by(ELEMENTS_A_ROUND) {
        let end = (start + ELEMENTS_A_ROUND).min(count);
        for byte in 0..element_size {
            let plane = byte * count + start..byte * count + end;
            let elements = start * element_size + byte..end * element_size;
            match direction {
                Direction::Shuffle => {
                    let elements = input[elements].iter().step_by(element_size);
                    out[plane].iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
                }
                Direction::Unshuffle => {
                    let elements = out[elements].iter_mut().step_by(element_size);
                    elements.zip(&input[plane]).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: byte `b` of element `e` stands at `b * count + e`.
    fn oracle(element_size: usize, input: &[u8]) -> Vec<u8> {
        let count = input.len() / element_size;
        let mut out = input.to_vec();
        for element in 0..count {
            for byte in 0..element_size {
                out[byte * count + element] = input[element * element_size + byte];
            }
        }
        out
    }

    #[test]
    fn every_element_size_and_length_agrees_with_the_definition() {
        for element_size in 1..=40 {
            for len in (0usize..200).chain([511, 512, 1024, 2048, 4097]) {
                let input: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256).to_le_bytes()[0]).collect();
                let mut shuffled = vec![0; len];
                shuffle(element_size, &input, &mut shuffled);
                assert_eq!(shuffled, oracle(element_size, &input), "{element_size} {len}");
                let mut back = vec![0; len];
                unshuffle(element_size, &shuffled, &mut back);
                assert_eq!(back, input, "{element_size} {len}");
            }
        }
    }

    #[test]
    fn a_size_beyond_the_input_or_of_zero_moves_nothing() {
        for element_size in [0, 6, usize::MAX] {
            let mut out = [0; 5];
            unshuffle(element_size, &[1, 2, 3, 4, 5], &mut out);
            assert_eq!(out, [1, 2, 3, 4, 5]);
        }
    }
}
