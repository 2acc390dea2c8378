//! Filter 3, Fletcher's checksum: the chunk, then its checksum as 4 little-endian bytes.

use super::buffer::Buffer;
use super::error::{Corruption, Fault};

/// Number of bytes the filter adds.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// 16-bit words that can be summed before a 32-bit sum of sums may overflow.
const WORDS_A_ROUND: usize = 360;

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
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (mut sum1, mut sum2) = (0u32, 0u32);
    let (words, odd) = bytes.as_chunks::<2>();
    for round in words.chunks(WORDS_A_ROUND) {
        for &word in round {
            sum1 += u32::from(u16::from_be_bytes(word));
            sum2 += sum1;
        }
        (sum1, sum2) = (fold(sum1), fold(sum2));
    }
    if let [last] = odd {
        sum1 += u32::from(u16::from_be_bytes([*last, 0]));
        sum2 += sum1;
        (sum1, sum2) = (fold(sum1), fold(sum2));
    }
    fold(sum2) << 16 | fold(sum1)
}

/// One step of reducing a sum modulo 65535.
fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
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
