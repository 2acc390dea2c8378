//! Encoding of a list: block version 0 with selections that HDF5 1.8 and newer read.

use super::error::{EntryFault, UnsupportedMapping, VdsBlockError};
use super::selection::{HYPERSLAB, REGULAR, V1_HEADER};
use crate::dims::MAX_RANK;
use crate::memory::room;
use crate::ondisk::{FieldWidth, Lookup3, lookup3};

/// Bytes of a selection of version 1, which is one block.
pub(super) fn selection_bytes(rank: usize) -> usize {
    V1_HEADER + 8 * rank
}

/// Encodes mappings, one after the other, as a block of version 0.
///
/// Selections are of version 1, and of version 2 where the last element is beyond 32 bits, as libhdf5 chooses them with
/// its default bounds (`H5S__hyper_get_version_enc_size`).
#[derive(Debug)]
pub(super) struct ListEncoder {
    block: Vec<u8>,
    /// Both names of the next mappings as stored.
    names: Vec<u8>,
    /// A selection of version 1 with zeros for its corners.
    corners: Vec<u8>,
    rank: usize,
    length_size: FieldWidth,
    entries: u64,
    /// Of a block of the length that is expected. It is bound by latency, encoding is not: in turn, the processor does
    /// both at once.
    checksum: Lookup3,
    expected_len: usize,
    /// How far the checksum has come.
    hashed: usize,
}

impl ListEncoder {
    /// `mappings`: how many are expected; `source_file` and `source_dataset`: names of all of them, until
    /// [`set_names`](Self::set_names).
    pub(super) fn new(
        length_size: FieldWidth,
        rank: usize,
        mappings: usize,
        source_file: &[u8],
        source_dataset: &[u8],
    ) -> Result<Self, EntryFault> {
        let rank_word = match u32::try_from(rank) {
            Ok(word @ 1..) if rank <= MAX_RANK => word,
            _ => return Err(UnsupportedMapping::Rank.into()),
        };
        let mut corners = Vec::with_capacity(selection_bytes(rank));
        for word in [HYPERSLAB, 1, 0, 8 + 8 * rank_word, rank_word, 1] {
            corners.extend(word.to_le_bytes());
        }
        corners.resize(selection_bytes(rank), 0);

        let mut names = Vec::new();
        encode_names(&mut names, source_file, source_dataset)?;
        let header = 1 + length_size.bytes();
        let expected_len =
            header.saturating_add(mappings.saturating_mul(names.len() + 2 * corners.len()));
        // A wrong expectation costs time alone: without room the block grows as mappings come.
        let mut block = room(expected_len.saturating_add(size_of::<u32>())).unwrap_or_default();
        let count = (mappings as u64).to_le_bytes();
        block.push(0);
        block.extend_from_slice(&count[..length_size.bytes()]);
        let checksum = Lookup3::new(expected_len);
        let (entries, hashed) = (0, 0);
        Ok(Self {
            block,
            names,
            corners,
            rank,
            length_size,
            entries,
            checksum,
            expected_len,
            hashed,
        })
    }

    /// The names of the sources of the next mappings.
    #[cfg(test)]
    pub(super) fn set_names(&mut self, file: &[u8], dataset: &[u8]) -> Result<(), EntryFault> {
        self.names.clear();
        encode_names(&mut self.names, file, dataset)
    }

    /// Number of mappings so far.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Adds a mapping: a block of elements of the source is a block of equal extent of the virtual dataset.
    ///
    /// # Errors
    /// [`EntryFault`] for axes that differ in number from the list's rank, for an extent of 0 and for an end beyond 64
    /// bits; the list is then to be thrown away.
    #[inline]
    pub(super) fn push(
        &mut self,
        source_start: &[u64],
        virtual_start: &[u64],
        extent: &[u64],
    ) -> Result<(), EntryFault> {
        let rank = self.rank;
        if source_start.len() != rank || virtual_start.len() != rank || extent.len() != rank {
            return Err(UnsupportedMapping::Rank.into());
        }
        // One entry behind, so that what is hashed has long been stored.
        self.hashed += self.checksum.absorb(&self.block[self.hashed..]);
        self.block.extend_from_slice(&self.names);
        self.push_selection(source_start, extent)?;
        self.push_selection(virtual_start, extent)?;
        self.entries += 1;
        Ok(())
    }

    #[inline]
    fn push_selection(&mut self, start: &[u64], extent: &[u64]) -> Result<(), EntryFault> {
        let at = self.block.len();
        self.block.extend_from_slice(&self.corners);
        let (words, _) = self.block[at + V1_HEADER..].as_chunks_mut::<4>();
        let (firsts, lasts) = words.split_at_mut(self.rank);
        let mut ends = 0;
        for (((first, last), &start), &extent) in
            firsts.iter_mut().zip(lasts).zip(start).zip(extent)
        {
            if extent == 0 {
                return Err(UnsupportedMapping::NoneSelected.into());
            }
            let Some(end) = start.checked_add(extent) else {
                return Err(EntryFault::Selection { field: "start", value: start });
            };
            (*first, *last) = (low_half(start), low_half(end - 1));
            ends |= end - 1;
        }
        if ends > u32::MAX.into() {
            self.block.truncate(at);
            self.push_regular(start, extent);
        }
        Ok(())
    }

    /// Version 2: start, stride, count and block, 64 bits each.
    #[cold]
    fn push_regular(&mut self, start: &[u64], extent: &[u64]) {
        // Checked in `new`.
        let rank = u32::try_from(self.rank).unwrap_or(0);
        for word in [HYPERSLAB, 2] {
            self.block.extend(word.to_le_bytes());
        }
        self.block.push(REGULAR);
        for word in [4 + 32 * rank, rank] {
            self.block.extend(word.to_le_bytes());
        }
        for (&start, &extent) in start.iter().zip(extent) {
            for field in [start, 1, 1, extent] {
                self.block.extend(field.to_le_bytes());
            }
        }
    }

    /// The finished block.
    ///
    /// # Errors
    /// [`VdsBlockError::EntryCount`] if the number of mappings does not fit a length of this file.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, VdsBlockError> {
        let (entries, len) = (self.entries, self.block.len() as u64);
        if entries > self.length_size.all_ones() {
            return Err(VdsBlockError::EntryCount { entries, len });
        }
        let width = self.length_size.bytes();
        let count = &entries.to_le_bytes()[..width];
        let as_expected = self.block.len() == self.expected_len && &self.block[1..=width] == count;
        self.block[1..=width].copy_from_slice(count);
        let checksum = if as_expected {
            self.hashed += self.checksum.absorb(&self.block[self.hashed..]);
            self.checksum.finish(&self.block[self.hashed..])
        } else {
            lookup3(&self.block)
        };
        self.block.extend(checksum.to_le_bytes());
        Ok(self.block)
    }
}

fn encode_names(names: &mut Vec<u8>, file: &[u8], dataset: &[u8]) -> Result<(), EntryFault> {
    for name in [file, dataset] {
        for &byte in name {
            match byte {
                0 => return Err(EntryFault::NameFormat),
                // It begins a format specifier; doubled it stands for itself.
                b'%' => names.extend(b"%%"),
                _ => names.push(byte),
            }
        }
        names.push(0);
    }
    Ok(())
}

#[inline]
fn low_half(value: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = value.to_le_bytes();
    [a, b, c, d]
}
