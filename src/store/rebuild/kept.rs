//! Which raw chunks are kept, and their new numbers: the same order without gaps.

use crate::dims::RawChunk;

/// Raw chunks of a word.
const WORD: u64 = u64::BITS as u64;

/// Raw chunks that a file may have: a row of a hash table for each of so many takes 48 GiB.
const MOST: u64 = 1 << 30;

/// A set of raw chunks. 16 bytes for 64 chunks, up to the last of the set.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    words: Vec<u64>,
    /// How many of the set are before each word.
    before: Vec<u64>,
    count: u64,
}

impl Kept {
    /// Adds a raw chunk, and says whether it was not there yet; `None` for a number that no chunk has.
    pub(super) fn insert(&mut self, raw: RawChunk) -> Option<bool> {
        if raw.0 >= MOST {
            return None;
        }
        let (word, bit) = (usize::try_from(raw.0 / WORD).ok()?, 1 << (raw.0 % WORD));
        if word >= self.words.len() {
            self.words.try_reserve(word + 1 - self.words.len()).ok()?;
            self.words.resize(word + 1, 0);
        }
        let place = self.words.get_mut(word)?;
        let is_new = *place & bit == 0;
        *place |= bit;
        Some(is_new)
    }

    /// Gives new numbers: no more are added after that.
    pub(super) fn number(mut self) -> Self {
        self.before = Vec::with_capacity(self.words.len());
        self.count = 0;
        for word in &self.words {
            self.before.push(self.count);
            self.count += u64::from(word.count_ones());
        }
        self
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether all have their old numbers as new ones: there is no gap.
    pub(super) fn keeps_numbers(&self) -> bool {
        let after_last = self.words.last().map_or(0, |word| u64::from(word.leading_zeros()));
        self.count == self.words.len() as u64 * WORD - after_last
    }

    /// The new number of a raw chunk; `None` if it is not kept.
    #[inline]
    pub(super) fn new_number(&self, raw: RawChunk) -> Option<RawChunk> {
        let (word, bit) = (usize::try_from(raw.0 / WORD).ok()?, raw.0 % WORD);
        let (bits, before) = (*self.words.get(word)?, *self.before.get(word)?);
        let lower = bits & ((1 << bit) - 1);
        let is_there = bits >> bit & 1 == 1;
        is_there.then(|| RawChunk(before + u64::from(lower.count_ones())))
    }

    /// All of the set, by their old numbers, in rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = RawChunk> + '_ {
        (0..).zip(&self.words).flat_map(|(word, &bits): (u64, &u64)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = u64::from(rest.checked_ilog2().map(|_| rest.trailing_zeros())?);
                rest &= rest - 1;
                Some(RawChunk(word * WORD + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_numbers_keep_the_order_and_leave_no_gap() {
        let raws = [0, 5, 63, 64, 65, 200, 1000];
        let mut kept = Kept::default();
        for &raw in raws.iter().rev().chain(&raws) {
            kept.insert(RawChunk(raw));
        }
        assert_eq!(kept.insert(RawChunk(5)), Some(false));
        assert_eq!(kept.insert(RawChunk(6)), Some(true));
        let kept = kept.number();
        let expected = [0, 5, 6, 63, 64, 65, 200, 1000];
        assert_eq!(kept.count(), 8);
        assert_eq!(kept.iter().map(|raw| raw.0).collect::<Vec<_>>(), expected);
        for raw in 0..1100 {
            let at = (0..).map(RawChunk).zip(&expected).find(|&(_, &one)| one == raw);
            assert_eq!(kept.new_number(RawChunk(raw)), at.map(|(at, _)| at), "{raw}");
        }
        assert_eq!(Kept::default().number().new_number(RawChunk(u64::MAX)), None);
    }

    #[test]
    fn numbers_are_kept_as_long_as_there_is_no_gap() {
        let mut kept = Kept::default();
        assert!(kept.clone().number().keeps_numbers());
        for raw in 0..200 {
            kept.insert(RawChunk(raw));
            assert!(kept.clone().number().keeps_numbers(), "{raw}");
            let mut gap = kept.clone();
            gap.insert(RawChunk(raw + 2));
            assert!(!gap.number().keeps_numbers(), "{raw}");
        }
    }

    #[test]
    fn a_number_that_no_chunk_has_is_refused() {
        assert_eq!(Kept::default().insert(RawChunk(u64::MAX)), None);
    }
}
