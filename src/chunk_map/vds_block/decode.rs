//! Decoding of a whole list.

use super::chunk_list::check_stored;
use super::error::{EntryFault, UnsupportedMapping, VdsBlockError};
use super::names::Names;
use super::selection::{MIN_SIZE, PlainBlock};
use crate::dims::MAX_RANK;
use crate::ondisk::{FieldWidth, Lookup3, lookup3};

const CHECKSUM_SIZE: usize = 4;

/// Flags of an entry in a block of version 1.
const FILE_SHARED: u8 = 1;
const DATASET_SHARED: u8 = 2;
const SAME_FILE: u8 = 4;

/// One mapping: a block of elements of the source is a block of equal extent of the virtual dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// The entry's position in the list, from 0.
    pub index: u64,
    /// Name of the source file; `.` is the file of the virtual dataset. HDF5 does not say in which encoding.
    pub source_file: &'a [u8],
    /// Path of the source dataset.
    pub source_dataset: &'a [u8],
    /// Whether both names are those of the mapping before, so that they need no second look.
    pub same_source: bool,
    /// First element in the source, an index an axis.
    pub source_start: &'a [u64],
    /// First element in the virtual dataset, an index an axis.
    pub virtual_start: &'a [u64],
    /// Elements along each axis, at least 1.
    pub extent: &'a [u64],
}

/// What a block begins with.
#[derive(Clone, Copy)]
pub(super) struct BlockHeader {
    pub(super) version: u8,
    pub(super) entries: u64,
    /// Where the first entry begins, in bytes.
    pub(super) entries_start: usize,
}

impl BlockHeader {
    /// `bytes`: the start of the block; `len`: size of the whole block in bytes.
    pub(super) fn decode(
        bytes: &[u8],
        len: u64,
        length_size: FieldWidth,
    ) -> Result<Self, VdsBlockError> {
        let entries_start = 1 + length_size.bytes();
        let room = len.checked_sub((entries_start + CHECKSUM_SIZE) as u64);
        let (Some(room), Some((&version, rest))) = (room, bytes.split_first()) else {
            return Err(VdsBlockError::TooShort { len });
        };
        if version > 1 {
            return Err(VdsBlockError::Version { found: version });
        }
        let entries = length_size.decode(rest).ok_or(VdsBlockError::TooShort { len })?;
        if entries > room / (2 * MIN_SIZE as u64) {
            return Err(VdsBlockError::EntryCount { entries, len });
        }
        Ok(Self { version, entries, entries_start })
    }
}

/// The number of mappings in a block; what it has no room for is refused, so it is safe to allocate for.
///
/// # Errors
/// [`VdsBlockError::TooShort`], [`VdsBlockError::Version`], [`VdsBlockError::EntryCount`].
pub fn mapping_count(block: &[u8], length_size: FieldWidth) -> Result<u64, VdsBlockError> {
    BlockHeader::decode(block, block.len() as u64, length_size).map(|header| header.entries)
}

/// Calls `visit` with every mapping of a block, in stored order, and checks the block's checksum.
///
/// `rank` is the virtual dataset's and, in each mapping, the source's. Nothing is allocated a mapping as long
/// as the names stay the same. Mappings are visited before the checksum is known: after an error, whatever `visit` has
/// collected is to be thrown away. A wrong checksum is reported before any other fault, that of `visit` included.
///
/// # Errors
/// [`VdsBlockError`] of all kinds, those for which [`VdsBlockError::is_unsupported`] holds where libhdf5 can say more;
/// and what `visit` returns.
pub fn decode_mappings<E: From<VdsBlockError>>(
    block: &[u8],
    length_size: FieldWidth,
    rank: usize,
    visit: impl FnMut(Mapping<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let header = BlockHeader::decode(block, block.len() as u64, length_size)?;
    let Some((covered, stored)) = block.split_last_chunk::<CHECKSUM_SIZE>() else {
        return Err(VdsBlockError::TooShort { len: block.len() as u64 }.into());
    };
    let stored = u32::from_le_bytes(*stored);
    let check = |computed| check_stored(stored, computed);
    let decoder = EntryDecoder::new(covered, header, length_size, rank);
    match visit_all(decoder, visit) {
        Ok(computed) => Ok(check(computed)?),
        Err(error) => {
            check(lookup3(covered))?;
            Err(error)
        }
    }
}

/// Visits all entries; returns the checksum of the block.
fn visit_all<E: From<VdsBlockError>>(
    mut decoder: EntryDecoder<'_>,
    mut visit: impl FnMut(Mapping<'_>) -> Result<(), E>,
) -> Result<u32, E> {
    for entry in 0..decoder.header.entries {
        match decoder.next_entry(entry) {
            Ok(mapping) => visit(mapping)?,
            Err(fault) => return Err(VdsBlockError::Entry { entry, fault }.into()),
        }
    }
    if decoder.at != decoder.bytes.len() {
        let (offset, left) = (decoder.at, decoder.bytes.len() - decoder.at);
        return Err(VdsBlockError::TrailingBytes { offset, left }.into());
    }
    Ok(decoder.finish())
}

/// Decodes one entry after the other, and computes the checksum on the way.
///
/// The checksum is bound by latency, decoding is not: in small pieces, in turn, the processor does both at once.
pub(super) struct EntryDecoder<'b> {
    /// The block without its checksum.
    bytes: &'b [u8],
    header: BlockHeader,
    length_size: FieldWidth,
    rank: usize,
    /// Where the next entry begins; at most the length of `bytes`.
    at: usize,
    checksum: Lookup3,
    /// How far the checksum has come.
    hashed: usize,
    /// Both names of the last entry as stored, in a block of version 0.
    names: &'b [u8],
    files: Names<'b>,
    datasets: Names<'b>,
    source: PlainBlock,
    virtual_block: PlainBlock,
}

impl<'b> EntryDecoder<'b> {
    pub(super) fn new(
        bytes: &'b [u8],
        header: BlockHeader,
        length_size: FieldWidth,
        rank: usize,
    ) -> Self {
        Self {
            bytes,
            header,
            length_size,
            rank,
            at: header.entries_start.min(bytes.len()),
            checksum: Lookup3::new(bytes.len()),
            hashed: 0,
            names: &[],
            files: Names::new(),
            datasets: Names::new(),
            source: PlainBlock::new(),
            virtual_block: PlainBlock::new(),
        }
    }

    /// Where the next entry begins, in bytes from the start of the block.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The names of the last entry as an entry of version 0 begins with them.
    pub(super) fn stored_names(&self) -> &'b [u8] {
        self.names
    }

    /// Decodes the next entry, which is number `entry`.
    #[inline]
    pub(super) fn next_entry(&mut self, entry: u64) -> Result<Mapping<'_>, EntryFault> {
        match self.header.version {
            0 => self.take_names_v0(entry)?,
            _ => self.take_names_v1(entry)?,
        }
        let size = self.source.decode(&self.bytes[self.at..], self.rank)?;
        self.advance(size);
        let size = self.virtual_block.decode(&self.bytes[self.at..], self.rank)?;
        self.advance(size);

        // A block of another or too high a rank was refused above.
        let rank = self.rank.min(MAX_RANK);
        let extent = &self.virtual_block.extent[..rank];
        if self.source.extent.iter().zip(extent).any(|(source, extent)| source != extent) {
            return Err(UnsupportedMapping::Extents.into());
        }
        Ok(Mapping {
            index: entry,
            source_file: self.files.last(),
            source_dataset: self.datasets.last(),
            same_source: !(self.files.changed_at(entry) || self.datasets.changed_at(entry)),
            source_start: &self.source.start[..rank],
            virtual_start: &self.virtual_block.start[..rank],
            extent,
        })
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        self.at += count;
        self.hashed += self.checksum.absorb(&self.bytes[self.hashed..self.at]);
    }

    /// The checksum of the block, when all entries are decoded.
    fn finish(mut self) -> u32 {
        self.hashed += self.checksum.absorb(&self.bytes[self.hashed..]);
        self.checksum.finish(&self.bytes[self.hashed..])
    }

    #[inline]
    fn take_names_v0(&mut self, entry: u64) -> Result<(), EntryFault> {
        let rest = &self.bytes[self.at..];
        if self.names.is_empty() || !rest.starts_with(self.names) {
            let file = self.files.take_stored(rest, entry)?;
            let dataset = self.datasets.take_stored(&rest[file..], entry)?;
            self.names = &rest[..file + dataset];
        }
        self.advance(self.names.len());
        Ok(())
    }

    fn take_names_v1(&mut self, entry: u64) -> Result<(), EntryFault> {
        let flags = self.take_flags()?;
        if flags & SAME_FILE != 0 {
            self.files.take_same_file(entry)?;
        } else if flags & FILE_SHARED != 0 {
            let origin = self.take_reference()?;
            self.files.take_shared(origin, entry)?;
        } else {
            let size = self.files.take_stored(&self.bytes[self.at..], entry)?;
            self.advance(size);
        }
        if flags & DATASET_SHARED != 0 {
            let origin = self.take_reference()?;
            self.datasets.take_shared(origin, entry)?;
        } else {
            let size = self.datasets.take_stored(&self.bytes[self.at..], entry)?;
            self.advance(size);
        }
        Ok(())
    }

    fn take_flags(&mut self) -> Result<u8, EntryFault> {
        let &flags =
            self.bytes.get(self.at).ok_or(EntryFault::Truncated { needed: 1, available: 0 })?;
        if flags & !(FILE_SHARED | DATASET_SHARED | SAME_FILE) != 0 {
            return Err(EntryFault::Flags { found: flags });
        }
        self.advance(1);
        Ok(flags)
    }

    fn take_reference(&mut self) -> Result<u64, EntryFault> {
        let rest = &self.bytes[self.at..];
        let needed = self.length_size.bytes();
        let origin = self.length_size.decode(rest);
        let origin = origin.ok_or(EntryFault::Truncated { needed, available: rest.len() })?;
        self.advance(needed);
        Ok(origin)
    }
}
