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
//! another matter.

mod chunks;
mod proof;
mod rows;
mod storage;
mod strings;
mod survey;

use h5strata_ffi::id::Datatype;

use self::chunks::ChunkCopier;
use self::proof::CopyProof;
use self::survey::Survey;
use super::super::commit::{Meter, write_rows};
use super::super::error::Error;
use super::carry::{Carried, CarriedSettings, Carrier, Context, Proof};
use super::target::Target;
use super::uses::{Source, Use};
use crate::dims::{ChunkIndex, RawChunk};

/// Copies chunks as they are stored.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::store) struct Copy;

impl Carrier for Copy {
    fn begin<'s>(
        &self,
        context: Context<'s>,
        source: &'s Source,
        target: &mut Target<'_>,
    ) -> Result<Box<dyn Carried + 's>, Error> {
        let survey = Survey::make(&context, source)?;
        let datatype = storage::create(&context, source, survey.kept.count(), target)?;
        let failed = |fault| context.error(source, fault);
        let raw = &source.storage.raw;
        let meter = Meter::new(context.on_progress, &source.path, raw.chunk_bytes());
        meter.expect(survey.kept.count());
        let mut copier = ChunkCopier::new(&context, source, &survey, &meter, target)?;
        survey.in_order(|raw| copier.copy(raw)).map_err(failed)?;
        copier.end().map_err(failed)?;
        let rows = rows::of(context.file, &source.storage, &source.path, &survey);
        let rows = rows.map_err(failed)?;
        let lock = h5strata_ffi::lock();
        write_rows(&lock, target.file(&lock)?, &source.path, &rows).map_err(failed)?;
        Ok(Box::new(Copied { context, source, survey, datatype }))
    }
}

/// A dataset whose chunks were copied.
struct Copied<'s> {
    context: Context<'s>,
    source: &'s Source,
    survey: Survey,
    datatype: Datatype,
}

impl Carried for Copied<'_> {
    fn settings(&self) -> CarriedSettings<'_> {
        let storage = &self.source.storage;
        let (chunk_shape, fill) = (storage.raw.chunk_shape(), &storage.fill);
        CarriedSettings { datatype: &self.datatype, chunk_shape, fill }
    }

    fn map(&mut self, one: &Use, _: &mut Target<'_>) -> Result<Vec<(ChunkIndex, RawChunk)>, Error> {
        let dataset = self.context.open(one)?;
        let map = dataset.inner.map_once().map_err(dataset.inner.error())?;
        let new = |(chunk, raw)| Some((chunk, self.survey.kept.new_number(raw)?));
        Ok(map.iter().filter_map(new).collect())
    }

    fn end(self: Box<Self>, _: &mut Target<'_>) -> Result<Box<dyn Proof>, Error> {
        Ok(Box::new(CopyProof::new(self.survey, &self.source.path, self.context.is_partial)))
    }
}
