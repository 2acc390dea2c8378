//! The checksum by which the comparison tells right answers from wrong ones.

/// Sum of word i times (2 i + 1), modulo 2^64.
pub(crate) fn checksum(words: impl Iterator<Item = u64>) -> u64 {
    let factors = (1u64..).step_by(2);
    words.zip(factors).fold(0, |sum, (word, factor)| sum.wrapping_add(word.wrapping_mul(factor)))
}

/// The little-endian 8-byte words of `bytes`, the last one padded with zeros.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}
