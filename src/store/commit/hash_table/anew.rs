//! Tables made anew.

use h5strata_ffi::{h5d, h5l};

use super::super::transaction::Transaction;
use super::{Digests, HashTable, Row};
use crate::raw::RawWriter;
use crate::store::error::DatasetFault;
use crate::store::file::FileInner;
use crate::store::layout;
use crate::store::names::{hash_table_path, raw_data_path};

/// Puts a table with these rows, one for each stored chunk, in the place of that of the dataset at `path`, if it has any;
/// what is stored of chunks of `chunk_shape` behind them is dropped.
pub(in crate::store) fn replace_table(
    transaction: &mut Transaction<'_>,
    committed: &FileInner,
    path: &str,
    chunk_shape: &[u64],
    rows: &[Row],
) -> Result<(), DatasetFault> {
    drop(transaction.take_digests(path));
    let lock = h5strata_ffi::lock();
    let file = transaction.file();
    let table_path = hash_table_path(path);
    if h5l::exists(&lock, file, &table_path)? {
        h5l::delete(&lock, file, &table_path)?;
    }
    layout::create_hash_table(&lock, file, path)?;
    let dataset = Some(h5d::open(&lock, file, &table_path)?);
    let digests = Digests { last_chunk: Some(Vec::new()), ..Digests::default() };
    let edge = chunk_shape.first().copied().unwrap_or(1);
    let added = rows.iter().flat_map(|row| row.to_bytes()).collect();
    let table = HashTable { path: table_path, dataset, digests, edge, added };
    // The next commit reads it, as the first to a file does.
    drop(table.write(&lock, file, committed)?);
    let raw_data = RawWriter::new(h5d::open(&lock, file, &raw_data_path(path))?, chunk_shape);
    Ok(raw_data.set_chunks(&lock, rows.len() as u64)?)
}
