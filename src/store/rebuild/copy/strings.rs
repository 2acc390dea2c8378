//! Strings of variable length, which are not in the stored chunks themselves: those lead into the heap of their file.

use super::super::super::digest::Trimmed;
use super::super::super::error::DatasetFault;
use super::super::super::file::{Direct, FileInner};
use super::super::super::storage::Storage;
use super::survey::Survey;
use crate::dims::RawChunk;
use crate::memory::zeroed;
use crate::raw::{RawWriter, resolve_strings};

/// The strings of a raw chunk that are inside the bounds of `trimmed`, in C order.
pub(super) fn read(
    file: &FileInner,
    storage: &Storage,
    raw: RawChunk,
    trimmed: &Trimmed,
) -> Result<Vec<Vec<u8>>, DatasetFault> {
    let failed = |fault| DatasetFault::StoredChunk { raw: raw.0, fault };
    let Some(Direct { bytes, superblock }) = &file.direct else {
        let strings = storage.raw.read_strings(raw).map_err(failed)?;
        let mut strings: Vec<Option<Vec<u8>>> = strings.into_iter().map(Some).collect();
        let inside = trimmed.runs().flatten().filter_map(|at| usize::try_from(at).ok());
        return Ok(inside.filter_map(|at| strings.get_mut(at)?.take()).collect());
    };
    let (size, memory) = (storage.raw.chunk_bytes(), storage.raw.chunk_bytes() as u64);
    let mut chunk = zeroed::<u8>(size).ok_or(DatasetFault::Memory { bytes: memory })?;
    let (threads, one) = (file.threads(), [Some(raw)]);
    storage.fetch_raw(one.into_iter(), threads, &mut chunk).map_err(|error| failed(error.fault))?;
    let runs = trimmed.byte_runs(storage.raw.element_size());
    let references: Vec<u8> =
        runs.flat_map(|run| chunk.get(run).unwrap_or_default()).copied().collect();
    let copy = |string: &[u8]| Some(string.to_vec());
    bytes.read_whole(|| {
        resolve_strings(bytes, superblock, &references, storage.fill.as_bytes(), threads, copy)
            .map_err(|(element, fault)| DatasetFault::String { element: element as u64, fault })
    })
}

/// Copies the strings of a raw chunk that some version has inside its bounds.
pub(super) fn copy(
    file: &FileInner,
    storage: &Storage,
    survey: &Survey,
    writer: &RawWriter,
    raw: RawChunk,
) -> Result<(), DatasetFault> {
    let Some(new) = survey.kept.new_number(raw) else { return Ok(()) };
    let trimmed = survey.inside(raw, storage.raw.chunk_shape());
    let strings = read(file, storage, raw, &trimmed)?;
    let strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    Ok(writer.write_strings(&h5strata_ffi::lock(), new, &trimmed.shape, &strings)?)
}
