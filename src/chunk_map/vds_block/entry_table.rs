//! Finding one mapping without reading the others.

use super::decode::{BlockHeader, EntryDecoder, Mapping};
use super::error::VdsBlockError;
use crate::dims::Dims;
use crate::ondisk::{FieldWidth, ObjectRange, ReadAt, Structure};

/// Bytes read of a block at first: its header and, unless names are very long, its first entry.
const FIRST_READ: usize = 1024;

const CHECKSUM_SIZE: u64 = 4;

/// A block of version 0 whose entries all have one size, so that each can be read alone.
///
/// A block that names one source and selects with version 1 is such a block: what libhdf5 writes by default. Entries of
/// version 1 blocks refer to others for their names. The block's checksum covers all of it and is not checked here; what an entry says is for the caller to
/// check.
#[derive(Clone, Debug)]
pub struct EntryTable {
    block: ObjectRange,
    length_size: FieldWidth,
    rank: usize,
    entries: u64,
    entries_start: usize,
    entry_size: usize,
}

/// A mapping that was read alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundMapping {
    /// The entry's position in the list, from 0.
    pub index: u64,
    /// Name of the source file; `.` is the file of the virtual dataset.
    pub source_file: Vec<u8>,
    /// Path of the source dataset.
    pub source_dataset: Vec<u8>,
    /// First element in the source, an index an axis.
    pub source_start: Dims,
    /// First element in the virtual dataset, an index an axis.
    pub virtual_start: Dims,
    /// Elements along each axis, at least 1.
    pub extent: Dims,
}

impl From<Mapping<'_>> for FoundMapping {
    fn from(mapping: Mapping<'_>) -> Self {
        Self {
            index: mapping.index,
            source_file: mapping.source_file.to_vec(),
            source_dataset: mapping.source_dataset.to_vec(),
            source_start: Dims::from_slice(mapping.source_start),
            virtual_start: Dims::from_slice(mapping.virtual_start),
            extent: Dims::from_slice(mapping.extent),
        }
    }
}

impl EntryTable {
    /// Reads the start of a block; `None` if it is not of version 0, if its entries differ in size or if the first is no
    /// plain block of this rank.
    ///
    /// # Errors
    /// [`VdsBlockError::TooShort`], [`VdsBlockError::Version`], [`VdsBlockError::EntryCount`], and
    /// [`VdsBlockError::Ondisk`] for a failed read.
    pub fn open(
        file: &dyn ReadAt,
        block: ObjectRange,
        length_size: FieldWidth,
        rank: usize,
    ) -> Result<Option<Self>, VdsBlockError> {
        let mut bytes = [0; FIRST_READ];
        let wanted = usize::try_from(block.len).unwrap_or(FIRST_READ).min(FIRST_READ);
        let bytes = &mut bytes[..wanted];
        file.read_exact_at(bytes, block.offset, Structure::HeapObject)?;
        let header = BlockHeader::decode(bytes, block.len, length_size)?;

        let mut decoder = EntryDecoder::new(bytes, header, length_size, rank);
        if header.version != 0 || header.entries == 0 || decoder.next_entry(0).is_err() {
            return Ok(None);
        }
        let entry_size = decoder.offset() - header.entries_start;
        let expected = header
            .entries
            .checked_mul(entry_size as u64)
            .and_then(|size| size.checked_add(header.entries_start as u64 + CHECKSUM_SIZE));
        if expected != Some(block.len) {
            return Ok(None);
        }
        Ok(Some(Self {
            block,
            length_size,
            rank,
            entries: header.entries,
            entries_start: header.entries_start,
            entry_size,
        }))
    }

    /// The number of mappings, at least 1.
    pub fn mapping_count(&self) -> u64 {
        self.entries
    }

    /// The size of an entry in bytes.
    pub fn entry_size(&self) -> usize {
        self.entry_size
    }

    /// Finds the mapping that begins at `virtual_start`.
    ///
    /// `most` is an upper bound of its position if the list is in C order of virtual starts: the chunk's row-major
    /// index in the grid of chunks. It is tried first, which is right where every chunk before is stored; then the
    /// list is bisected. `None` means "decode the whole list": there is no such mapping, the list is in another
    /// order, or an entry on the way is not a plain block.
    ///
    /// # Errors
    /// [`VdsBlockError::Ondisk`] for a failed read.
    pub fn find(
        &self,
        file: &dyn ReadAt,
        virtual_start: &[u64],
        most: u64,
    ) -> Result<Option<FoundMapping>, VdsBlockError> {
        let mut entry = vec![0; self.entry_size];
        let mut low = 0;
        let mut high = self.entries.min(most.saturating_add(1));
        let mut probe = high.saturating_sub(1);
        while low < high {
            let Some(found) = self.read_entry(file, probe, &mut entry)? else { return Ok(None) };
            match found.virtual_start.as_slice().cmp(virtual_start) {
                std::cmp::Ordering::Equal => return Ok(Some(found)),
                std::cmp::Ordering::Less => low = probe + 1,
                std::cmp::Ordering::Greater => high = probe,
            }
            probe = low + high.saturating_sub(low) / 2;
        }
        Ok(None)
    }

    /// The mapping at a position below [`mapping_count`](Self::mapping_count); `None` if it is no plain block.
    ///
    /// # Errors
    /// [`VdsBlockError::Ondisk`] for a failed read.
    pub fn entry(
        &self,
        file: &dyn ReadAt,
        index: u64,
    ) -> Result<Option<FoundMapping>, VdsBlockError> {
        self.read_entry(file, index, &mut vec![0; self.entry_size])
    }

    /// Reads one entry; `None` if it has another size or is no plain block.
    fn read_entry(
        &self,
        file: &dyn ReadAt,
        index: u64,
        entry: &mut [u8],
    ) -> Result<Option<FoundMapping>, VdsBlockError> {
        let in_block = self.entries_start as u64 + index * self.entry_size as u64;
        let offset = self.block.offset.saturating_add(in_block);
        file.read_exact_at(entry, offset, Structure::HeapObject)?;
        let header = BlockHeader { version: 0, entries: 1, entries_start: 0 };
        let mut decoder = EntryDecoder::new(entry, header, self.length_size, self.rank);
        let found = match decoder.next_entry(0) {
            Ok(mapping) => FoundMapping { index, ..mapping.into() },
            Err(_) => return Ok(None),
        };
        Ok((decoder.offset() == self.entry_size).then_some(found))
    }
}
