//! Finding single mappings without reading all others.

use std::cmp::Ordering;

use super::decode::{BlockHeader, EntryDecoder, Mapping};
use super::error::VdsBlockError;
use super::selection::PlainBlock;
use crate::ondisk::{FieldWidth, ObjectRange, ReadAt, Structure};

/// Bytes read of a block at first: its header and, unless names are very long, its first entry.
const FIRST_READ: usize = 1024;

/// Bytes of entries that are read at once where one was looked up after the other.
const READ_AHEAD: usize = 4 << 10;

const CHECKSUM_SIZE: u64 = 4;

/// A block of version 0 whose entries all have one size, so that each can be read alone.
///
/// A block that names one source and selects with version 1 is such a block: what libhdf5 writes by default. Entries of
/// version 1 blocks refer to others for their names, and an entry with another source than the first one is not found here.
/// The block's checksum covers all of it and is not checked here; what an entry says is for the caller to check.
#[derive(Clone, Debug)]
pub struct EntryTable {
    block: ObjectRange,
    rank: usize,
    entries: u64,
    entries_start: usize,
    entry_size: usize,
    /// Names of the source file and dataset, and both as an entry begins with them.
    source_file: Vec<u8>,
    source_dataset: Vec<u8>,
    stored_names: Vec<u8>,
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
        if header.version != 0 || header.entries == 0 {
            return Ok(None);
        }
        let Ok(first) = decoder.next_entry(0) else { return Ok(None) };
        let (source_file, source_dataset) =
            (first.source_file.to_vec(), first.source_dataset.to_vec());
        let stored_names = decoder.stored_names().to_vec();
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
            rank,
            entries: header.entries,
            entries_start: header.entries_start,
            entry_size,
            source_file,
            source_dataset,
            stored_names,
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

    /// Where the block stands.
    pub(super) fn block(&self) -> ObjectRange {
        self.block
    }

    /// Where the first entry begins, in bytes from the start of the block.
    pub(super) fn entries_start(&self) -> usize {
        self.entries_start
    }

    /// The names that every entry begins with, as they are stored.
    pub(super) fn stored_names(&self) -> &[u8] {
        &self.stored_names
    }

    /// Path of the source dataset.
    pub fn source_dataset(&self) -> &[u8] {
        &self.source_dataset
    }

    /// Begins to look mappings up in `file`.
    pub fn lookup<'t>(&'t self, file: &'t dyn ReadAt) -> Lookup<'t> {
        let (source, virtual_block) = (PlainBlock::new(), PlainBlock::new());
        Lookup { table: self, file, held: Vec::new(), first: 0, source, virtual_block }
    }
}

/// Looking mappings up one after the other: neighbours are read together.
pub struct Lookup<'t> {
    table: &'t EntryTable,
    file: &'t dyn ReadAt,
    /// Entries that were read together.
    held: Vec<u8>,
    /// Position of the first of them in the list.
    first: u64,
    /// The selections of the entry that was decoded last.
    source: PlainBlock,
    virtual_block: PlainBlock,
}

impl Lookup<'_> {
    /// Finds the mapping that begins at `virtual_start`.
    ///
    /// `most` is an upper bound of its position if the list is in C order of virtual starts: the chunk's row-major
    /// index in the grid of chunks. It is tried first, which is right where every chunk before is stored; then the
    /// list is bisected. `None` means "decode the whole list": there is no such mapping, the list is in another
    /// order, or an entry on the way is not a plain block of the source that the first one names.
    ///
    /// # Errors
    /// [`VdsBlockError::Ondisk`] for a failed read.
    pub fn find(
        &mut self,
        virtual_start: &[u64],
        most: u64,
    ) -> Result<Option<Mapping<'_>>, VdsBlockError> {
        let rank = self.table.rank;
        let mut low = 0;
        let mut high = self.table.entries.min(most.saturating_add(1));
        let mut probe = high.saturating_sub(1);
        while low < high {
            if !self.decode(probe)? {
                return Ok(None);
            }
            match self.virtual_block.start[..rank].cmp(virtual_start) {
                Ordering::Equal => return Ok(Some(self.mapping(probe))),
                Ordering::Less => low = probe + 1,
                Ordering::Greater => high = probe,
            }
            probe = low + high.saturating_sub(low) / 2;
        }
        Ok(None)
    }

    /// The mapping that was decoded last, which is number `index`.
    fn mapping(&self, index: u64) -> Mapping<'_> {
        Mapping {
            index,
            source_file: &self.table.source_file,
            source_dataset: &self.table.source_dataset,
            same_source: index > 0,
            source_start: &self.source.start[..self.table.rank],
            virtual_start: &self.virtual_block.start[..self.table.rank],
            extent: &self.virtual_block.extent[..self.table.rank],
        }
    }

    /// Decodes the selections of an entry; `false` if it has another source or size, or is no plain block.
    fn decode(&mut self, index: u64) -> Result<bool, VdsBlockError> {
        let at = self.hold(index)?;
        let Some(entry) =
            self.held[at..at + self.table.entry_size].strip_prefix(&*self.table.stored_names)
        else {
            return Ok(false);
        };
        let rank = self.table.rank;
        let Ok(size) = self.source.decode(entry, rank) else { return Ok(false) };
        let rest = entry.get(size..).unwrap_or_default();
        let Ok(virtual_size) = self.virtual_block.decode(rest, rank) else { return Ok(false) };
        let same_extent = self.source.extent[..rank] == self.virtual_block.extent[..rank];
        Ok(virtual_size == rest.len() && same_extent)
    }

    /// Where in `held` an entry is, which is read if it is not there: with those behind it if the one before it is.
    fn hold(&mut self, index: u64) -> Result<usize, VdsBlockError> {
        let size = self.table.entry_size;
        let held = (self.held.len() / size) as u64;
        let position = match index.checked_sub(self.first) {
            Some(position) if position < held => position,
            follows => {
                let is_next = held > 0 && follows == Some(held);
                let wanted = if is_next { (READ_AHEAD / size).max(1) as u64 } else { 1 };
                let count = wanted.min(self.table.entries - index);
                let in_block = self.table.entries_start as u64 + index * size as u64;
                let offset = self.table.block.offset.saturating_add(in_block);
                // What is held after a failed read is nothing.
                self.held.clear();
                let mut bytes = std::mem::take(&mut self.held);
                bytes.resize(usize::try_from(count).unwrap_or(1) * size, 0);
                self.file.read_exact_at(&mut bytes, offset, Structure::HeapObject)?;
                (self.held, self.first) = (bytes, index);
                0
            }
        };
        Ok(usize::try_from(position).unwrap_or(0) * size)
    }
}
