//! Filter 3, Fletcher's checksum: the chunk, then its checksum as 4 little-endian bytes.

use wide::{u16x8, u32x8};

use super::buffer::Buffer;
use super::error::{Corruption, Fault};

/// Number of bytes the filter adds.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// Words summed side by side.
const LANES: usize = 8;
/// [`LANES`] for the sums.
const LANES_U64: u64 = 8;
/// Words a lane can take before its 32-bit sum of sums may overflow.
const GROUPS_A_ROUND: usize = 360;

/// The content of a checked chunk, without the checksum.
///
/// Accepts the checksum of libhdf5 before 1.6.3 too, whose sums have their bytes swapped
/// (`H5Z__filter_fletcher32`).
pub(super) fn verify(input: &[u8]) -> Result<&[u8], Fault> {
    let (content, stored) =
        input.split_last_chunk::<CHECKSUM_BYTES>().ok_or(Corruption::Truncated)?;
    let expected = u32::from_le_bytes(*stored);
    let found = checksum(content);
    if expected == found || expected == swap_bytes_of_halves(found) {
        Ok(content)
    } else {
        Err(Fault::Checksum { expected, found })
    }
}

/// Writes the content and its checksum.
pub(super) fn append(content: &[u8], out: &mut Buffer) -> Result<(), Fault> {
    let len = content.len().saturating_add(CHECKSUM_BYTES);
    let (start, end) = out.prepare(len)?.split_at_mut(content.len());
    start.copy_from_slice(content);
    end.copy_from_slice(&checksum(content).to_le_bytes());
    out.set_len(len);
    Ok(())
}

/// The checksum of `H5_checksum_fletcher32`: sums over big-endian 16-bit words, starting at 0.
///
/// Both sums are taken modulo 65535, with 65535 in the place of 0 unless all words are 0. Lanes are
/// summed apart and joined once a round: word `i` of `n` counts `n - i` times in the second sum, so
/// lane `j` gives `LANES` times its own second sum, less `j` times its first.
///
/// Words are summed as little-endian: modulo 65535 swapping the bytes of a word is multiplying by
/// 256, so the sums come out swapped and are swapped back.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (mut sum1, mut sum2) = (0u64, 0u64);
    let (words, odd) = bytes.as_chunks::<2>();
    let (groups, rest) = words.as_chunks::<LANES>();
    for round in groups.chunks(GROUPS_A_ROUND) {
        let (mut first, mut second) = (u32x8::ZERO, u32x8::ZERO);
        for group in round {
            first += u32x8::from(u16x8::new(group.map(u16::from_le_bytes)));
            second += first;
        }
        // A round has 2,880 words at most, so nothing here comes near 64 bits.
        sum2 += sum1 * words_in(round);
        for (lane, (first, second)) in
            (0u64..).zip(first.to_array().into_iter().zip(second.to_array()))
        {
            sum1 += u64::from(first);
            sum2 += LANES_U64 * u64::from(second) - lane * u64::from(first);
        }
        (sum1, sum2) = (reduce(sum1), reduce(sum2));
    }
    let last = odd.first().map(|&byte| [byte, 0]);
    for &word in rest.iter().chain(&last) {
        sum1 += u64::from(u16::from_le_bytes(word));
        sum2 += sum1;
    }
    // Both sums are below 65536.
    let sums = u32::try_from(reduce(sum2) << 16 | reduce(sum1)).unwrap_or_default();
    swap_bytes_of_halves(sums)
}

/// The number of words of a round.
fn words_in(round: &[[[u8; 2]; LANES]]) -> u64 {
    u64::try_from(round.as_flattened().len()).unwrap_or(0)
}

/// A sum modulo 65535, from 1 to 65535 unless it is 0.
fn reduce(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % 0xffff + 1 }
}

/// Swaps the two bytes of each 16-bit half.
fn swap_bytes_of_halves(sums: u32) -> u32 {
    sums.swap_bytes().rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_agrees_with_published_words() {
        // Sums by hand over the words 0x0102, 0x0304 (and 0x0500).
        assert_eq!(checksum(&[1, 2, 3, 4]), (0x0102 + 0x0406) << 16 | 0x0406);
        assert_eq!(checksum(&[1, 2, 3, 4, 5]), (0x0102 + 0x0406 + 0x0906) << 16 | 0x0906);
        assert_eq!(checksum(&[]), 0);
    }

    #[test]
    fn checksum_does_not_overflow_on_the_largest_words() {
        // 0xffff is 0 modulo 65535, and its representation stays 0xffff once it is met.
        assert_eq!(checksum(&[0xff; 100_000]), 0xffff_ffff);
    }

    /// The definition, word by word.
    fn oracle(bytes: &[u8]) -> u32 {
        let (mut sum1, mut sum2) = (0u64, 0u64);
        for word in bytes.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            sum1 += u64::from(u16::from_be_bytes([word[0], low]));
            sum2 = reduce(sum2 + sum1);
            sum1 = reduce(sum1);
        }
        u32::try_from(sum2 << 16 | sum1).unwrap()
    }

    #[test]
    fn checksum_agrees_with_the_definition_at_every_length() {
        let bytes: Vec<u8> = (0u32..30_000).map(|i| (i * i / 7).to_le_bytes()[0]).collect();
        for len in (0..200).chain([11_519, 11_520, 11_521, 23_040, 29_999]) {
            assert_eq!(checksum(&bytes[..len]), oracle(&bytes[..len]), "{len}");
        }
    }

    #[test]
    fn swapped_sums_of_old_libraries_are_accepted() {
        let content = [1u8, 2, 3, 4, 5];
        let found = checksum(&content);
        for (stored, accepted) in
            [(found, true), (swap_bytes_of_halves(found), true), (found.swap_bytes(), false)]
        {
            let input = [&content[..], &stored.to_le_bytes()].concat();
            assert_eq!(verify(&input).is_ok(), accepted, "{stored:#x}");
        }
        assert_eq!(verify(&[1, 2, 3]), Err(Corruption::Truncated.into()));
    }
}
