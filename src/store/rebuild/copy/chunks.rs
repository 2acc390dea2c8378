//! Stored chunks written one by one, while later ones are read.

use h5strata_ffi::h5d;

use super::super::super::commit::Meter;
use super::super::super::digest::Trimmed;
use super::super::super::error::{DatasetFault, Error};
use super::super::super::names::raw_data_path;
use super::super::super::storage::{Fill, Storage};
use super::super::carry::Context;
use super::super::target::Target;
use super::super::uses::Source;
use super::pieces::{Piece, Pieces};
use super::strings;
use super::survey::Survey;
use crate::codec::Scratch;
use crate::dims::RawChunk;
use crate::raw::{RawWriter, ReadFault};

/// Copies the stored chunks of one dataset.
pub(super) struct ChunkCopier<'c> {
    context: Context<'c>,
    storage: &'c Storage,
    survey: &'c Survey,
    meter: &'c Meter<'c>,
    writer: RawWriter,
    /// `None` where padding is copied as it is.
    cleaner: Option<Cleaner<'c>>,
}

impl<'c> ChunkCopier<'c> {
    pub(super) fn new(
        context: Context<'c>,
        source: &'c Source,
        survey: &'c Survey,
        meter: &'c Meter<'c>,
        target: &mut Target<'_>,
    ) -> Result<Self, Error> {
        let storage = &*source.storage;
        let lock = h5strata_ffi::lock();
        let path = raw_data_path(&source.path);
        let dataset =
            h5d::open(&lock, target.file(&lock)?, &path).map_err(target.library(&path))?;
        let writer = RawWriter::new(dataset, storage.raw.chunk_shape());
        let cleaner = context.is_partial.then(|| Cleaner::new(storage));
        Ok(Self { context, storage, survey, meter, writer, cleaner })
    }

    /// Copies all chunks, of which `piece` is the first one that was read.
    pub(super) fn copy(mut self, mut pieces: Pieces, mut piece: Piece) -> Result<(), DatasetFault> {
        let kept = usize::try_from(self.survey.kept.count()).unwrap_or(usize::MAX);
        self.meter.count(kept.saturating_sub(pieces.chunks().len()));
        let context = self.context;
        let (file, threads) = (&context.file.inner, context.threads());
        if piece.is_empty() {
            return pieces.chunks().iter().try_for_each(|chunk| self.copy_alone(chunk.raw));
        }
        let mut next = Piece::default();
        while !piece.is_empty() {
            let mut read = Ok(());
            let read_next = || read = pieces.read_next(file, &mut next);
            threads.beside(read_next, || self.write_piece(&piece))?;
            read?;
            std::mem::swap(&mut piece, &mut next);
        }
        Ok(())
    }

    fn write_piece(&mut self, piece: &Piece) -> Result<(), DatasetFault> {
        piece.iter().try_for_each(|(chunk, bytes)| {
            self.meter.count(1);
            let stored = (bytes, chunk.filter_mask);
            write(self.survey, self.cleaner.as_mut(), &self.writer, chunk.raw, stored)
        })
    }

    /// Copies a chunk of strings, or of a file that libhdf5 reads.
    fn copy_alone(&mut self, raw: RawChunk) -> Result<(), DatasetFault> {
        self.meter.count(1);
        if self.storage.dtype.is_variable_string() {
            let file = &self.context.file.inner;
            return strings::copy(file, self.storage, self.survey, &self.writer, raw);
        }
        let mut buffer = Vec::new();
        let read = self.storage.raw.read_stored(raw, &mut buffer);
        let read = read.map_err(|fault| DatasetFault::StoredChunk { raw: raw.0, fault })?;
        let Some(stored) = read else { return Ok(()) };
        write(self.survey, self.cleaner.as_mut(), &self.writer, raw, stored)
    }
}

fn write(
    survey: &Survey,
    cleaner: Option<&mut Cleaner<'_>>,
    writer: &RawWriter,
    raw: RawChunk,
    (stored, filter_mask): (&[u8], u32),
) -> Result<(), DatasetFault> {
    let Some(new) = survey.kept.new_number(raw) else { return Ok(()) };
    if let (Some(cleaner), Some(edge)) = (cleaner, survey.edge(raw)) {
        let cleaned = cleaner.clean(raw, edge, stored, filter_mask);
        match cleaned.map_err(|fault| DatasetFault::StoredChunk { raw: raw.0, fault })? {
            Cleaned::AsItIs => {}
            Cleaned::Stored(bytes, filter_mask) => {
                return Ok(writer.write(&h5strata_ffi::lock(), new, filter_mask, bytes)?);
            }
            Cleaned::Elements(bytes) => {
                return Ok(writer.write_elements(&h5strata_ffi::lock(), new, bytes)?);
            }
        }
    }
    Ok(writer.write(&h5strata_ffi::lock(), new, filter_mask, stored)?)
}

/// Puts the fill value where a chunk is outside the bounds of all versions that have it. Old writers left there what
/// other versions had.
struct Cleaner<'c> {
    storage: &'c Storage,
    scratch: Scratch,
    elements: Vec<u8>,
    encoded: Vec<u8>,
}

/// What became of a chunk.
enum Cleaned<'b> {
    /// There is nothing else already.
    AsItIs,
    /// Encoded anew, with its filter mask.
    Stored(&'b [u8], u32),
    /// To be encoded by libhdf5.
    Elements(&'b [u8]),
}

impl<'c> Cleaner<'c> {
    fn new(storage: &'c Storage) -> Self {
        let (elements, encoded) = (Vec::new(), Vec::new());
        Self { storage, scratch: Scratch::default(), elements, encoded }
    }

    /// `edge`: how much of each axis is inside the bounds.
    fn clean(
        &mut self,
        raw: RawChunk,
        edge: &[u64],
        stored: &[u8],
        filter_mask: u32,
    ) -> Result<Cleaned<'_>, ReadFault> {
        let Self { storage, scratch, elements, encoded } = self;
        let (data, pipeline) = (&storage.raw, storage.raw.pipeline());
        let Fill::Element(fill) = &storage.fill else { return Ok(Cleaned::AsItIs) };
        elements.resize(data.chunk_bytes(), 0);
        let by_library = pipeline.needs_library(filter_mask);
        if by_library {
            data.read_decoded(raw, elements)?;
        } else {
            pipeline.decode_into(stored, filter_mask, scratch, elements)?;
        }
        let trimmed = Trimmed::first(edge, data.chunk_shape());
        if trimmed.is_fill_outside(elements, fill) {
            return Ok(Cleaned::AsItIs);
        }
        trimmed.fill_outside(elements, fill);
        if by_library || pipeline.can_encode().is_err() {
            return Ok(Cleaned::Elements(elements));
        }
        encoded.clear();
        let filter_mask = pipeline.encode(elements, scratch, encoded)?;
        Ok(Cleaned::Stored(encoded, filter_mask))
    }
}
