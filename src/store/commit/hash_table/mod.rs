//! The digests of a dataset's stored chunks, by which chunks are used again (format-v4.md, "hash_table").

mod chunk;
mod hasher;

use std::collections::{HashMap, HashSet};

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5o, h5p, h5s, h5t};

use self::hasher::DigestKeys;
use super::super::digest::Digest;
use super::super::error::{DatasetFault, HashTableFault};
use super::super::file::FileInner;
use super::super::layout::{self, HASH_TABLE_CHUNK, HASH_TABLE_FILTER};
use super::super::names::{LARGEST_INDEX, hash_table_path};
use crate::codec::decode_first_by_lzf;
use crate::dims::RawChunk;
use crate::memory::{room, zeroed};
use crate::ondisk::{OndiskError, TablePlace, WriteAt};

/// Bytes of a row: 32 of the digest, then where the chunk begins and ends along axis 0 of `raw_data`.
const ROW: usize = 48;

/// The filter mask of a chunk without its one filter.
const LEFT_OUT: u32 = 1;

/// How often rows are looked through before a map of them is made, which takes about as long as so many times.
const SCANS: u32 = 16;

/// Rows that may be missing: more is no table that anybody has rebuilt.
const MOST_MISSING: u64 = 1 << 24;

/// The digests of all stored chunks of one dataset, in memory: they are read once for all commits to an open file.
#[derive(Debug, Default)]
pub(in crate::store) struct Digests {
    chunks: HashMap<Digest, RawChunk, DigestKeys>,
    /// Rows as they were read, of digests that are not in `chunks` yet.
    unsorted: Vec<u8>,
    /// How often those were looked through.
    scans: u32,
    /// How many raw chunks from the first on have a row, which of the later ones have, and one past the last of them.
    listed: u64,
    listed_later: HashSet<RawChunk>,
    end: u64,
    /// Number of valid rows.
    rows: u64,
    /// The rows of the last chunk of the table, if it is stored as such tables are and the chunk is not full.
    last_chunk: Option<Vec<u8>>,
    /// Address of the table's object header, and where what changes in it stands, once it was looked for.
    header: Option<u64>,
    place: Option<TablePlace>,
}

/// Rows that are added to a table where it stands, when libhdf5 has closed the file.
#[derive(Debug)]
pub(super) struct TableUpdate {
    place: TablePlace,
    /// How many there are then.
    rows: u64,
    /// The last chunk as it is stored.
    chunk: Vec<u8>,
}

impl TableUpdate {
    pub(super) fn write(&self, file: &mut dyn WriteAt) -> Result<(), OndiskError> {
        self.place.write(file, self.rows, &self.chunk)
    }
}

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
        self.push_row(&digest, raw, rows);
    }

    /// Gives every raw chunk before `end` a row. Tables that versioned-hdf5 has rebuilt lack those of chunks that
    /// it saw twice; the next writer would take the chunks at the end for garbage. The row's digest is that of
    /// nothing.
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

    /// The added rows as an update of the last chunk, if that is all that changes and keeps its length.
    fn update(
        &mut self,
        lock: &Lock,
        file: &File,
        committed: &FileInner,
        rows: u64,
    ) -> Result<Option<TableUpdate>, DatasetFault> {
        let digests = &mut self.digests;
        let (None, Some(last)) = (&self.dataset, &mut digests.last_chunk) else { return Ok(None) };
        let have = last.len() / ROW;
        let place = digests.place.take();
        if have == 0 || have + self.added.len() / ROW > chunk::ROWS {
            return Ok(None);
        }
        let place = match (place, committed.read_at()) {
            (None, Some((bytes, superblock))) => {
                let header = match digests.header {
                    Some(header) => header,
                    None => h5o::address(lock, file, &self.path)?,
                };
                digests.header = Some(header);
                let first = digests.rows - have as u64;
                // Where it cannot be found it is libhdf5's to find.
                let find = || {
                    TablePlace::find(bytes, superblock, header, LARGEST_INDEX, digests.rows, first)
                };
                committed.read_whole(find).ok().flatten()
            }
            (place, _) => place,
        };
        let before = last.len();
        last.extend_from_slice(&self.added);
        let (Some(place), Some(chunk)) = (place, chunk::encode(last)) else {
            last.truncate(before);
            return Ok(None);
        };
        if chunk.len() != place.chunk_len() {
            last.truncate(before);
            return Ok(None);
        }
        if last.len() == chunk::ROWS * ROW {
            last.clear();
        } else {
            digests.place = Some(place);
        }
        Ok(Some(TableUpdate { place, rows, chunk }))
    }

    /// Writes the added rows behind those of the last chunk, chunk by chunk; returns the rows of what is the last chunk
    /// then.
    fn write_chunks(
        &self,
        lock: &Lock,
        dataset: &h5d::Dataset,
        mut rows: Vec<u8>,
    ) -> Result<Vec<u8>, DatasetFault> {
        let mut start = self.digests.rows - (rows.len() / ROW) as u64;
        rows.extend_from_slice(&self.added);
        for chunk in rows.chunks(chunk::ROWS * ROW) {
            match chunk::encode(chunk) {
                Some(stored) => h5d::write_chunk(lock, dataset, &[start], 0, &stored)?,
                None => {
                    let mut stored = chunk.to_vec();
                    stored.resize(chunk::ROWS * ROW, 0);
                    h5d::write_chunk(lock, dataset, &[start], LEFT_OUT, &stored)?;
                }
            }
            start += chunk::ROWS as u64;
        }
        rows.drain(..rows.len() / (chunk::ROWS * ROW) * (chunk::ROWS * ROW));
        Ok(rows)
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

impl Digests {
    /// One past the last raw chunk that has a row.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The stored chunk with a digest; `edge`: elements of a chunk along axis 0.
    fn find(&mut self, digest: &Digest, edge: u64) -> Option<RawChunk> {
        if self.chunks.contains_key(digest) || self.unsorted.is_empty() {
            return self.chunks.get(digest).copied();
        }
        // Of several chunks with one digest any will do; the first is taken.
        let (bytes, _) = self.unsorted.as_chunks::<ROW>();
        let mut rows = (0..).zip(bytes);
        self.scans += 1;
        if self.scans <= SCANS {
            let found = rows.find(|(_, bytes)| bytes.starts_with(digest));
            return found.and_then(|(row, bytes)| raw_of(row, bytes, edge));
        }
        self.chunks.reserve(bytes.len());
        for (row, bytes) in rows {
            if let (Some(&digest), Some(raw)) = (bytes.first_chunk(), raw_of(row, bytes, edge)) {
                self.chunks.entry(digest).or_insert(raw);
            }
        }
        self.unsorted = Vec::new();
        self.chunks.get(digest).copied()
    }

    fn is_listed(&self, raw: RawChunk) -> bool {
        raw.0 < self.listed || self.listed_later.contains(&raw)
    }

    /// Number of raw chunks that have a row.
    fn rows_of_chunks(&self) -> u64 {
        self.listed + self.listed_later.len() as u64
    }

    fn list(&mut self, raw: RawChunk) {
        if raw.0 > self.listed {
            self.listed_later.insert(raw);
        } else if raw.0 == self.listed {
            self.listed += 1;
            while !self.listed_later.is_empty() && self.listed_later.remove(&RawChunk(self.listed))
            {
                self.listed += 1;
            }
        }
        self.end = self.end.max(raw.0.saturating_add(1));
    }
}

/// The chunk of the row number `row`, which is where the row says it begins: the order of rows is nobody's, though mostly
/// that of the chunks. `None` where no chunk of `edge` elements along axis 0 begins.
fn raw_of(row: u64, bytes: &[u8; ROW], edge: u64) -> Option<RawChunk> {
    let start = bytes.get(size_of::<Digest>()..)?.first_chunk().copied()?;
    let start = u64::try_from(i64::from_le_bytes(start)).ok()?;
    if row.checked_mul(edge) == Some(start) && edge > 0 {
        return Some(RawChunk(row));
    }
    let raw = start.checked_div(edge)?;
    (raw * edge == start).then_some(RawChunk(raw))
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
