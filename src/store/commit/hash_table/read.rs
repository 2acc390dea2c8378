//! Reading a table, once for all commits to an open file.

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5p, h5s, h5t};

use super::digests::{Digests, raw_of};
use super::{HashTable, LEFT_OUT, ROW, chunk};
use crate::codec::decode_first_by_lzf;
use crate::memory::{room, zeroed};
use crate::store::error::{DatasetFault, HashTableFault};
use crate::store::layout::{self, HASH_TABLE_CHUNK, HASH_TABLE_FILTER};
use crate::store::names::{LARGEST_INDEX, hash_table_path};

impl HashTable {
    /// Opens the table of the dataset at `path`, whose chunks have `edge` elements along axis 0 and of which
    /// there are at most `raw_chunks`. It is read unless the last commit has left its digests.
    pub(in crate::store::commit) fn open(
        file: &File,
        path: &str,
        edge: u64,
        raw_chunks: u64,
        known: Option<Digests>,
    ) -> Result<Self, DatasetFault> {
        let path = hash_table_path(path);
        if let Some(digests) = known {
            return Ok(Self { path, dataset: None, digests, edge, added: Vec::new() });
        }
        let fault = |fault| DatasetFault::HashTable { path: path.clone(), fault };
        let lock = h5strata_ffi::lock();
        let dataset = h5d::open(&lock, file, &path)?;
        let datatype = h5d::datatype(&lock, &dataset)?;
        let expected = h5t::create(&lock, &layout::hash_row())?;
        if !h5t::equal(&lock, &datatype, &expected)? {
            return Err(fault(HashTableFault::Type));
        }
        let rows = largest_index(&lock, &dataset, &path)?;
        let extent = h5s::extent(&lock, &h5d::space(&lock, &dataset)?)?;
        let rows = match (extent.dims(), u64::try_from(rows)) {
            (&[found], Ok(rows)) if rows <= found => rows,
            _ => return Err(fault(HashTableFault::LargestIndex { largest_index: rows })),
        };
        let (path, digests) = (path.clone(), Digests::default());
        let mut table = Self { path, dataset: None, digests, edge, added: Vec::new() };
        table.read(&lock, &dataset, rows, raw_chunks)?;
        table.dataset = Some(dataset);
        Ok(table)
    }

    fn read(
        &mut self,
        lock: &Lock,
        dataset: &h5d::Dataset,
        rows: u64,
        raw_chunks: u64,
    ) -> Result<(), DatasetFault> {
        self.digests.rows = rows;
        if rows == 0 {
            self.digests.last_chunk = is_usual(lock, dataset)?.then(Vec::new);
            return Ok(());
        }
        let memory = || DatasetFault::Memory { bytes: rows.saturating_mul(ROW as u64) };
        let count = usize::try_from(rows).map_err(|_| memory())?;
        let size = count.checked_mul(ROW).ok_or_else(memory)?;
        let is_usual = is_usual(lock, dataset)?;
        let in_chunks = if is_usual { read_chunks(lock, dataset, size)? } else { None };
        let bytes = match in_chunks {
            Some(bytes) => bytes,
            None => {
                let mut bytes = zeroed::<u8>(size).ok_or_else(memory)?;
                let datatype = h5d::datatype(lock, dataset)?;
                let rows =
                    h5s::Hyperslab { start: &[0], stride: None, count: &[rows], block: None };
                let reader = h5d::Reader::new(lock, dataset, datatype)?;
                reader.read(lock, Some(&rows), &mut bytes)?;
                bytes
            }
        };
        if is_usual {
            let full = count / chunk::ROWS * chunk::ROWS * ROW;
            self.digests.last_chunk = bytes.get(full..).map(<[u8]>::to_vec);
        }
        for (row, bytes) in (0..).zip(bytes.as_chunks().0) {
            match raw_of(row, bytes, self.edge).filter(|raw| raw.0 < raw_chunks) {
                Some(raw) => self.digests.list(raw),
                None => {
                    let fault = HashTableFault::Row { row };
                    return Err(DatasetFault::HashTable { path: self.path.clone(), fault });
                }
            }
        }
        self.digests.unsorted = bytes;
        Ok(())
    }
}

/// The first `size` bytes of the rows of a usual table, chunk by chunk, the last no further than they go: most of a
/// small table's chunk is empty. `None` if that is for libhdf5 to read, or to refuse.
fn read_chunks(
    lock: &Lock,
    table: &h5d::Dataset,
    size: usize,
) -> Result<Option<Vec<u8>>, DatasetFault> {
    // The extent that bounds them is whatever the file says; memory that no row comes for is never touched.
    let mut bytes = room(size).ok_or(DatasetFault::Memory { bytes: size as u64 })?;
    let mut stored = Vec::new();
    let mut start = 0;
    while bytes.len() < size {
        let wanted = (size - bytes.len()).min(chunk::BYTES);
        let length = h5d::chunk_storage_size(lock, table, &[start]).ok();
        let length = length.and_then(|length| usize::try_from(length).ok());
        let Some(length) = length.filter(|&length| length <= 2 * chunk::BYTES) else {
            return Ok(None);
        };
        stored.resize(length, 0);
        let read = h5d::read_chunk(lock, table, &[start], &mut stored)?;
        let rows = match (read.filter_mask, stored.get(..read.size)) {
            (0, Some(stored)) => decode_first_by_lzf(stored, wanted).ok(),
            (LEFT_OUT, Some(stored)) => stored.get(..wanted).map(<[u8]>::to_vec),
            _ => None,
        };
        let Some(rows) = rows else { return Ok(None) };
        bytes.extend_from_slice(&rows);
        start += chunk::ROWS as u64;
    }
    Ok(Some(bytes))
}

/// Whether a table is stored as such tables are: in chunks of 4096 rows, compressed by LZF alone.
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
