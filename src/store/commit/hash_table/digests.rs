//! What is known of a table's rows.

use std::collections::{HashMap, HashSet};

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5d, h5o};

use super::ROW;
use super::chunk::{self, Head};
use super::hasher::DigestKeys;
use super::rows::{StoredRows, raw_chunk_at};
use crate::dims::RawChunk;
use crate::ondisk::TablePlace;
use crate::store::digest::Digest;
use crate::store::error::{DatasetFault, HashTableFault};

/// How often rows are looked through before a map of them is made, which takes about as long as so many times.
const SCANS: u32 = 16;

/// The digests of all stored chunks of one dataset, in memory: they are read once for all commits to an open file.
#[derive(Debug, Default)]
pub(in crate::store) struct Digests {
    pub(super) chunks: HashMap<Digest, RawChunk, DigestKeys>,
    /// Rows as they were read, of digests that are not in `chunks` yet.
    pub(super) unsorted: Vec<u8>,
    /// How often those were looked through.
    pub(super) scans: u32,
    /// How many raw chunks from the first on have a row, which of the later ones have, and one past the last of them.
    pub(super) listed: u64,
    pub(super) listed_later: HashSet<RawChunk>,
    pub(super) end: u64,
    /// Number of valid rows.
    pub(super) rows: u64,
    /// The last chunk of the table, if it is stored as such tables are.
    pub(super) last_chunk: Option<LastChunk>,
    /// Address of the object header of the dataset of stored chunks, once it was looked for.
    storage: Option<u64>,
    /// Address of the table's object header, and where what changes in it stands, once it was looked for.
    pub(super) header: Option<u64>,
    pub(super) place: Option<TablePlace>,
}

/// The last chunk of a table, which is not full.
#[derive(Debug, Default)]
pub(super) struct LastChunk {
    pub(super) rows: Vec<u8>,
    /// Those that are stored as they are encoded here.
    pub(super) head: Head,
}

impl Digests {
    /// What a table says of a dataset with at most `raw_chunks` stored chunks, of `edge` elements along axis 0.
    pub(super) fn read(
        lock: &Lock,
        stored: &StoredRows,
        edge: u64,
        raw_chunks: u64,
    ) -> Result<Self, DatasetFault> {
        let bytes = stored.read_all(lock)?;
        let mut digests = Self { rows: stored.count(), ..Self::default() };
        if stored.is_usual() {
            let full = bytes.len() / chunk::BYTES * chunk::BYTES;
            let rows = bytes.get(full..).map(<[u8]>::to_vec);
            digests.last_chunk = rows.map(|rows| LastChunk { rows, head: Head::default() });
        }
        for (row, bytes) in (0..).zip(bytes.as_chunks().0) {
            match raw_of(row, bytes, edge).filter(|raw| raw.0 < raw_chunks) {
                Some(raw) => digests.list(raw),
                None => return Err(stored.fault(HashTableFault::Row { row })),
            }
        }
        digests.unsorted = bytes;
        Ok(digests)
    }

    /// Opens the dataset of stored chunks, which is at `path`.
    pub(in crate::store::commit) fn open_storage(
        &mut self,
        lock: &Lock,
        file: &File,
        path: &str,
    ) -> Result<h5d::Dataset, h5strata_ffi::Error> {
        let address = match self.storage {
            Some(address) => address,
            None => *self.storage.insert(h5o::address(lock, file, path)?),
        };
        h5d::open_at(lock, file, address)
    }

    /// One past the last raw chunk that has a row.
    pub(in crate::store::commit) fn end(&self) -> u64 {
        self.end
    }

    /// The stored chunk with a digest; `edge`: elements of a chunk along axis 0.
    pub(super) fn find(&mut self, digest: &Digest, edge: u64) -> Option<RawChunk> {
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

    pub(super) fn is_listed(&self, raw: RawChunk) -> bool {
        raw.0 < self.listed || self.listed_later.contains(&raw)
    }

    /// Number of raw chunks that have a row.
    pub(super) fn rows_of_chunks(&self) -> u64 {
        self.listed + self.listed_later.len() as u64
    }

    pub(super) fn list(&mut self, raw: RawChunk) {
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
/// that of the chunks.
fn raw_of(row: u64, bytes: &[u8; ROW], edge: u64) -> Option<RawChunk> {
    let start = bytes.get(size_of::<Digest>()..)?.first_chunk().copied()?;
    raw_chunk_at(i64::from_le_bytes(start), edge, row)
}
