//! Rows added to a table without libhdf5.

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5o};

use super::digests::LastChunk;
use super::{Encoding, HashTable, ROW, chunk};
use crate::ondisk::{OndiskError, TablePlace, WriteAt};
use crate::store::error::DatasetFault;
use crate::store::file::FileInner;
use crate::store::names::LARGEST_INDEX;

/// Rows that are added to a table where it stands, when libhdf5 has closed the file.
#[derive(Debug)]
pub(in crate::store::commit) struct TableUpdate {
    place: TablePlace,
    /// How many there are then.
    rows: u64,
    /// Those of the last chunk that are not stored yet, with the one above them.
    tail: Vec<u8>,
    /// Where the stored chunk changes, in bytes from its start.
    start: usize,
    encoding: Encoding,
}

/// The same with what changes of the last chunk as it is stored.
#[derive(Debug)]
pub(in crate::store::commit) struct EncodedUpdate {
    place: TablePlace,
    rows: u64,
    start: usize,
    chunk: Vec<u8>,
}

impl TableUpdate {
    pub(in crate::store::commit) fn encode(self) -> EncodedUpdate {
        let Self { place, rows, tail, start, encoding } = self;
        EncodedUpdate { place, rows, start, chunk: encoding.encode(&tail) }
    }
}

impl EncodedUpdate {
    pub(in crate::store::commit) fn write(
        &self,
        file: &mut dyn WriteAt,
    ) -> Result<(), OndiskError> {
        self.place.write(file, self.rows, self.start, &self.chunk)
    }
}

impl HashTable {
    /// The added rows as an update of the last chunk, if that is all that changes and keeps its length.
    pub(super) fn update(
        &mut self,
        lock: &Lock,
        file: &File,
        committed: &FileInner,
        rows: u64,
    ) -> Result<Option<TableUpdate>, DatasetFault> {
        let digests = &mut self.digests;
        let (None, Some(last)) = (&self.dataset, &mut digests.last_chunk) else { return Ok(None) };
        let have = last.rows.len() / ROW;
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
        let before = last.rows.len();
        last.rows.extend_from_slice(&self.added);
        let encoding = Encoding::of(&last.rows, last.head);
        let (Some(place), Some(encoding)) = (place, encoding) else {
            last.rows.truncate(before);
            return Ok(None);
        };
        if encoding.len() != place.chunk_len() {
            last.rows.truncate(before);
            return Ok(None);
        }
        let (tail, start) = (last.head.tail(&last.rows).to_vec(), last.head.encoded());
        last.head = encoding.rows();
        if last.rows.len() == chunk::ROWS * ROW {
            *last = LastChunk::default();
        } else {
            digests.place = Some(place);
        }
        Ok(Some(TableUpdate { place, rows, tail, start, encoding }))
    }
}
