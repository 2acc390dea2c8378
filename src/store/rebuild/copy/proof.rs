//! Whether the new file holds what the old one does, byte by byte.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::super::dataset::Dataset;
use super::super::super::digest::Trimmed;
use super::super::super::error::DatasetFault;
use super::super::super::file::VersionedFile;
use super::super::super::storage::Storage;
use super::super::carry::Proof;
use super::survey::Survey;
use super::{rows, strings};
use crate::chunk_map::MapError;
use crate::codec::Scratch;
use crate::dims::RawChunk;
use crate::raw::{ReadFault, StoredChunk, Threads, read_stored};

/// Chunks that one thread compares one after the other.
const TOGETHER: usize = 64;

/// Bytes of chunks that are compared at once: what stays in a core's own cache.
const WINDOW: u64 = 256 << 10;

/// Knows the new number of each raw chunk that was copied.
pub(super) struct CopyProof {
    survey: Survey,
    path: String,
    is_cleaned: bool,
}

impl CopyProof {
    pub(super) fn new(survey: Survey, path: &str, is_cleaned: bool) -> Self {
        Self { survey, path: path.to_owned(), is_cleaned }
    }
}

impl Proof for CopyProof {
    fn holds_for(&self, old: &Dataset, new: &Dataset) -> Result<bool, DatasetFault> {
        Ok(old.shape() == new.shape()
            && old.dtype() == new.dtype()
            && old.chunk_shape() == new.chunk_shape()
            && (self.has_same_list(old, new)? || self.has_same_map(old, new)?))
    }

    fn chunks(&self) -> u64 {
        self.survey.kept.count()
    }

    fn holds_for_storage(
        &self,
        (old_file, old): (&VersionedFile, &Storage),
        (new_file, new): (&VersionedFile, &Storage),
        threads: Threads<'_>,
    ) -> Result<bool, DatasetFault> {
        if old.fill != new.fill || !have_same_filters(old, new) {
            return Ok(false);
        }
        if !self.holds_for_rows(old, old_file, new_file)? {
            return Ok(false);
        }
        let stored = |file: &VersionedFile, storage: &Storage| {
            let stored = storage.raw.stored(file.inner.addresses());
            stored.map(Arc::<[StoredChunk]>::from).map_err(DatasetFault::Index)
        };
        let old = Side { file: old_file, storage: old, stored: stored(old_file, old)? };
        let new = Side { file: new_file, storage: new, stored: stored(new_file, new)? };
        let kept: Vec<(RawChunk, RawChunk)> =
            self.survey.kept.iter().zip((0..).map(RawChunk)).collect();
        let compare = |pairs: &[(RawChunk, RawChunk)]| {
            let (mut rest, mut buffers) = (pairs, Buffers::default());
            while let Some((run, later)) = rest.split_at_checked(run_of(&old, &new, rest).max(1)) {
                rest = later;
                if have_same_bytes(&old, &new, run, &mut buffers)? {
                    continue;
                }
                for &(one, other) in run {
                    if !self.is_same((&old, one), (&new, other), &mut buffers)? {
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        };
        let same: Result<Vec<bool>, DatasetFault> =
            threads.install(|| kept.par_chunks(TOGETHER).map(compare).collect());
        Ok(same?.into_iter().all(|same| same))
    }
}

/// A file, and what of it is compared.
struct Side<'s> {
    file: &'s VersionedFile,
    storage: &'s Storage,
    /// In rising order.
    stored: Arc<[StoredChunk]>,
}

/// A thread's own.
#[derive(Default)]
struct Buffers {
    old: Vec<u8>,
    new: Vec<u8>,
    scratch: Scratch,
}

impl Side<'_> {
    fn find(&self, raw: RawChunk) -> Option<&StoredChunk> {
        let at = self.stored.binary_search_by_key(&raw, |chunk| chunk.raw).ok()?;
        self.stored.get(at)
    }

    /// The bytes of a stored chunk.
    fn read<'b>(
        &self,
        chunk: &StoredChunk,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], DatasetFault> {
        let read = match self.file.inner.addresses() {
            Some(file) => read_stored(file, chunk.address, chunk.size, buffer),
            None => self.storage.raw.read_stored(chunk.raw, buffer).and_then(|read| match read {
                Some((bytes, _)) => Ok(bytes),
                None => Err(ReadFault::Memory { bytes: chunk.size }),
            }),
        };
        read.map_err(|fault| DatasetFault::StoredChunk { raw: chunk.raw.0, fault })
    }

    /// The elements of a stored chunk.
    fn decode(
        &self,
        chunk: &StoredChunk,
        stored: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>, DatasetFault> {
        let (raw, pipeline) = (&self.storage.raw, self.storage.raw.pipeline());
        let mut elements = vec![0; raw.chunk_bytes()];
        let decoded = match pipeline.needs_library(chunk.filter_mask) {
            true => raw.read_decoded(chunk.raw, &mut elements),
            false => pipeline
                .decode_into(stored, chunk.filter_mask, scratch, &mut elements)
                .map_err(ReadFault::from),
        };
        decoded.map_err(|fault| DatasetFault::StoredChunk { raw: chunk.raw.0, fault })?;
        Ok(elements)
    }
}

impl CopyProof {
    /// Whether both lists of mappings are the same bytes, and mean the same: the old ones were looked at before.
    fn has_same_list(&self, old: &Dataset, new: &Dataset) -> Result<bool, MapError> {
        let ((old_source, _), (new_source, chunks)) = (old.raw_data(), new.raw_data());
        if !self.survey.kept.keeps_numbers()
            || old_source != new_source
            || chunks != self.survey.kept.count()
        {
            return Ok(false);
        }
        let [one, two] = [old, new].map(|dataset| dataset.inner.version.file.read_at());
        let (Some((old_file, _)), Some((new_file, _))) = (one, two) else { return Ok(false) };
        old.inner.list.has_same_stored_list(old_file, &new.inner.list, new_file)
    }

    /// Whether both lists lead to the same stored chunks.
    fn has_same_map(&self, old: &Dataset, new: &Dataset) -> Result<bool, DatasetFault> {
        let (old_map, new_map) = (old.inner.map_once()?, new.inner.map_once()?);
        let translated =
            old_map.iter().map(|(chunk, raw)| (chunk, self.survey.kept.new_number(raw)));
        Ok(translated.eq(new_map.iter().map(|(chunk, raw)| (chunk, Some(raw)))))
    }

    fn holds_for_rows(
        &self,
        storage: &Storage,
        old: &VersionedFile,
        new: &VersionedFile,
    ) -> Result<bool, DatasetFault> {
        let expected = rows::of(old, storage, &self.path, &self.survey)?;
        Ok(rows::read(new, &self.path)? == expected)
    }

    fn is_same(
        &self,
        (old, old_raw): (&Side<'_>, RawChunk),
        (new, new_raw): (&Side<'_>, RawChunk),
        Buffers { old: old_buffer, new: new_buffer, scratch }: &mut Buffers,
    ) -> Result<bool, DatasetFault> {
        let (Some(one), Some(other)) = (old.find(old_raw), new.find(new_raw)) else {
            // Mapped and never written, in both.
            return Ok(old.find(old_raw).is_none() && new.find(new_raw).is_none());
        };
        let trimmed = self.survey.inside(old_raw, old.storage.raw.chunk_shape());
        if old.storage.dtype.is_variable_string() {
            let read =
                |side: &Side<'_>, raw| strings::read(&side.file.inner, side.storage, raw, &trimmed);
            return Ok(read(old, old_raw)? == read(new, new_raw)?);
        }
        let (old_bytes, new_bytes) = (old.read(one, old_buffer)?, new.read(other, new_buffer)?);
        if one.filter_mask == other.filter_mask && old_bytes == new_bytes {
            return Ok(true);
        }
        if !self.is_cleaned || trimmed.is_whole() {
            return Ok(false);
        }
        let old_elements = old.decode(one, old_bytes, scratch)?;
        let new_elements = new.decode(other, new_bytes, scratch)?;
        Ok(are_equal_inside(&old_elements, &new_elements, &trimmed, old.storage))
    }
}

/// How many of some chunks lie behind each other in both files, as long ones in both, from the first one on. Strings are
/// not in the chunks.
fn run_of(old: &Side<'_>, new: &Side<'_>, pairs: &[(RawChunk, RawChunk)]) -> usize {
    let have_addresses = [old, new].iter().all(|side| side.file.inner.addresses().is_some());
    if !have_addresses || old.storage.dtype.is_variable_string() {
        return 0;
    }
    let (mut ends, mut bytes) = (None, 0_u64);
    let joins = pairs.iter().map_while(|&(one, other)| {
        let (one, other) = (old.find(one)?, new.find(other)?);
        let is_behind = ends.is_none_or(|ends| ends == (one.address, other.address));
        let is_alike = one.size == other.size && one.filter_mask == other.filter_mask;
        bytes = bytes.saturating_add(one.size);
        ends = Some((one.address.checked_add(one.size)?, other.address.checked_add(other.size)?));
        (is_behind && is_alike && bytes <= WINDOW).then_some(())
    });
    joins.count()
}

/// Whether a [run](run_of) of several chunks holds the same bytes in both files.
fn have_same_bytes(
    old: &Side<'_>,
    new: &Side<'_>,
    run: &[(RawChunk, RawChunk)],
    buffers: &mut Buffers,
) -> Result<bool, DatasetFault> {
    let [(one, other), _, ..] = run else { return Ok(false) };
    let (Some(one), Some(other)) = (old.find(*one), new.find(*other)) else { return Ok(false) };
    let bytes = run.iter().filter_map(|(one, _)| old.find(*one)).map(|chunk| chunk.size);
    let size = bytes.fold(0, u64::saturating_add);
    let (one, other) = (StoredChunk { size, ..*one }, StoredChunk { size, ..*other });
    Ok(old.read(&one, &mut buffers.old)? == new.read(&other, &mut buffers.new)?)
}

/// Whether two chunks have the same elements inside the bounds, and the second the fill value outside of them.
fn are_equal_inside(old: &[u8], new: &[u8], trimmed: &Trimmed, storage: &Storage) -> bool {
    let same = trimmed.byte_runs(storage.raw.element_size());
    let same =
        same.map(|run| (old.get(run.clone()), new.get(run))).all(|(one, other)| one == other);
    same && trimmed.is_fill_outside(new, storage.fill.as_bytes())
}

/// Whether stored chunks of the one mean the same in the other. Chunks of strings went through libhdf5, which gives some
/// filters parameters of its own when a dataset is made.
fn have_same_filters(old: &Storage, new: &Storage) -> bool {
    let (old_filters, new_filters) = (old.raw.pipeline().filters(), new.raw.pipeline().filters());
    let is_written_anew = old.dtype.is_variable_string();
    let mut pairs = old_filters.iter().zip(new_filters);
    old_filters.len() == new_filters.len()
        && pairs.all(|(old, new)| old.id == new.id && (is_written_anew || old.params == new.params))
}
