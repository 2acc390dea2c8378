//! Rows added to a table without libhdf5.

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5o};

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
    /// Those of the last chunk.
    last: Vec<u8>,
    encoding: Encoding,
}

/// The same with the last chunk as it is stored.
#[derive(Debug)]
pub(in crate::store::commit) struct EncodedUpdate {
    place: TablePlace,
    rows: u64,
    chunk: Vec<u8>,
}

impl TableUpdate {
    pub(in crate::store::commit) fn encode(self) -> EncodedUpdate {
        let Self { place, rows, last, encoding } = self;
        EncodedUpdate { place, rows, chunk: encoding.encode(&last) }
    }
}

impl EncodedUpdate {
    pub(in crate::store::commit) fn write(
        &self,
        file: &mut dyn WriteAt,
    ) -> Result<(), OndiskError> {
        self.place.write(file, self.rows, &self.chunk)
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
        let encoding = Encoding::of(last);
        let (Some(place), Some(encoding)) = (place, encoding) else {
            last.truncate(before);
            return Ok(None);
        };
        if encoding.len() != place.chunk_len() {
            last.truncate(before);
            return Ok(None);
        }
        let update = TableUpdate { place, rows, last: last.clone(), encoding };
        if last.len() == chunk::ROWS * ROW {
            last.clear();
        } else {
            digests.place = Some(place);
        }
        Ok(Some(update))
    }
}
