//! Tables that are written at once.

use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5l};

use super::super::transaction::Transaction;
use super::{Digests, HashTable, LastChunk, Row};
use crate::raw::RawWriter;
use crate::store::error::DatasetFault;
use crate::store::layout;
use crate::store::names::{LARGEST_INDEX, hash_table_path, raw_data_path};

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
    let added = rows.iter().flat_map(|row| row.to_bytes()).collect();
    let (path, count) = (hash_table_path(path), rows.len() as u64);
    let dataset = h5d::open(lock, file, &path)?;
    h5d::set_extent(lock, &dataset, &[count])?;
    let table = HashTable { path, dataset: None, digests: Digests::default(), edge: 0, added };
    table.write_chunks(lock, &dataset, LastChunk::default())?;
    let attribute = h5a::open(lock, dataset.id(), ".", LARGEST_INDEX)?;
    Ok(h5a::rewrite(lock, &attribute, &count.to_le_bytes())?)
}

/// Puts a table with these rows, one for each stored chunk, in the place of that of the dataset at `path`, if it has any;
/// what is stored of chunks of `chunk_shape` behind them is dropped.
pub(in crate::store) fn replace_table(
    transaction: &mut Transaction<'_>,
    path: &str,
    chunk_shape: &[u64],
    rows: &[Row],
) -> Result<(), DatasetFault> {
    // The next commit reads it, as the first to a file does.
    drop(transaction.take_digests(path));
    let lock = h5strata_ffi::lock();
    let file = transaction.file();
    let table_path = hash_table_path(path);
    if h5l::exists(&lock, file, &table_path)? {
        h5l::delete(&lock, file, &table_path)?;
    }
    layout::create_hash_table(&lock, file, path)?;
    write_rows(&lock, file, path, rows)?;
    let raw_data = RawWriter::new(h5d::open(&lock, file, &raw_data_path(path))?, chunk_shape);
    Ok(raw_data.set_chunks(&lock, rows.len() as u64)?)
}
