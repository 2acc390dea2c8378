//! Stored chunks read in large pieces, and written one by one.

use std::sync::Arc;

use h5strata_ffi::h5d;

use super::super::super::commit::Meter;
use super::super::super::digest::Trimmed;
use super::super::super::error::{DatasetFault, Error};
use super::super::super::file::FileInner;
use super::super::super::names::raw_data_path;
use super::super::super::storage::{Fill, Storage};
use super::super::carry::Context;
use super::super::target::Target;
use super::super::uses::Source;
use super::strings;
use super::survey::Survey;
use crate::codec::Scratch;
use crate::dims::RawChunk;
use crate::raw::{RawWriter, ReadFault, StoredChunk, read_stored};

/// Bytes that are read at once from chunks that lie behind each other.
const WINDOW: u64 = 4 << 20;

/// Copies the stored chunks of one dataset, in the order in which they are to lie in the new file.
pub(super) struct ChunkCopier<'c> {
    file: Arc<FileInner>,
    storage: &'c Storage,
    survey: &'c Survey,
    meter: &'c Meter<'c>,
    writer: RawWriter,
    /// Those of the old file, in rising order.
    stored: Vec<StoredChunk>,
    /// Those that lie behind each other, and are read next.
    run: Vec<StoredChunk>,
    run_end: u64,
    run_bytes: u64,
    buffer: Vec<u8>,
    /// `None` where padding is copied as it is.
    cleaner: Option<Cleaner<'c>>,
}

impl<'c> ChunkCopier<'c> {
    pub(super) fn new(
        context: &Context<'c>,
        source: &'c Source,
        survey: &'c Survey,
        meter: &'c Meter<'c>,
        target: &mut Target<'_>,
    ) -> Result<Self, Error> {
        let (file, storage) = (Arc::clone(&context.file.inner), &*source.storage);
        let failed = |fault| context.error(source, fault);
        if storage.dtype.has_pointers() && !storage.dtype.is_variable_string() {
            return Err(failed(DatasetFault::Pointers { found: storage.dtype.clone() }));
        }
        let stored = storage.raw.stored(file.addresses());
        let stored = stored.map_err(|fault| failed(DatasetFault::Index(fault)))?;
        let lock = h5strata_ffi::lock();
        let path = raw_data_path(&source.path);
        let dataset =
            h5d::open(&lock, target.file(&lock)?, &path).map_err(target.library(&path))?;
        let writer = RawWriter::new(dataset, storage.raw.chunk_shape());
        Ok(Self {
            file,
            storage,
            survey,
            meter,
            writer,
            stored,
            run: Vec::new(),
            run_end: 0,
            run_bytes: 0,
            buffer: Vec::new(),
            cleaner: context.is_partial.then(|| Cleaner::new(storage)),
        })
    }

    /// Copies a raw chunk, now or with later ones; nothing if it is mapped but was never written.
    pub(super) fn copy(&mut self, raw: RawChunk) -> Result<(), DatasetFault> {
        self.meter.count(1);
        let Ok(at) = self.stored.binary_search_by_key(&raw, |chunk| chunk.raw) else {
            return Ok(());
        };
        let chunk = self.stored[at];
        if self.storage.dtype.is_variable_string() {
            return strings::copy(&self.file, self.storage, self.survey, &self.writer, raw);
        }
        if self.file.addresses().is_none() {
            let read = self.storage.raw.read_stored(raw, &mut self.buffer);
            let read = read.map_err(|fault| DatasetFault::StoredChunk { raw: raw.0, fault })?;
            let Some((bytes, mask)) = read else { return Ok(()) };
            return write(self.survey, self.cleaner.as_mut(), &self.writer, raw, (bytes, mask));
        }
        let is_next = !self.run.is_empty() && chunk.address == self.run_end;
        if !is_next || self.run_bytes.saturating_add(chunk.size) > WINDOW {
            self.flush()?;
        }
        self.run.push(chunk);
        self.run_bytes = self.run_bytes.saturating_add(chunk.size);
        self.run_end = chunk.address.saturating_add(chunk.size);
        Ok(())
    }

    /// Copies those that wait.
    pub(super) fn end(mut self) -> Result<(), DatasetFault> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), DatasetFault> {
        let (Some(first), Some(file)) = (self.run.first(), self.file.addresses()) else {
            return Ok(());
        };
        let failed = |fault| DatasetFault::StoredChunk { raw: first.raw.0, fault };
        let read = read_stored(file, first.address, self.run_bytes, &mut self.buffer);
        let mut rest = read.map_err(failed)?;
        for chunk in &self.run {
            // As long as they are together.
            let size = usize::try_from(chunk.size).unwrap_or(usize::MAX).min(rest.len());
            let (bytes, later) = rest.split_at(size);
            rest = later;
            let stored = (bytes, chunk.filter_mask);
            write(self.survey, self.cleaner.as_mut(), &self.writer, chunk.raw, stored)?;
        }
        self.run.clear();
        self.run_bytes = 0;
        Ok(())
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
