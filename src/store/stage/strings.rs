//! Strings of variable length while they are staged: elements are handles, so that arrays of them are arrays of
//! elements of fixed size.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes of a handle.
pub(in crate::store) const HANDLE: usize = size_of::<u64>();

/// The handle of the empty string, which is what strings are filled with.
pub(in crate::store) const EMPTY: [u8; HANDLE] = [0; HANDLE];

/// The strings behind the handles of one staged dataset.
#[derive(Debug, Default)]
pub(in crate::store) struct StringArena {
    strings: RwLock<Strings>,
}

/// Strings one after the other; handle 0 is the empty one, handle *n* ends at `ends[n - 1]`.
#[derive(Debug, Default)]
pub(in crate::store) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl StringArena {
    // Strings are whole once they are added: what a panicking thread left can be used.
    pub(in crate::store) fn read(&self) -> RwLockReadGuard<'_, Strings> {
        self.strings.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::store) fn write(&self) -> RwLockWriteGuard<'_, Strings> {
        self.strings.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Strings {
    /// Keeps a string and gives its handle.
    pub(in crate::store) fn add(&mut self, string: &[u8]) -> [u8; HANDLE] {
        if string.is_empty() {
            return EMPTY;
        }
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        (self.ends.len() as u64).to_le_bytes()
    }

    /// The string of a handle; of one that was never given, the empty string.
    pub(in crate::store) fn get(&self, handle: &[u8]) -> &[u8] {
        let handle = handle.try_into().map_or(0, u64::from_le_bytes);
        let Some(at) = handle.checked_sub(1).and_then(|at| usize::try_from(at).ok()) else {
            return &[];
        };
        let start = at.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|&end| self.bytes.get(start..end)).unwrap_or_default()
    }

    /// Number of strings, to go back to.
    pub(in crate::store) fn mark(&self) -> usize {
        self.ends.len()
    }

    /// Forgets the strings that came after a mark.
    pub(in crate::store) fn back_to(&mut self, mark: usize) {
        self.ends.truncate(mark);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_lead_back_to_their_strings() {
        let arena = StringArena::default();
        let mut strings = arena.write();
        let [one, none, two] = ["one", "", "two"].map(|text| strings.add(text.as_bytes()));
        let mark = strings.mark();
        let three = strings.add(b"three");
        assert_eq!(
            [one, none, two, three].map(|h| strings.get(&h).to_vec()),
            [b"one".to_vec(), vec![], b"two".to_vec(), b"three".to_vec()]
        );
        strings.back_to(mark);
        assert_eq!(strings.get(&three), b"");
        assert_eq!(strings.get(&two), b"two");
    }
}
