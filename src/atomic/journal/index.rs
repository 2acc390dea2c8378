//! Index of a journal: its pages.

use std::fs::File;
use std::io;

use sha2::{Digest as _, Sha256};

use super::super::batch::{Batch, Target};
use super::super::merge::read_up_to;
use super::super::page::PageGrid;
use super::header::{Fields, Header};
use super::{Checksum, Digest, slot_count};

/// Bytes of an entry.
pub(super) const ENTRY_SIZE: usize = 40;

/// A page of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Entry {
    /// The page of the file, counted from 0.
    pub(in super::super) page: u64,
    /// The slot that its bytes are in, counted from 0.
    pub(in super::super) slot: u64,
    /// Bytes of the page.
    pub(in super::super) length: usize,
    /// Checksum of the page.
    pub(in super::super) checksum: Checksum,
}

impl Entry {
    fn encode(&self) -> [u8; ENTRY_SIZE] {
        let mut bytes = [0; ENTRY_SIZE];
        bytes[..8].copy_from_slice(&self.page.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.slot.to_le_bytes());
        bytes[16..24].copy_from_slice(&(self.length as u64).to_le_bytes());
        bytes[24..].copy_from_slice(&self.checksum);
        bytes
    }

    /// `None` for a page that is not of the file, or a slot that is not of the journal.
    fn decode(bytes: &[u8], header: &Header) -> Option<Self> {
        let mut fields = Fields { rest: bytes };
        let (page, slot, length) = (fields.number(), fields.number(), fields.number());
        let expected = PageGrid::new(header.old_end).length(page);
        let is_sound =
            expected > 0 && length == expected as u64 && slot < slot_count(header.index_start);
        is_sound.then(|| Self { page, slot, length: expected, checksum: fields.take() })
    }
}

/// Writes entries from byte `start` of a journal on; returns their digest.
pub(in super::super) fn write_index<T: Target>(
    journal: &T,
    start: u64,
    entries: impl Iterator<Item = Entry>,
) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut batch = Batch::new(journal);
    let mut address = start;
    for entry in entries {
        let bytes = entry.encode();
        hash.update(bytes);
        batch.push(address, &bytes)?;
        address = address.saturating_add(ENTRY_SIZE as u64);
    }
    batch.flush()?;
    Ok(hash.finalize().into())
}

/// Reads the index that a header tells of; `None` where it is damaged. `size` is that of the journal in bytes.
pub(super) fn read_index(
    journal: &File,
    size: u64,
    header: &Header,
) -> io::Result<Option<Vec<Entry>>> {
    // Bounded by the journal's size before anything is allocated. An index of no page is nowhere.
    let length = header.page_count.checked_mul(ENTRY_SIZE as u64);
    let end = length.and_then(|length| length.checked_add(header.index_start));
    let Some(length) = length.filter(|&length| length == 0 || end.is_some_and(|end| end <= size))
    else {
        return Ok(None);
    };
    let Ok(length) = usize::try_from(length) else { return Ok(None) };
    let mut bytes = vec![0; length];
    let count = read_up_to(journal, header.index_start, &mut bytes)?;
    if count < length || Sha256::digest(&bytes).as_slice() != header.index_digest {
        return Ok(None);
    }
    let entries: Option<Vec<Entry>> =
        bytes.chunks_exact(ENTRY_SIZE).map(|entry| Entry::decode(entry, header)).collect();
    Ok(entries.filter(|entries| entries.is_sorted_by(|a, b| a.page < b.page)))
}
