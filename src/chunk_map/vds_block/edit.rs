//! A list in which few mappings differ from those of another, made from the bytes of that one.
//!
//! What takes time with a long list is its checksum, a chain in which each step waits for the one before it. That of the
//! old bytes, which are not to be trusted before, and that of the new ones are made side by side.

use std::ops::Range;

use super::chunk_list::check_stored;
use super::entry_table::EntryTable;
use super::error::VdsBlockError;
use crate::memory::zeroed;
use crate::ondisk::{Lookup3, OndiskError, ROUND, ReadAt, Structure, absorb_both};

const CHECKSUM_SIZE: usize = size_of::<u32>();

/// Where the number of entries stands in a block.
const COUNT_AT: usize = 1;

/// Bytes that take the place of others.
struct Patch<'p> {
    place: Range<usize>,
    bytes: &'p [u8],
}

impl EntryTable {
    /// Whether the entries of a list, given as a whole block, are of the same size and source as this one's.
    pub(crate) fn has_form_of(&self, list: &[u8]) -> bool {
        let mut count = [0; 8];
        if let Some(stored) = list.get(COUNT_AT..self.entries_start()) {
            count[..stored.len()].copy_from_slice(stored);
        }
        let size = u64::from_le_bytes(count).checked_mul(self.entry_size() as u64);
        let entries = self.entries_of(list);
        size == Some(entries.len() as u64) && entries.starts_with(self.stored_names())
    }

    fn entries_of<'l>(&self, list: &'l [u8]) -> &'l [u8] {
        let end = list.len().saturating_sub(CHECKSUM_SIZE);
        list.get(self.entries_start()..end).unwrap_or_default()
    }

    /// The whole block with other entries at `positions`, which rise, and more behind its last one: those of the list
    /// `changes`, of [the same form](Self::has_form_of), the ones for `positions` first.
    ///
    /// # Errors
    /// [`VdsBlockError::Checksum`] if the block is damaged, [`VdsBlockError::EntryCount`] if the positions are none of its
    /// or the form is another, [`VdsBlockError::Ondisk`] for a failed read and where there is no memory.
    pub(crate) fn edited(
        &self,
        file: &dyn ReadAt,
        positions: &[u64],
        changes: &[u8],
    ) -> Result<Vec<u8>, VdsBlockError> {
        let (block, size) = (self.block(), self.entry_size());
        let wrong = VdsBlockError::EntryCount { entries: positions.len() as u64, len: block.len };
        let entries = self.entries_of(changes);
        let (true, Some((replaced, appended))) =
            (self.has_form_of(changes), entries.split_at_checked(positions.len() * size))
        else {
            return Err(wrong);
        };

        let memory = || OndiskError::Unsupported {
            structure: Structure::HeapObject,
            address: block.offset,
            what: "a list beyond the memory there is",
        };
        let len = usize::try_from(block.len).map_err(|_| memory())?;
        let covered = len.checked_sub(CHECKSUM_SIZE).ok_or(VdsBlockError::TooShort { len: 0 })?;
        let new_covered = covered.saturating_add(appended.len());
        let mut list = zeroed::<u8>(new_covered + CHECKSUM_SIZE).ok_or_else(memory)?;
        file.read_exact_at(&mut list[..len], block.offset, Structure::HeapObject)?;
        let stored = list[covered..].first_chunk().copied().unwrap_or_default();

        let count = self.mapping_count() + (appended.len() / size) as u64;
        let count = count.to_le_bytes();
        let mut patches = vec![Patch {
            place: COUNT_AT..self.entries_start(),
            bytes: &count[..self.entries_start() - COUNT_AT],
        }];
        for (&position, bytes) in positions.iter().zip(replaced.chunks_exact(size)) {
            let position = usize::try_from(position).map_err(|_| memory())?;
            let start = self.entries_start().saturating_add(position.saturating_mul(size));
            let place = start..start.saturating_add(size);
            if place.end > covered || patches.last().is_some_and(|last| last.place.end > start) {
                return Err(wrong);
            }
            patches.push(Patch { place, bytes });
        }
        list[covered..new_covered].copy_from_slice(appended);
        let (computed, checksum) = apply(&mut list[..new_covered], covered, &patches);
        check_stored(u32::from_le_bytes(stored), computed)?;
        list[new_covered..].copy_from_slice(&checksum.to_le_bytes());
        Ok(list)
    }
}

/// Puts patches, in rising order, into the first `covered` of some bytes. Returns the checksum of those as they were, and
/// that of all bytes as they are then.
fn apply(bytes: &mut [u8], covered: usize, patches: &[Patch<'_>]) -> (u32, u32) {
    let (mut old, mut new) = (Lookup3::new(covered), Lookup3::new(bytes.len()));
    let down = |at: usize| at / ROUND * ROUND;
    // The rounds in which neither checksum ends.
    let whole = down(covered.saturating_sub(1));
    let tail = bytes[whole..covered].to_vec();
    let mut at = 0;
    let mut rest = patches;
    while let Some(first) = rest.first() {
        // Patches that have a round in common go together.
        let from = down(first.place.start).min(whole);
        let mut to = from;
        let together = rest.iter().take_while(|patch| {
            let is_near = down(patch.place.start) <= to;
            to = if is_near { patch.place.end.next_multiple_of(ROUND) } else { to };
            is_near
        });
        let (group, others) = rest.split_at(together.count());
        let to = to.clamp(from, whole);
        absorb_both(&mut old, &mut new, &bytes[at..from]);
        old.absorb(&bytes[from..to]);
        for Patch { place, bytes: patch } in group {
            bytes[place.clone()].copy_from_slice(patch);
        }
        new.absorb(&bytes[from..to]);
        (at, rest) = (to, others);
    }
    absorb_both(&mut old, &mut new, &bytes[at..whole]);
    let taken = whole + new.absorb(&bytes[whole..]);
    (old.finish(&tail), new.finish(&bytes[taken..]))
}
