//! Tables that are written at once.

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d};

use super::{Digests, HashTable, ROW, Row};
use crate::store::error::DatasetFault;
use crate::store::names::{LARGEST_INDEX, hash_table_path};

impl Row {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.digest);
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.stop.to_le_bytes());
    }
}

/// Writes all rows of the table of the dataset at `path`, which was just made and has none.
pub(in crate::store) fn write_rows(
    lock: &Lock,
    file: &File,
    path: &str,
    rows: &[Row],
) -> Result<(), DatasetFault> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut added = Vec::with_capacity(rows.len() * ROW);
    rows.iter().for_each(|row| row.put(&mut added));
    let (path, count) = (hash_table_path(path), rows.len() as u64);
    let dataset = h5d::open(lock, file, &path)?;
    h5d::set_extent(lock, &dataset, &[count])?;
    let table = HashTable { path, dataset: None, digests: Digests::default(), edge: 0, added };
    table.write_chunks(lock, &dataset, Vec::new())?;
    let attribute = h5a::open(lock, dataset.id(), ".", LARGEST_INDEX)?;
    Ok(h5a::rewrite(lock, &attribute, &count.to_le_bytes())?)
}
