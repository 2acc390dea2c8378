//! Jenkins' lookup3, the checksum of HDF5 metadata (`H5_checksum_lookup3`, specification "Checksum").

/// Bytes mixed in at once.
pub(crate) const ROUND: usize = 12;

/// Bob Jenkins' `hashlittle` with an initial value of 0.
pub fn lookup3(bytes: &[u8]) -> u32 {
    let mut state = Lookup3::new(bytes.len());
    let tail = state.absorb(bytes);
    state.finish(&bytes[tail..])
}

/// `hashlittle` in steps, for checking bytes while they are decoded.
///
/// The chain of additions and rotations is bound by latency, so a decoder that absorbs the bytes it has just
/// decoded gets most of the checksum for nothing.
#[derive(Clone, Debug)]
pub struct Lookup3 {
    a: u32,
    b: u32,
    c: u32,
    remaining: usize,
}

impl Lookup3 {
    /// Starts the checksum of `length` bytes; only the low 32 bits of the length count, as in the C code.
    pub fn new(length: usize) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "hashlittle adds the length modulo 2^32"
        )]
        let seed = 0xdead_beef_u32.wrapping_add(length as u32);
        Self { a: seed, b: seed, c: seed, remaining: length }
    }

    /// Absorbs whole rounds from the start of `bytes`; returns how many bytes were taken.
    ///
    /// `bytes` begin where the last call stopped. The last 1 to 12 of all bytes are left for
    /// [`Lookup3::finish`].
    #[inline]
    pub fn absorb(&mut self, bytes: &[u8]) -> usize {
        let rounds = self.rounds(bytes);
        let mut state = (self.a, self.b, self.c);
        for round in rounds {
            state = mix(state, round);
        }
        (self.a, self.b, self.c) = state;
        self.took(rounds)
    }

    /// The whole rounds at the start of `bytes` that are not the last ones of all.
    fn rounds<'b>(&self, bytes: &'b [u8]) -> &'b [[u8; ROUND]] {
        let limit = bytes.len().min(self.remaining.saturating_sub(1));
        bytes[..limit].as_chunks().0
    }

    fn took(&mut self, rounds: &[[u8; ROUND]]) -> usize {
        let taken = size_of_val(rounds);
        self.remaining -= taken;
        taken
    }

    /// Mixes in the last bytes, at most 12, and returns the checksum.
    pub fn finish(self, tail: &[u8]) -> u32 {
        let Self { mut a, mut b, mut c, .. } = self;
        if tail.is_empty() {
            return c;
        }
        let mut last = [0u8; ROUND];
        let count = tail.len().min(ROUND);
        last[..count].copy_from_slice(&tail[..count]);
        let (words, _) = last.as_chunks::<4>();
        a = a.wrapping_add(u32::from_le_bytes(words[0]));
        b = b.wrapping_add(u32::from_le_bytes(words[1]));
        c = c.wrapping_add(u32::from_le_bytes(words[2]));

        c = (c ^ b).wrapping_sub(b.rotate_left(14));
        a = (a ^ c).wrapping_sub(c.rotate_left(11));
        b = (b ^ a).wrapping_sub(a.rotate_left(25));
        c = (c ^ b).wrapping_sub(b.rotate_left(16));
        a = (a ^ c).wrapping_sub(c.rotate_left(4));
        b = (b ^ a).wrapping_sub(a.rotate_left(14));
        (c ^ b).wrapping_sub(b.rotate_left(24))
    }
}

/// Has two checksums absorb the same bytes, whole rounds that are the last ones of neither: in the time that one of them
/// takes.
pub(crate) fn absorb_both(one: &mut Lookup3, other: &mut Lookup3, bytes: &[u8]) {
    let rounds = one.rounds(other.rounds(bytes).as_flattened());
    let (mut first, mut second) = ((one.a, one.b, one.c), (other.a, other.b, other.c));
    for round in rounds {
        first = mix(first, round);
        second = mix(second, round);
    }
    (one.a, one.b, one.c) = first;
    (other.a, other.b, other.c) = second;
    one.took(rounds);
    other.took(rounds);
}

/// Mixes a round in.
#[inline]
fn mix((mut a, mut b, mut c): (u32, u32, u32), round: &[u8; ROUND]) -> (u32, u32, u32) {
    let (words, _) = round.as_chunks::<4>();
    a = a.wrapping_add(u32::from_le_bytes(words[0]));
    b = b.wrapping_add(u32::from_le_bytes(words[1]));
    c = c.wrapping_add(u32::from_le_bytes(words[2]));

    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    (a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_are_met() {
        // From the comments and the self-test of Jenkins' lookup3.c.
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn steps_of_any_size_give_the_same_checksum() {
        let bytes: Vec<u8> = (0..200u8).map(|byte| byte.wrapping_mul(37)).collect();
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            for step in [1, 11, 12, 13, 40] {
                let mut state = Lookup3::new(length);
                let mut taken = 0;
                let mut limit = 0;
                while limit < length {
                    limit = (limit + step).min(length);
                    taken += state.absorb(&bytes[taken..limit]);
                }
                assert_eq!(
                    state.finish(&bytes[taken..]),
                    lookup3(bytes),
                    "{length} bytes by {step}"
                );
            }
        }
    }
}
