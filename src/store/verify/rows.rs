//! The rows of a hash table, by the raw chunks that they are of.

use std::cmp::Ordering;

use super::super::commit::{Row, StoredRows};
use super::super::digest::Digest;
use super::super::error::DatasetFault;
use super::super::names::{HASH_TABLE, RAW_DATA};
use super::Verifier;
use super::fault::RowFault;
use super::finding::Finding;
use crate::dims::RawChunk;

/// Rows of one table that are told of: a table with more that do not fit is given up.
const MOST_FAULTS: usize = 1000;

/// What a row says of a raw chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChunkRow {
    pub(super) raw: u64,
    /// The row, from 0.
    pub(super) number: u64,
    /// Elements along axis 0.
    pub(super) extent: u64,
    /// `None` where it does not tell.
    pub(super) digest: Option<Digest>,
}

/// The rows of a hash table, as far as they could be read.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// In rising order of raw chunks.
    rows: Vec<ChunkRow>,
    pub(super) largest_index: u64,
    /// How many there are that fit, also several of one chunk.
    pub(super) valid: u64,
    /// Whether nothing of the table was left out.
    pub(super) is_whole: bool,
}

impl Rows {
    /// The rows of one raw chunk: mostly one.
    pub(super) fn of(&self, raw: RawChunk) -> &[ChunkRow] {
        let start = self.rows.partition_point(|row| row.raw < raw.0);
        let rest = self.rows.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|row| row.raw == raw.0).count();
        &rest[..count]
    }

    /// All rows, in rising order of raw chunks.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ChunkRow> {
        self.rows.iter()
    }

    /// Raw chunks with a digest that one before them has as well, in the order of their digests.
    pub(super) fn duplicates(&self) -> impl Iterator<Item = RawChunk> {
        let mut digests: Vec<&ChunkRow> =
            self.rows.iter().filter(|row| row.digest.is_some()).collect();
        digests.sort_unstable_by_key(|row| (row.digest, row.raw));
        let pairs = digests
            .windows(2)
            .filter(|pair| pair[0].digest == pair[1].digest && pair[0].raw != pair[1].raw);
        pairs.map(|pair| RawChunk(pair[1].raw)).collect::<Vec<_>>().into_iter()
    }
}

impl Verifier<'_> {
    /// Reads the hash table beside a `raw_data` whose chunks have `edge` elements along axis 0. There were `chunks` of them
    /// when the versions were looked at; up to `newest` there are some since.
    pub(super) fn rows(&mut self, raw_data: &str, edge: u64, chunks: u64, newest: u64) -> Rows {
        let group = raw_data.strip_suffix(RAW_DATA).unwrap_or(raw_data);
        let table = match self.open_table(&format!("{group}{HASH_TABLE}")) {
            Ok(table) => table,
            Err(fault) => {
                self.table_fault(raw_data, fault);
                return Rows::default();
            }
        };
        let mut rows = Rows { largest_index: table.count(), is_whole: true, ..Rows::default() };
        let mut faults = 0;
        for part in 0..table.parts() {
            if faults > MOST_FAULTS {
                rows.is_whole = false;
                break;
            }
            let read = self.read_part(&table, part);
            let (first, bytes) = match read {
                Ok(read) => read,
                Err(fault) => {
                    self.table_fault(raw_data, fault);
                    rows.is_whole = false;
                    // One fault for thousands of rows.
                    faults += MOST_FAULTS / 100;
                    continue;
                }
            };
            for (number, row) in (first..).zip(Row::all(&bytes)) {
                match checked(&row, number, edge, newest) {
                    Ok(row) => {
                        rows.valid += 1;
                        if row.raw < chunks {
                            rows.rows.push(row);
                        }
                    }
                    Err(fault) => {
                        faults += 1;
                        if faults <= MOST_FAULTS {
                            self.row_fault(raw_data, number, fault);
                        }
                    }
                }
            }
        }
        rows.rows.sort_unstable();
        self.conflicts(raw_data, &mut rows);
        rows
    }

    fn open_table(&self, path: &str) -> Result<StoredRows, DatasetFault> {
        let session = self.file.session()?;
        StoredRows::open(session.lock(), &session.file, path)
    }

    fn read_part(&self, table: &StoredRows, part: u64) -> Result<(u64, Vec<u8>), DatasetFault> {
        table.read_part(self.file.session()?.lock(), part)
    }

    /// Rows of one chunk that say the same are one; others are told of, and kept.
    fn conflicts(&mut self, raw_data: &str, rows: &mut Rows) {
        let said = |row: &ChunkRow| (row.raw, row.extent, row.digest);
        rows.rows.dedup_by(|later, first| said(later) == said(first));
        let conflicting = rows.rows.windows(2).filter(|pair| pair[0].raw == pair[1].raw);
        let faults: Vec<_> =
            conflicting.map(|pair| (pair[1].number, RawChunk(pair[1].raw))).collect();
        for (row, raw) in faults.into_iter().take(MOST_FAULTS) {
            self.row_fault(raw_data, row, RowFault::Conflict { raw });
        }
    }

    pub(super) fn row_fault(&mut self, raw_data: &str, row: u64, fault: RowFault) {
        let raw_data = raw_data.to_owned();
        self.found(Finding::Row { raw_data, row, fault });
    }

    fn table_fault(&mut self, raw_data: &str, fault: DatasetFault) {
        let (raw_data, fault) = (raw_data.to_owned(), Box::new(fault));
        self.found(Finding::HashTable { raw_data, fault });
    }
}

/// A row, if it is of one of so many chunks.
fn checked(row: &Row, number: u64, edge: u64, chunks: u64) -> Result<ChunkRow, RowFault> {
    let Row { start, stop, .. } = *row;
    let raw = row.raw_chunk(edge).ok_or(RowFault::Start { start })?;
    if raw.0 >= chunks {
        return Err(RowFault::Range { raw, chunks });
    }
    let extent = stop.checked_sub(start).and_then(|extent| u64::try_from(extent).ok());
    match extent.map(|extent| (extent, extent.cmp(&edge))) {
        Some((extent @ 1.., Ordering::Less | Ordering::Equal)) => {
            Ok(ChunkRow { raw: raw.0, number, extent, digest: row.digest() })
        }
        _ => Err(RowFault::Stop { start, stop }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_chunks_that_there_are() {
        let row = |start, stop| Row { digest: [7; 32], start, stop };
        let chunk_row = |raw, extent| ChunkRow { raw, number: 5, extent, digest: Some([7; 32]) };
        let check = |start, stop| checked(&row(start, stop), 5, 10, 3);
        assert_eq!(check(0, 10), Ok(chunk_row(0, 10)));
        assert_eq!(check(20, 21), Ok(chunk_row(2, 1)));
        for start in [-10, 5, i64::MIN] {
            assert_eq!(check(start, 10), Err(RowFault::Start { start }));
        }
        assert_eq!(check(30, 40), Err(RowFault::Range { raw: RawChunk(3), chunks: 3 }));
        for stop in [10, 9, -1, 21, i64::MAX, i64::MIN] {
            assert_eq!(check(10, stop), Err(RowFault::Stop { start: 10, stop }));
        }
        let nothing = checked(&Row { digest: [0; 32], start: 0, stop: 10 }, 0, 10, 3);
        assert_eq!(nothing.map(|row| row.digest), Ok(None));
    }

    #[test]
    fn rows_are_found_by_their_chunks_and_equal_digests_of_others() {
        let row = |raw, number, digest| ChunkRow { raw, number, extent: 1, digest };
        let (one, two) = (Some([1; 32]), Some([2; 32]));
        let rows =
            [row(1, 0, one), row(3, 2, two), row(3, 4, one), row(6, 1, two), row(7, 9, None)];
        let rows = Rows { rows: rows.to_vec(), ..Rows::default() };
        assert_eq!(rows.of(RawChunk(3)).len(), 2);
        assert_eq!([0, 2, 8].map(|raw| rows.of(RawChunk(raw)).len()), [0, 0, 0]);
        assert_eq!(rows.duplicates().collect::<Vec<_>>(), [RawChunk(3), RawChunk(6)]);
    }
}
