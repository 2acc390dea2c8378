//! Chunks that are copied as they are stored.
//!
//! ```text
//! maps of the versions ──► which raw chunks are kept ──► new numbers, in the old order
//!                                    │
//! stored chunks ─────────────────────┴──► in the order in which the current version reads them, then the others
//!                  padding that holds something ──► decoded, cleared, encoded
//! ```
//!
//! Numbers keep their order, so that a table of digests that was in order stays so; where the bytes lie in the file is
//! another matter. Where all numbers stay, as in a repack, lists of mappings are copied as they are stored too.

mod chunks;
mod pieces;
mod proof;
mod rows;
mod storage;
mod strings;
mod survey;

use h5strata_ffi::id::Datatype;

use self::chunks::ChunkCopier;
use self::pieces::{Piece, Pieces};
use self::proof::CopyProof;
use self::survey::Survey;
use super::super::commit::{Meter, write_rows};
use super::super::dataset::Dataset;
use super::super::error::{DatasetFault, Error};
use super::super::names::raw_data_path;
use super::carry::{Begin, Carried, CarriedSettings, Carrier, Context, NewList, Proof};
use super::target::{LENGTH_SIZE, Target};
use super::uses::{Source, Use};
use crate::chunk_map::vds_block::ChunkSources;
use crate::ondisk::ObjectRange;

/// Copies chunks as they are stored.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::store) struct Copy;

impl Carrier for Copy {
    fn prepare<'s>(&'s self, context: Context<'s>, source: &'s Source) -> Result<Begin<'s>, Error> {
        let survey = Survey::make(&context, source)?;
        let chunks = read_first(&context, source, &survey);
        let chunks = chunks.map_err(|fault| context.error(source, fault))?;
        Ok(Box::new(move |target| {
            Ok(Box::new(Copied::begin(context, source, survey, chunks, target)?))
        }))
    }
}

/// The chunks of a dataset, of which the first ones are read, unless they are of strings: those are not in the chunks.
fn read_first(
    context: &Context<'_>,
    source: &Source,
    survey: &Survey,
) -> Result<(Pieces, Piece), DatasetFault> {
    let (file, storage) = (&context.file.inner, &source.storage);
    let is_strings = storage.dtype.is_variable_string();
    if storage.dtype.has_pointers() && !is_strings {
        return Err(DatasetFault::Pointers { found: storage.dtype.clone() });
    }
    let (mut pieces, mut first) = (Pieces::new(file, storage, survey)?, Piece::default());
    if !is_strings {
        pieces.read_next(file, &mut first)?;
    }
    Ok((pieces, first))
}

/// A dataset whose chunks were copied.
struct Copied<'s> {
    context: Context<'s>,
    source: &'s Source,
    survey: Survey,
    datatype: Datatype,
}

impl<'s> Copied<'s> {
    fn begin(
        context: Context<'s>,
        source: &'s Source,
        survey: Survey,
        (pieces, first): (Pieces, Piece),
        target: &mut Target<'_>,
    ) -> Result<Self, Error> {
        let datatype = storage::create(&context, source, survey.kept.count(), target)?;
        let failed = |fault| context.error(source, fault);
        let raw = &source.storage.raw;
        let meter = Meter::new(context.on_progress, &source.path, raw.chunk_bytes());
        meter.expect(survey.kept.count());
        let copier = ChunkCopier::new(context, source, &survey, &meter, target)?;
        copier.copy(pieces, first).map_err(failed)?;
        let rows = rows::of(context.file, &source.storage, &source.path, &survey);
        let rows = rows.map_err(failed)?;
        let lock = h5strata_ffi::lock();
        write_rows(&lock, target.file(&lock)?, &source.path, &rows).map_err(failed)?;
        Ok(Self { context, source, survey, datatype })
    }

    /// The list of a version, where it can stay as it is: no raw chunk has another number.
    fn old_list(&self, dataset: &Dataset) -> Option<ObjectRange> {
        if !self.survey.kept.keeps_numbers() {
            return None;
        }
        let raw_data = raw_data_path(&self.source.path);
        let (shape, chunk_shape) = (dataset.shape(), dataset.chunk_shape());
        let sources = ChunkSources { shape, chunk_shape, raw_data: &raw_data };
        dataset.inner.list.stored_list_like(sources, LENGTH_SIZE)
    }
}

impl Carried for Copied<'_> {
    fn settings(&self) -> CarriedSettings<'_> {
        let storage = &self.source.storage;
        let (chunk_shape, fill) = (storage.raw.chunk_shape(), &storage.fill);
        CarriedSettings { datatype: &self.datatype, chunk_shape, fill }
    }

    fn list(&mut self, one: &Use, _: &mut Target<'_>) -> Result<NewList, Error> {
        let dataset = self.context.open(one)?;
        if let Some(list) = self.old_list(&dataset) {
            return Ok(NewList::Old(list));
        }
        let map = dataset.inner.map_once().map_err(dataset.inner.error())?;
        let new = |(chunk, raw)| Some((chunk, self.survey.kept.new_number(raw)?));
        Ok(NewList::Of(map.iter().filter_map(new).collect()))
    }

    fn end(self: Box<Self>, _: &mut Target<'_>) -> Result<Box<dyn Proof>, Error> {
        Ok(Box::new(CopyProof::new(self.survey, &self.source.path, self.context.is_partial)))
    }
}
