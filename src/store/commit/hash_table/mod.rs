//! The digests of a dataset's stored chunks, by which chunks are used again (format-v4.md, "hash_table").

mod chunk;
mod digests;
mod hasher;
mod rows;
mod update;
mod whole;

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5s};

use self::chunk::{Encoding, Head};
pub(in crate::store) use self::digests::Digests;
use self::digests::LastChunk;
pub(in crate::store) use self::rows::{Row, StoredRows};
pub(super) use self::update::{EncodedUpdate, TableUpdate};
pub(in crate::store) use self::whole::{replace_table, write_rows};
use super::super::digest::Digest;
use super::super::error::{DatasetFault, HashTableFault};
use super::super::file::FileInner;
use super::super::names::{LARGEST_INDEX, hash_table_path};
use crate::dims::RawChunk;

/// Bytes of a row: 32 of the digest, then where the chunk begins and ends along axis 0 of `raw_data`.
const ROW: usize = 48;

/// The filter mask of a chunk without its one filter.
const LEFT_OUT: u32 = 1;

/// Rows that may be missing: more is no table that anybody has rebuilt.
pub(in crate::store) const MOST_MISSING: u64 = 1 << 24;

/// The hash table of one dataset.
#[derive(Debug)]
pub(super) struct HashTable {
    path: String,
    /// `None` where it was not needed yet.
    dataset: Option<h5d::Dataset>,
    digests: Digests,
    /// Elements of a chunk along axis 0.
    edge: u64,
    /// Rows to be written.
    added: Vec<u8>,
}

impl HashTable {
    /// Opens the table of the dataset at `path`, whose chunks have `edge` elements along axis 0 and of which
    /// there are at most `raw_chunks`. It is read unless the last commit has left its digests.
    pub(super) fn open(
        file: &File,
        path: &str,
        edge: u64,
        raw_chunks: u64,
        known: Option<Digests>,
    ) -> Result<Self, DatasetFault> {
        let path = hash_table_path(path);
        let (dataset, digests) = match known {
            Some(digests) => (None, digests),
            None => {
                let lock = h5strata_ffi::lock();
                let stored = StoredRows::open(&lock, file, &path)?;
                let digests = Digests::read(&lock, &stored, edge, raw_chunks)?;
                (Some(stored.dataset), digests)
            }
        };
        Ok(Self { path, dataset, digests, edge, added: Vec::new() })
    }

    /// The rows that were added, as they will be stored.
    pub(super) fn added(&self) -> &[u8] {
        &self.added
    }

    /// Lets go of the table until its rows are written.
    pub(super) fn close(&mut self) {
        self.dataset = None;
    }

    /// One past the last raw chunk that has a row.
    pub(super) fn end(&self) -> u64 {
        self.digests.end
    }

    /// The stored chunk with these values and this shape.
    pub(super) fn find(&mut self, digest: &Digest) -> Option<RawChunk> {
        self.digests.find(digest, self.edge)
    }

    /// Adds a chunk that is about to be written, `rows` of whose elements along axis 0 are inside the bounds.
    pub(super) fn add(&mut self, digest: Digest, raw: RawChunk, rows: u64) {
        self.digests.chunks.insert(digest, raw);
        self.push(raw, &Row::new(digest, raw, self.edge, rows));
    }

    /// Gives every raw chunk before `end` a row. Tables that versioned-hdf5 has rebuilt lack those of chunks that
    /// it saw twice; the next writer would take the chunks at the end for garbage.
    pub(super) fn complete(&mut self, end: u64) -> Result<(), DatasetFault> {
        let missing = end.saturating_sub(self.digests.rows_of_chunks());
        if missing == 0 {
            return Ok(());
        }
        if missing > MOST_MISSING {
            let (path, fault) = (self.path.clone(), HashTableFault::Missing { rows: missing });
            return Err(DatasetFault::HashTable { path, fault });
        }
        for raw in (0..end).map(RawChunk) {
            if !self.digests.is_listed(raw) {
                self.push(raw, &Row::without_digest(raw, self.edge, self.edge));
            }
        }
        Ok(())
    }

    fn push(&mut self, raw: RawChunk, row: &Row) {
        self.added.extend_from_slice(&row.to_bytes());
        self.digests.list(raw);
    }

    /// Writes the rows that were added, in one piece, and after them how many there are; or says what is to be written
    /// when libhdf5 has closed the file. Returns the digests of all chunks.
    ///
    /// `file`: open for writing; `committed`: the same as the last commit has left it.
    pub(super) fn write(
        mut self,
        lock: &Lock,
        file: &File,
        committed: &FileInner,
    ) -> Result<(Digests, Option<TableUpdate>), DatasetFault> {
        let added = (self.added.len() / ROW) as u64;
        if added == 0 {
            return Ok((self.digests, None));
        }
        let rows = self.digests.rows + added;
        if let Some(update) = self.update(lock, file, committed, rows)? {
            self.digests.rows = rows;
            return Ok((self.digests, Some(update)));
        }
        let dataset = match self.dataset.take() {
            Some(dataset) => dataset,
            None => h5d::open(lock, file, &self.path)?,
        };
        h5d::set_extent(lock, &dataset, &[rows])?;
        match self.digests.last_chunk.take() {
            Some(last) => {
                self.digests.last_chunk = Some(self.write_chunks(lock, &dataset, last)?);
            }
            None => {
                let start = &[self.digests.rows];
                let new = h5s::Hyperslab { start, stride: None, count: &[added], block: None };
                let datatype = h5d::datatype(lock, &dataset)?;
                h5d::write(lock, &dataset, &datatype, Some(&new), &self.added)?;
            }
        }
        let count = i64::try_from(rows)
            .map_err(|_| DatasetFault::Memory { bytes: rows.saturating_mul(ROW as u64) })?;
        // Of the type that was looked at when the table was read, or that it was made with.
        let attribute = h5a::open(lock, dataset.id(), ".", LARGEST_INDEX)?;
        h5a::rewrite(lock, &attribute, &count.to_le_bytes())?;
        self.digests.rows = rows;
        Ok((self.digests, None))
    }

    /// Writes the added rows behind those of the last chunk, chunk by chunk; returns what is the last chunk then.
    fn write_chunks(
        &self,
        lock: &Lock,
        dataset: &h5d::Dataset,
        LastChunk { mut rows, .. }: LastChunk,
    ) -> Result<LastChunk, DatasetFault> {
        let mut start = self.digests.rows - (rows.len() / ROW) as u64;
        rows.extend_from_slice(&self.added);
        let mut head = Head::default();
        for chunk in rows.chunks(chunk::ROWS * ROW) {
            match Encoding::of(chunk, Head::default()) {
                Some(encoding) => {
                    h5d::write_chunk(lock, dataset, &[start], 0, &encoding.encode(chunk))?;
                    head = encoding.rows();
                }
                None => {
                    let mut stored = chunk.to_vec();
                    stored.resize(chunk::ROWS * ROW, 0);
                    h5d::write_chunk(lock, dataset, &[start], LEFT_OUT, &stored)?;
                    head = Head::default();
                }
            }
            start += chunk::ROWS as u64;
        }
        rows.drain(..rows.len() / (chunk::ROWS * ROW) * (chunk::ROWS * ROW));
        if rows.is_empty() {
            head = Head::default();
        }
        Ok(LastChunk { rows, head })
    }
}
