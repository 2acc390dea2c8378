//! The digests of a dataset's stored chunks, by which chunks are used again (format-v4.md, "hash_table").

use std::collections::{HashMap, HashSet};

use h5strata_ffi::{Lock, h5a, h5d, h5s, h5t};

use super::super::digest::Digest;
use super::super::error::{DatasetFault, HashTableFault};
use super::super::file::FileInner;
use super::super::layout;
use super::super::names::{LARGEST_INDEX, hash_table_path};
use crate::dims::RawChunk;

/// Bytes of a row: 32 of the digest, then where the chunk begins and ends along axis 0 of `raw_data`.
const ROW: usize = 48;

/// Rows that may be missing: more is no table that anybody has rebuilt.
const MOST_MISSING: u64 = 1 << 24;

/// The digests of all stored chunks of one dataset, in memory.
#[derive(Debug)]
pub(super) struct HashTable {
    path: String,
    dataset: h5d::Dataset,
    datatype: h5strata_ffi::id::Datatype,
    chunks: HashMap<Digest, RawChunk>,
    /// Which raw chunks have a row, and one past the last of them.
    listed: HashSet<RawChunk>,
    end: u64,
    /// Number of valid rows.
    rows: u64,
    /// Elements of a chunk along axis 0.
    edge: u64,
    /// Rows to be written.
    added: Vec<u8>,
}

impl HashTable {
    /// Reads the table of the dataset at `path`, whose chunks have `edge` elements along axis 0 and of which
    /// there are at most `raw_chunks`.
    pub(super) fn open(
        file: &FileInner,
        path: &str,
        edge: u64,
        raw_chunks: u64,
    ) -> Result<Self, DatasetFault> {
        let path = hash_table_path(path);
        let fault = |fault| DatasetFault::HashTable { path: path.clone(), fault };
        let lock = h5strata_ffi::lock();
        let dataset = h5d::open(&lock, &file.file, &path)?;
        let datatype = h5d::datatype(&lock, &dataset)?;
        let expected = h5t::create(&lock, &layout::hash_row())?;
        if !h5t::equal(&lock, &datatype, &expected)? {
            return Err(fault(HashTableFault::Type));
        }
        let rows = largest_index(&lock, file, &path)?;
        let extent = h5s::extent(&lock, &h5d::space(&lock, &dataset)?)?;
        let rows = match (extent.dims(), u64::try_from(rows)) {
            (&[found], Ok(rows)) if rows <= found => rows,
            _ => return Err(fault(HashTableFault::LargestIndex { largest_index: rows })),
        };
        let mut table = Self {
            path: path.clone(),
            dataset,
            datatype,
            chunks: HashMap::new(),
            listed: HashSet::new(),
            end: 0,
            rows,
            edge,
            added: Vec::new(),
        };
        table.read(&lock, raw_chunks)?;
        Ok(table)
    }

    fn read(&mut self, lock: &Lock, raw_chunks: u64) -> Result<(), DatasetFault> {
        if self.rows == 0 {
            return Ok(());
        }
        let memory = || DatasetFault::Memory { bytes: self.rows.saturating_mul(ROW as u64) };
        let count = usize::try_from(self.rows).map_err(|_| memory())?;
        let size = count.checked_mul(ROW).ok_or_else(memory)?;
        let mut bytes = bytemuck::allocation::try_zeroed_vec::<u8>(size).map_err(|()| memory())?;
        let datatype = h5d::datatype(lock, &self.dataset)?;
        let rows = h5s::Hyperslab { start: &[0], stride: None, count: &[self.rows], block: None };
        h5d::Reader::new(lock, &self.dataset, datatype)?.read(lock, Some(&rows), &mut bytes)?;
        self.chunks.reserve(count);
        self.listed.reserve(count);
        for (row, bytes) in bytes.chunks_exact(ROW).enumerate() {
            let (digest, range) = bytes.split_at(32);
            let start: [u8; 8] = range[..8].try_into().unwrap_or_default();
            // Rows go by where they say their chunk begins: their order is nobody's.
            let raw = u64::try_from(i64::from_le_bytes(start))
                .ok()
                .filter(|start| start.is_multiple_of(self.edge))
                .map(|start| start / self.edge)
                .filter(|&raw| raw < raw_chunks);
            let Some(raw) = raw else {
                let fault = HashTableFault::Row { row: row as u64 };
                return Err(DatasetFault::HashTable { path: self.path.clone(), fault });
            };
            self.list(RawChunk(raw));
            // Of several chunks with one digest any will do; the first is taken.
            let digest: Digest = digest.try_into().unwrap_or_default();
            self.chunks.entry(digest).or_insert(RawChunk(raw));
        }
        Ok(())
    }

    fn list(&mut self, raw: RawChunk) {
        self.listed.insert(raw);
        self.end = self.end.max(raw.0.saturating_add(1));
    }

    /// Number of valid rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// One past the last raw chunk that has a row.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The stored chunk with these values and this shape.
    pub(super) fn find(&self, digest: &Digest) -> Option<RawChunk> {
        self.chunks.get(digest).copied()
    }

    /// Adds a chunk that is about to be written, `rows` of whose elements along axis 0 are inside the bounds.
    pub(super) fn add(&mut self, digest: Digest, raw: RawChunk, rows: u64) {
        self.chunks.insert(digest, raw);
        self.push_row(&digest, raw, rows);
    }

    /// Gives every raw chunk before `end` a row. Tables that versioned-hdf5 has rebuilt lack those of chunks that
    /// it saw twice; the next writer would take the chunks at the end for garbage. The row's digest is that of
    /// nothing.
    pub(super) fn complete(&mut self, end: u64) -> Result<(), DatasetFault> {
        let missing = end.saturating_sub(self.listed.len() as u64);
        if missing > MOST_MISSING {
            let (path, fault) = (self.path.clone(), HashTableFault::Missing { rows: missing });
            return Err(DatasetFault::HashTable { path, fault });
        }
        for raw in (0..end).map(RawChunk) {
            if !self.listed.contains(&raw) {
                self.push_row(&[0; 32], raw, self.edge);
            }
        }
        Ok(())
    }

    fn push_row(&mut self, digest: &Digest, raw: RawChunk, rows: u64) {
        let start = raw.0.saturating_mul(self.edge);
        self.added.extend_from_slice(digest);
        self.added.extend_from_slice(&start.to_le_bytes());
        self.added.extend_from_slice(&start.saturating_add(rows).to_le_bytes());
        self.list(raw);
    }

    /// Writes the rows that were added, in one piece, and after them how many there are.
    pub(super) fn write(&mut self, lock: &Lock, file: &FileInner) -> Result<(), DatasetFault> {
        let added = (self.added.len() / ROW) as u64;
        if added == 0 {
            return Ok(());
        }
        let rows = self.rows + added;
        h5d::set_extent(lock, &self.dataset, &[rows])?;
        let new =
            h5s::Hyperslab { start: &[self.rows], stride: None, count: &[added], block: None };
        h5d::write(lock, &self.dataset, &self.datatype, Some(&new), &self.added)?;
        let count = i64::try_from(rows)
            .map_err(|_| DatasetFault::Memory { bytes: rows.saturating_mul(ROW as u64) })?;
        layout::write_integer(lock, &file.file, &self.path, LARGEST_INDEX, count)?;
        self.rows = rows;
        self.added.clear();
        Ok(())
    }
}

fn largest_index(lock: &Lock, file: &FileInner, path: &str) -> Result<i64, DatasetFault> {
    let attribute = h5a::open(lock, &file.file, path, LARGEST_INDEX)?;
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
