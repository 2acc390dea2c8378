//! How the chunks of one dataset get into the new file.

use h5strata_ffi::id::Datatype;

use super::super::dataset::Dataset;
use super::super::error::{DatasetFault, Error};
use super::super::file::VersionedFile;
use super::super::storage::{Fill, Storage};
use super::target::Target;
use super::uses::{OpenVersion, Source, Use};
use crate::dims::{ChunkIndex, RawChunk};
use crate::ondisk::ObjectRange;
use crate::raw::Threads;
use crate::snapshot::OnProgress;

/// What is known to who carries chunks.
#[derive(Clone, Copy)]
pub(in crate::store) struct Context<'c> {
    /// The old file.
    pub(in crate::store) file: &'c VersionedFile,
    pub(super) versions: &'c [OpenVersion],
    /// Which of the versions is the current one.
    pub(in crate::store) current: Option<usize>,
    /// Whether the new file must hold nothing that only versions have that it lacks.
    pub(in crate::store) is_partial: bool,
    pub(in crate::store) on_progress: Option<&'c OnProgress>,
}

/// Brings the chunks of datasets to the new file: as they are stored, or in other settings.
///
/// No lock is held when any of this is called: threads that wait for each other would wait for it.
pub(in crate::store) trait Carrier: Sync {
    /// Looks at a dataset, which may be while another one is brought to the new file.
    fn prepare<'s>(&'s self, context: Context<'s>, source: &'s Source) -> Result<Begin<'s>, Error>;
}

/// Makes the `raw_data` and the hash table of a dataset in the new file. The chunks may come now or
/// [later](Carried::list).
pub(in crate::store) type Begin<'s> =
    Box<dyn FnOnce(&mut Target<'_>) -> Result<Box<dyn Carried + 's>, Error> + Send + 's>;

/// A dataset whose chunks are being brought to the new file.
pub(in crate::store) trait Carried {
    /// What its versions are made of there.
    fn settings(&self) -> CarriedSettings<'_>;

    /// The list of mappings that a version has in the new file. Called for each of the source's uses, in their order.
    /// Chunks that are not in the new file yet are written.
    fn list(&mut self, one: &Use, target: &mut Target<'_>) -> Result<NewList, Error>;

    /// Writes what is left, after the last version. What is returned can tell whether all is there.
    fn end(self: Box<Self>, target: &mut Target<'_>) -> Result<Box<dyn Proof>, Error>;
}

/// The list of mappings of a version's dataset in the new file.
#[derive(Debug)]
pub(in crate::store) enum NewList {
    /// Which of the new file's raw chunks stands behind each chunk, in rising order.
    Of(Vec<(ChunkIndex, RawChunk)>),
    /// The bytes of the one in the old file.
    Old(ObjectRange),
}

/// What the datasets of versions are made of.
#[derive(Clone, Copy)]
pub(in crate::store) struct CarriedSettings<'s> {
    pub(in crate::store) datatype: &'s Datatype,
    pub(in crate::store) chunk_shape: &'s [u64],
    pub(in crate::store) fill: &'s Fill,
}

/// Knows whether a dataset is in the new file as it has to be.
pub(in crate::store) trait Proof: Send + Sync {
    /// Whether a version's dataset there shows the stored chunks that it has to.
    fn holds_for(&self, old: &Dataset, new: &Dataset) -> Result<bool, DatasetFault>;

    /// Number of stored chunks.
    fn chunks(&self) -> u64;

    /// Whether these stored chunks, and the rows of the hash table, are what they have to be.
    fn holds_for_storage(
        &self,
        old: (&VersionedFile, &Storage),
        new: (&VersionedFile, &Storage),
        threads: Threads<'_>,
    ) -> Result<bool, DatasetFault>;
}

impl Context<'_> {
    /// A dataset of a version.
    pub(in crate::store) fn open(&self, one: &Use) -> Result<Dataset, Error> {
        one.open(self.versions)
    }

    pub(in crate::store) fn threads(&self) -> Threads<'_> {
        self.file.inner.threads()
    }

    /// A fault of the dataset at a path in a version.
    pub(super) fn error_of(&self, version: usize, path: &str, fault: DatasetFault) -> Error {
        let version = self.versions.get(version).map(|open| open.version.name());
        Error::Dataset {
            file: self.file.inner.path.clone(),
            version: version.unwrap_or_default().to_owned(),
            dataset: path.to_owned(),
            fault: Box::new(fault),
        }
    }

    /// A fault of the chunks of a source, of which one version is named.
    pub(in crate::store) fn error(&self, source: &Source, fault: DatasetFault) -> Error {
        match source.uses.first() {
            Some(first) => self.error_of(first.version, &first.path, fault),
            None => self.error_of(0, &source.path, fault),
        }
    }
}
