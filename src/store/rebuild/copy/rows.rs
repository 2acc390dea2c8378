//! The rows of a hash table that are kept.

use std::collections::HashSet;

use super::super::super::commit::{Row, StoredRows};
use super::super::super::digest::{self, Digest, Trimmed};
use super::super::super::error::DatasetFault;
use super::super::super::file::VersionedFile;
use super::super::super::names::hash_table_path;
use super::super::super::storage::Storage;
use super::strings;
use super::survey::Survey;
use crate::dims::RawChunk;
use crate::memory::zeroed;

/// The rows of all raw chunks that are kept, in the order of their new numbers. No digest is in two of them: versioned-hdf5
/// deletes no versions from a file whose tables have one twice.
pub(super) fn of(
    file: &VersionedFile,
    storage: &Storage,
    path: &str,
    survey: &Survey,
) -> Result<Vec<Row>, DatasetFault> {
    let chunk_shape = storage.raw.chunk_shape();
    let edge = chunk_shape.first().copied().unwrap_or(1);
    let count = usize::try_from(survey.kept.count()).unwrap_or(usize::MAX);
    let mut known: Vec<Option<Row>> = vec![None; count];
    for row in read(file, path)? {
        let new = row.raw_chunk(edge).and_then(|raw| survey.kept.new_number(raw));
        let place = new.and_then(|new| known.get_mut(usize::try_from(new.0).ok()?));
        // Of several rows of one chunk the first counts, as for every writer.
        if let (Some(place @ None), Some(_)) = (place, row.digest()) {
            *place = Some(row);
        }
    }
    let mut seen = HashSet::with_capacity(count);
    let mut rows = Vec::with_capacity(count);
    for ((new, raw), known) in (0..).map(RawChunk).zip(survey.kept.iter()).zip(known) {
        let (digest, extent) = match known {
            Some(row) => {
                let extent = u64::try_from(row.stop.saturating_sub(row.start));
                (row.digest, extent.unwrap_or(edge).min(edge))
            }
            None => {
                let trimmed = survey.inside(raw, chunk_shape);
                let extent = trimmed.shape.first().copied().unwrap_or(0);
                (digest_of(file, storage, raw, &trimmed)?, extent)
            }
        };
        rows.push(match seen.insert(digest) {
            true => Row::new(digest, new, edge, extent),
            false => Row::without_digest(new, edge, extent),
        });
    }
    Ok(rows)
}

/// All rows of the table of a dataset.
pub(super) fn read(file: &VersionedFile, path: &str) -> Result<Vec<Row>, DatasetFault> {
    let session = file.inner.session()?;
    let stored = StoredRows::open(session.lock(), &session.file, &hash_table_path(path))?;
    let mut rows = Vec::new();
    for part in 0..stored.parts() {
        let (_, bytes) = stored.read_part(session.lock(), part)?;
        rows.extend(Row::all(&bytes));
    }
    Ok(rows)
}

fn digest_of(
    file: &VersionedFile,
    storage: &Storage,
    raw: RawChunk,
    trimmed: &Trimmed,
) -> Result<Digest, DatasetFault> {
    if storage.dtype.is_variable_string() {
        let strings = strings::read(&file.inner, storage, raw, trimmed)?;
        return Ok(digest::of_strings(strings.iter().map(Vec::as_slice), trimmed));
    }
    let (size, memory) = (storage.raw.chunk_bytes(), storage.raw.chunk_bytes() as u64);
    let mut chunk = zeroed::<u8>(size).ok_or(DatasetFault::Memory { bytes: memory })?;
    storage
        .fetch_raw([Some(raw)].into_iter(), file.inner.threads(), &mut chunk)
        .map_err(|error| DatasetFault::StoredChunk { raw: raw.0, fault: error.fault })?;
    Ok(digest::of_elements(&chunk, storage.raw.element_size(), trimmed))
}
