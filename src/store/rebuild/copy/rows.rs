//! The rows of a hash table that are kept.

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

/// The digest of a row without one: as of chunks that a rebuilt table lacked.
const NOTHING: Digest = [0; 32];

/// The rows of all raw chunks that are kept, in the order of their new numbers.
pub(super) fn of(
    file: &VersionedFile,
    storage: &Storage,
    path: &str,
    survey: &Survey,
) -> Result<Vec<Row>, DatasetFault> {
    let chunk_shape = storage.raw.chunk_shape();
    let edge = chunk_shape.first().copied().unwrap_or(1);
    let count = usize::try_from(survey.kept.count()).unwrap_or(usize::MAX);
    let mut rows = vec![Row { digest: NOTHING, start: 0, stop: 0 }; count];
    for row in read(file, path)? {
        let new = row.raw_chunk(edge).and_then(|raw| survey.kept.new_number(raw));
        let Some((place, new)) = new.and_then(|new| Some((place(&mut rows, new)?, new))) else {
            continue;
        };
        // Of several rows of one chunk the first counts, as for every writer.
        if place.digest == NOTHING {
            let start = start_of(new, edge);
            let stop = start.saturating_add(row.stop.saturating_sub(row.start));
            *place = Row { digest: row.digest, start, stop };
        }
    }
    for (new, raw) in (0..).map(RawChunk).zip(survey.kept.iter()) {
        let Some(place) = place(&mut rows, new).filter(|place| place.digest == NOTHING) else {
            continue;
        };
        let trimmed = survey.inside(raw, chunk_shape);
        let start = start_of(new, edge);
        let inside = trimmed.shape.first().copied().unwrap_or(0);
        let stop = start.saturating_add_unsigned(inside);
        *place = Row { digest: digest_of(file, storage, raw, &trimmed)?, start, stop };
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

fn place(rows: &mut [Row], new: RawChunk) -> Option<&mut Row> {
    rows.get_mut(usize::try_from(new.0).ok()?)
}

fn start_of(raw: RawChunk, edge: u64) -> i64 {
    i64::try_from(raw.0.saturating_mul(edge)).unwrap_or(i64::MAX)
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
