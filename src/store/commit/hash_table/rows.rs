//! The rows of a hash table as they are stored (format-v4.md, "hash_table").

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5p, h5s, h5t};

use super::super::super::digest::Digest;
use super::super::super::error::{DatasetFault, HashTableFault};
use super::super::super::layout::{self, HASH_TABLE_CHUNK, HASH_TABLE_FILTER};
use super::super::super::names::LARGEST_INDEX;
use super::{LEFT_OUT, ROW, chunk};
use crate::codec::decode_first_by_lzf;
use crate::dims::RawChunk;
use crate::memory::{room, zeroed};

/// A row: a digest, and where its chunk begins and ends along axis 0 of `raw_data`, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Row {
    pub(in crate::store) digest: Digest,
    pub(in crate::store) start: i64,
    pub(in crate::store) stop: i64,
}

/// What digests that are none begin with. The rest is the number of the raw chunk and one more: versioned-hdf5's delete
/// takes no two rows of one digest, and all zeros for no row.
const NO_DIGEST: [u8; 24] = [0; 24];

impl Row {
    /// A row that only says that there is a chunk, of chunks of `edge` elements along axis 0; `extent` of them are inside
    /// the bounds.
    pub(in crate::store) fn without_digest(raw: RawChunk, edge: u64, extent: u64) -> Self {
        let mut digest = Digest::default();
        let (_, number) = digest.split_at_mut(NO_DIGEST.len());
        number.copy_from_slice(&raw.0.saturating_add(1).to_le_bytes());
        Self::new(digest, raw, edge, extent)
    }

    /// A row of a raw chunk, of chunks of `edge` elements along axis 0; `extent` of them are inside the bounds.
    pub(in crate::store) fn new(digest: Digest, raw: RawChunk, edge: u64, extent: u64) -> Self {
        let start = raw.0.saturating_mul(edge);
        let number = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        Self { digest, start: number(start), stop: number(start.saturating_add(extent)) }
    }

    /// Its digest; `None` where it tells of none.
    pub(in crate::store) fn digest(&self) -> Option<Digest> {
        (!self.digest.starts_with(&NO_DIGEST)).then_some(self.digest)
    }

    /// As it is stored.
    pub(super) fn to_bytes(self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        let (digest, range) = bytes.split_at_mut(self.digest.len());
        digest.copy_from_slice(&self.digest);
        let (start, stop) = range.split_at_mut(size_of::<i64>());
        start.copy_from_slice(&self.start.to_le_bytes());
        stop.copy_from_slice(&self.stop.to_le_bytes());
        bytes
    }

    /// The rows in bytes as they are stored.
    pub(in crate::store) fn all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.chunks_exact(ROW).map(|bytes| {
            let (digest, range) = bytes.split_at(32);
            let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap_or_default());
            let digest = digest.try_into().unwrap_or_default();
            Self { digest, start: number(&range[..8]), stop: number(&range[8..]) }
        })
    }

    /// The raw chunk that begins where the row says, of chunks of `edge` elements along axis 0; `None` if none does.
    pub(in crate::store) fn raw_chunk(&self, edge: u64) -> Option<RawChunk> {
        raw_chunk_at(self.start, edge, 0)
    }
}

/// The raw chunk that begins at `start`, of chunks of `edge` elements along axis 0; `None` if none does. `likely`: one
/// that is looked at without a division.
pub(super) fn raw_chunk_at(start: i64, edge: u64, likely: u64) -> Option<RawChunk> {
    let start = u64::try_from(start).ok()?;
    if edge > 0 && likely.checked_mul(edge) == Some(start) {
        return Some(RawChunk(likely));
    }
    let raw = start.checked_div(edge)?;
    (raw * edge == start).then_some(RawChunk(raw))
}

/// A hash table that is looked at.
#[derive(Debug)]
pub(in crate::store) struct StoredRows {
    path: String,
    pub(super) dataset: h5d::Dataset,
    count: u64,
    is_usual: bool,
}

impl StoredRows {
    /// Opens the table at `path`, if it is one and has as many rows as it says.
    pub(in crate::store) fn open(
        lock: &Lock,
        file: &File,
        path: &str,
    ) -> Result<Self, DatasetFault> {
        let fault = |fault| DatasetFault::HashTable { path: path.to_owned(), fault };
        let dataset = h5d::open(lock, file, path)?;
        let datatype = h5d::datatype(lock, &dataset)?;
        let expected = h5t::create(lock, &layout::hash_row())?;
        if !h5t::equal(lock, &datatype, &expected)? {
            return Err(fault(HashTableFault::Type));
        }
        let largest_index = largest_index(lock, &dataset, path)?;
        let extent = h5s::extent(lock, &h5d::space(lock, &dataset)?)?;
        let count = match (extent.dims(), u64::try_from(largest_index)) {
            (&[found], Ok(rows)) if rows <= found => rows,
            _ => return Err(fault(HashTableFault::LargestIndex { largest_index })),
        };
        let is_usual = is_usual(lock, &dataset)?;
        Ok(Self { path: path.to_owned(), dataset, count, is_usual })
    }

    /// Number of rows.
    pub(in crate::store) fn count(&self) -> u64 {
        self.count
    }

    /// Whether it is stored as such tables are: in chunks of 4096 rows, compressed by LZF alone.
    pub(super) fn is_usual(&self) -> bool {
        self.is_usual
    }

    /// A fault of this table.
    pub(super) fn fault(&self, fault: HashTableFault) -> DatasetFault {
        DatasetFault::HashTable { path: self.path.clone(), fault }
    }

    /// All rows, as they are stored.
    pub(super) fn read_all(&self, lock: &Lock) -> Result<Vec<u8>, DatasetFault> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        let memory = || DatasetFault::Memory { bytes: self.count.saturating_mul(ROW as u64) };
        let count = usize::try_from(self.count).map_err(|_| memory())?;
        let size = count.checked_mul(ROW).ok_or_else(memory)?;
        match self.read_chunks(lock, size)? {
            Some(bytes) => Ok(bytes),
            None => self.read_by_library(lock, 0, size),
        }
    }

    /// How many parts a table is read in.
    pub(in crate::store) fn parts(&self) -> u64 {
        self.count.div_ceil(chunk::ROWS as u64)
    }

    /// The rows of a part, from 0, as they are stored, and the number of the first: 4096 rows in all parts but the last.
    pub(in crate::store) fn read_part(
        &self,
        lock: &Lock,
        part: u64,
    ) -> Result<(u64, Vec<u8>), DatasetFault> {
        let first = part.saturating_mul(chunk::ROWS as u64);
        let rows = usize::try_from(self.count.saturating_sub(first)).unwrap_or(chunk::ROWS);
        let size = rows.min(chunk::ROWS) * ROW;
        let stored =
            if self.is_usual { self.read_chunk(lock, first, size, &mut Vec::new())? } else { None };
        match stored {
            Some(bytes) => Ok((first, bytes)),
            None => Ok((first, self.read_by_library(lock, first, size)?)),
        }
    }

    /// The first `size` bytes of the rows of a usual table, chunk by chunk, the last no further than they go: most of a
    /// small table's chunk is empty. `None` if that is for libhdf5 to read, or to refuse.
    fn read_chunks(&self, lock: &Lock, size: usize) -> Result<Option<Vec<u8>>, DatasetFault> {
        if !self.is_usual {
            return Ok(None);
        }
        // The extent that bounds them is whatever the file says; memory that no row comes for is never touched.
        let mut bytes = room(size).ok_or(DatasetFault::Memory { bytes: size as u64 })?;
        let mut stored = Vec::new();
        let mut start = 0;
        while bytes.len() < size {
            let wanted = (size - bytes.len()).min(chunk::BYTES);
            let Some(rows) = self.read_chunk(lock, start, wanted, &mut stored)? else {
                return Ok(None);
            };
            bytes.extend_from_slice(&rows);
            start += chunk::ROWS as u64;
        }
        Ok(Some(bytes))
    }

    /// The first `wanted` bytes of the chunk of a usual table that begins with the row `start`.
    fn read_chunk(
        &self,
        lock: &Lock,
        start: u64,
        wanted: usize,
        stored: &mut Vec<u8>,
    ) -> Result<Option<Vec<u8>>, DatasetFault> {
        let length = h5d::chunk_storage_size(lock, &self.dataset, &[start]).ok();
        let length = length.and_then(|length| usize::try_from(length).ok());
        let Some(length) = length.filter(|&length| length <= 2 * chunk::BYTES) else {
            return Ok(None);
        };
        stored.resize(length, 0);
        let read = h5d::read_chunk(lock, &self.dataset, &[start], stored)?;
        Ok(match (read.filter_mask, stored.get(..read.size)) {
            (0, Some(stored)) => decode_first_by_lzf(stored, wanted).ok(),
            (LEFT_OUT, Some(stored)) => stored.get(..wanted).map(<[u8]>::to_vec),
            _ => None,
        })
    }

    /// `size` bytes of rows from the row `start` on, through `H5Dread`.
    fn read_by_library(
        &self,
        lock: &Lock,
        start: u64,
        size: usize,
    ) -> Result<Vec<u8>, DatasetFault> {
        let memory = DatasetFault::Memory { bytes: size as u64 };
        let mut bytes = zeroed::<u8>(size).ok_or(memory)?;
        let datatype = h5d::datatype(lock, &self.dataset)?;
        let count = &[(size / ROW) as u64];
        let rows = h5s::Hyperslab { start: &[start], stride: None, count, block: None };
        let reader = h5d::Reader::new(lock, &self.dataset, datatype)?;
        reader.read(lock, Some(&rows), &mut bytes)?;
        Ok(bytes)
    }
}

fn is_usual(lock: &Lock, table: &h5d::Dataset) -> Result<bool, h5strata_ffi::Error> {
    let creation = h5d::creation(lock, table)?;
    let (filter, _) = HASH_TABLE_FILTER;
    Ok(h5p::chunk_shape(lock, &creation)?[..] == [HASH_TABLE_CHUNK]
        && h5p::filter_count(lock, &creation)? == 1
        && h5p::filter(lock, &creation, 0)?.id == i32::from(filter))
}

fn largest_index(lock: &Lock, table: &h5d::Dataset, path: &str) -> Result<i64, DatasetFault> {
    let attribute = h5a::open(lock, table.id(), ".", LARGEST_INDEX)?;
    let described = h5t::describe(lock, &h5a::datatype(lock, &attribute)?)?;
    let bytes: Option<[u8; 8]> = match described.class {
        h5t::TypeClass::Integer { order: h5t::ByteOrder::Little, .. } => {
            h5a::read(lock, &attribute)?.try_into().ok()
        }
        _ => None,
    };
    bytes.map(i64::from_le_bytes).ok_or_else(|| DatasetFault::HashTable {
        path: path.to_owned(),
        fault: HashTableFault::LargestIndexType,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written_and_rows_without_digest_are_all_different() {
        let rows = [
            Row::new([7; 32], RawChunk(3), 10, 4),
            Row::without_digest(RawChunk(0), 10, 10),
            Row::without_digest(RawChunk(1), 10, 1),
        ];
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_bytes()).collect();
        assert!(Row::all(&bytes).eq(rows));
        assert_eq!((rows[0].start, rows[0].stop), (30, 34));
        assert_eq!(rows.map(|row| row.digest()), [Some([7; 32]), None, None]);
        assert_ne!(rows[1].digest, rows[2].digest);
        assert_eq!(Row { digest: [0; 32], start: 0, stop: 1 }.digest(), None);
    }
}
