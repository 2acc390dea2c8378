//! Bit shuffle: bit 0 of byte 0 of every element, then bit 1, and so on, eight elements to a byte.
//!
//! Built from byte shuffles: the bytes of each significance are gathered, every eight of them are
//! transposed as an 8 x 8 matrix of bits in a `u64`, and the eight bytes of each are gathered
//! again.

use super::buffer::Buffer;
use super::error::Fault;
use super::shuffle::{shuffle, unshuffle};

/// Elements are shuffled by eights.
pub(super) const GROUP: usize = 8;

/// Shuffles the bits of whole groups of elements; `out` must be as long as `input`.
pub(super) fn shuffle_bits(
    element_size: usize,
    input: &[u8],
    temp: &mut Buffer,
    out: &mut [u8],
) -> Result<(), Fault> {
    let temp = temp.prepare(input.len())?;
    shuffle(element_size, input, temp);
    transpose_groups(temp);
    let plane = (input.len() / element_size.max(1)).max(1);
    for (from, to) in temp.chunks(plane).zip(out.chunks_mut(plane)) {
        shuffle(GROUP, from, to);
    }
    Ok(())
}

/// Undoes [`shuffle_bits`].
pub(super) fn unshuffle_bits(
    element_size: usize,
    input: &[u8],
    temp: &mut Buffer,
    out: &mut [u8],
) -> Result<(), Fault> {
    let temp = temp.prepare(input.len())?;
    let plane = (input.len() / element_size.max(1)).max(1);
    for (from, to) in input.chunks(plane).zip(temp.chunks_mut(plane)) {
        unshuffle(GROUP, from, to);
    }
    transpose_groups(temp);
    unshuffle(element_size, temp, out);
    Ok(())
}

/// Transposes every eight bytes as a matrix of bits.
fn transpose_groups(bytes: &mut [u8]) {
    for group in bytes.as_chunks_mut::<GROUP>().0 {
        *group = transpose(u64::from_le_bytes(*group)).to_le_bytes();
    }
}

/// Bit `i` of byte `j` to bit `j` of byte `i`: blocks of 1, 2 and 4 bits are swapped across the
/// diagonal.
fn transpose(mut bits: u64) -> u64 {
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let differing = (bits ^ (bits >> distance)) & mask;
        bits ^= differing ^ (differing << distance);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: bit `k` of byte `b` of element `e` is bit `e % 8` of byte `e / 8` of
    /// row `8 * b + k`.
    fn oracle(element_size: usize, input: &[u8]) -> Vec<u8> {
        let count = input.len() / element_size;
        let mut out = vec![0; input.len()];
        for element in 0..count {
            for bit in 0..element_size * 8 {
                let value = input[element * element_size + bit / 8] >> (bit % 8) & 1;
                out[bit * (count / 8) + element / 8] |= value << (element % 8);
            }
        }
        out
    }

    #[test]
    fn every_element_size_and_count_agrees_with_the_definition() {
        let mut temp = Buffer::default();
        for element_size in 1..=20 {
            for count in (0usize..100).chain([256]).map(|groups| groups * GROUP) {
                let input: Vec<u8> =
                    (0..count * element_size).map(|i| (i * 37 + i / 11).to_le_bytes()[0]).collect();
                let mut shuffled = vec![0; input.len()];
                shuffle_bits(element_size, &input, &mut temp, &mut shuffled).unwrap();
                assert_eq!(shuffled, oracle(element_size, &input), "{element_size} {count}");
                let mut back = vec![0; input.len()];
                unshuffle_bits(element_size, &shuffled, &mut temp, &mut back).unwrap();
                assert_eq!(back, input, "{element_size} {count}");
            }
        }
    }
}
