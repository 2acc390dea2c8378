//! Hashing of digests, which are random already: what a file could choose is only which of them begin alike.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Numbers that nobody knows beforehand, one for each 8 bytes of a digest.
#[derive(Clone, Debug)]
pub(super) struct DigestKeys([u64; 4]);

impl Default for DigestKeys {
    fn default() -> Self {
        let random = RandomState::new();
        Self([1_u64, 2, 3, 4].map(|number| random.hash_one(number)))
    }
}

impl BuildHasher for DigestKeys {
    type Hasher = DigestHasher;

    fn build_hasher(&self) -> DigestHasher {
        DigestHasher { keys: self.0, hash: 0 }
    }
}

/// Folded products of 16 bytes each, which were mixed with their keys.
#[derive(Debug)]
pub(super) struct DigestHasher {
    keys: [u64; 4],
    hash: u64,
}

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut mixed = self.keys;
        for (mixed, part) in mixed.iter_mut().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            *mixed ^= u64::from_le_bytes(word);
        }
        let [a, b, c, d] = mixed;
        self.hash ^= fold(a, b).rotate_left(32) ^ fold(c, d);
    }

    /// The number of bytes, which is that of all digests.
    fn write_usize(&mut self, _len: usize) {}

    fn finish(&self) -> u64 {
        self.hash
    }
}

/// Both halves of a product.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let [low, high] = [product, product >> 64].map(|half| (half & u128::from(u64::MAX)).try_into());
    low.unwrap_or(0) ^ high.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn digests_that_differ_in_one_bit_anywhere_are_told_apart() {
        let keys = DigestKeys::default();
        let hash = |digest: &[u8; 32]| keys.hash_one(digest);
        let mut hashes = HashSet::from([hash(&[0; 32])]);
        for bit in 0..256 {
            let mut digest = [0; 32];
            digest[bit / 8] = 1 << (bit % 8);
            hashes.insert(hash(&digest));
        }
        assert!(hashes.len() > 250);
    }
}
