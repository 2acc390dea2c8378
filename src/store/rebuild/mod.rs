//! A new file of some of the versions of another one.
//!
//! ```text
//! history ──► surviving versions, their parents ──► groups, attributes
//!                                                        │
//! lists of mappings ──► which chunks are kept ──► stored chunks, tables of digests     dataset by dataset
//!                                                        │
//!                                                        └──► datasets of the versions, their lists
//! what is beside the versions ──► copied          then: all is read in the new file and compared
//! ```
//!
//! What is not named by a surviving version does not get into the new file: it has nothing that was freed. Memory is
//! bounded: of one dataset a thread the addresses of its chunks and the rows of its table, 80 bytes a chunk; maps of 48 MiB,
//! 32 MiB of lists, and a few chunks.

mod attributes;
mod carry;
mod copy;
mod datasets;
mod kept;
mod others;
mod prove;
mod report;
mod survivors;
mod target;
#[cfg(test)]
mod tests;
mod tree;
mod uses;

use std::collections::HashSet;

pub(super) use self::attributes::copy_of_storage;
pub(super) use self::carry::{Begin, Carried, CarriedSettings, Carrier, Context, NewList, Proof};
pub(super) use self::copy::Copy;
use self::datasets::DatasetWriter;
pub use self::report::RebuildReport;
pub(super) use self::survivors::Survivors;
pub(super) use self::target::Target;
use self::uses::Content;
pub(super) use self::uses::{Source, Use};
use super::error::{DataVersionReason, Error};
use super::file::VersionedFile;
use super::names::NEWEST_DATA_VERSION;
use super::replace::NewFile;
use crate::snapshot::OnProgress;

/// What is to be made.
pub(super) struct Plan<'p> {
    pub(super) survivors: &'p Survivors,
    /// How the chunks of the dataset at a path get there.
    pub(super) carrier: &'p dyn Fn(&str) -> &'p dyn Carrier,
    pub(super) on_progress: Option<&'p OnProgress>,
}

/// Makes `new` a file of the surviving versions of `file`, and reads it to see that it is.
pub(super) fn rebuild(
    file: &VersionedFile,
    new: &NewFile,
    plan: &Plan<'_>,
) -> Result<RebuildReport, Error> {
    write(file, new, plan, |context, sources, proofs| {
        prove::prove(context, new, plan.survivors, sources, proofs)
    })
}

/// Writes the new file, and has `then` look at it.
fn write(
    file: &VersionedFile,
    new: &NewFile,
    plan: &Plan<'_>,
    then: impl FnOnce(Context<'_>, &[Source], &[Box<dyn Proof>]) -> Result<RebuildReport, Error>,
) -> Result<RebuildReport, Error> {
    let inner = &file.inner;
    if inner.data_version() != NEWEST_DATA_VERSION {
        let reason = match inner.data_version() {
            1 => DataVersionReason::OldHashes,
            _ => DataVersionReason::WrongHashes,
        };
        let (file, found) = (inner.path.clone(), inner.data_version());
        return Err(Error::DataVersion { file, found, reason });
    }
    let survivors = plan.survivors;
    let mut content = Content::find(file, survivors)?;
    let user_block = inner.read_at().map_or(0, |(_, superblock)| superblock.base_address);
    let mut target = Target::create(new, user_block)?;
    tree::write(file, survivors, &content, &mut target)?;
    others::copy(file, &mut target)?;
    let current = survivors.current.as_deref();
    let current = survivors.versions.iter().position(|one| Some(one.name.as_str()) == current);
    let sources = std::mem::take(&mut content.sources);
    let context = Context {
        file,
        versions: &content.versions,
        current,
        is_partial: survivors.is_partial,
        on_progress: plan.on_progress,
    };
    let mut opened = Vec::with_capacity(sources.len());
    for (raw_data, uses) in sources {
        let (first, path) = uses
            .first()
            .map_or((0, "".into()), |one| (one.version, std::sync::Arc::clone(&one.path)));
        let source = Source::open(file, &raw_data, uses);
        opened.push(source.map_err(|fault| context.error_of(first, &path, fault))?);
    }
    let proofs = DatasetWriter::new(context, &mut target)?.write_all(&opened, plan.carrier)?;
    target.finish(inner)?;
    then(context, &opened, &proofs)
}

impl VersionedFile {
    /// The versions that are left without those of these names, of the file as it is.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`], else as [`VersionedFile::versions`].
    pub(super) fn survivors(&self, deleted: &HashSet<&str>) -> Result<Survivors, Error> {
        let versions = self.versions()?;
        self.check_names(deleted)?;
        let current = match self.current_name() {
            Ok(name) => Some(name),
            Err(Error::NoVersions { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Survivors::without(versions, deleted, current.as_deref()))
    }

    /// Fails unless there is a version of each name.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`], else as [`VersionedFile::versions`].
    pub(super) fn check_names(&self, names: &HashSet<&str>) -> Result<(), Error> {
        let known: HashSet<&str> = self.versions()?.iter().map(|one| one.name.as_str()).collect();
        match names.difference(&known).next() {
            // Which tells of those with a name like it.
            Some(unknown) => self.version(unknown).map(drop),
            None => Ok(()),
        }
    }
}
