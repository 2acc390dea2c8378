//! Whether the new file shows what the old one does, before it gets its name.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::dataset::Dataset;
use super::super::error::Error;
use super::super::file::VersionedFile;
use super::super::history::VersionInfo;
use super::super::names::raw_data_path;
use super::super::open::{OpenOptions, io_error};
use super::super::replace::NewFile;
use super::super::version::Version;
use super::carry::{Context, Proof};
use super::report::RebuildReport;
use super::survivors::Survivors;
use super::uses::Source;

/// Reads the new file through a handle of its own, and compares; meanwhile it is made durable.
pub(super) fn prove(
    context: Context<'_>,
    new: &NewFile,
    survivors: &Survivors,
    sources: &[Source],
    proofs: &[Box<dyn Proof>],
) -> Result<RebuildReport, Error> {
    let (synced, proven) = context.threads().while_waiting(
        || new.sync(),
        || -> Result<(), Error> {
            let file = OpenOptions::new().open(new.path())?;
            // Nobody else knows of it.
            let _entered = file.inner.enter()?;
            let proving = Proving { context, file: &file, name: new.name() };
            let versions = proving.versions(survivors)?;
            let threads = context.threads();
            // What only one of them can do is done beside what others have threads for.
            let together = threads.count();
            for (sources, proofs) in sources.chunks(together).zip(proofs.chunks(together)) {
                let proven = sources.par_iter().zip(proofs);
                let proven =
                    proven.map(|(source, proof)| proving.source(source, &**proof, &versions));
                let proven: Vec<Result<(), Error>> = threads.install(|| proven.collect());
                proven.into_iter().collect::<Result<(), Error>>()?;
            }
            Ok(())
        },
    );
    proven?;
    synced?;
    let size = |path: &Path| {
        let metadata = std::fs::metadata(path).map_err(|source| io_error(new.name(), source));
        metadata.map(|metadata| metadata.len())
    };
    let old_bytes = match context.file.inner.read_at() {
        Some((bytes, _)) => bytes.size().map_err(|source| io_error(context.file.path(), source))?,
        None => size(context.file.path())?,
    };
    Ok(RebuildReport {
        versions: survivors.versions.len() as u64,
        datasets: sources.len() as u64,
        chunks: proofs.iter().map(|proof| proof.chunks()).sum(),
        old_bytes,
        new_bytes: size(new.path())?,
    })
}

struct Proving<'p> {
    context: Context<'p>,
    /// The new file.
    file: &'p VersionedFile,
    name: &'p Path,
}

impl Proving<'_> {
    fn differs(&self, object: &str) -> Error {
        Error::Differs { file: self.name.to_owned(), object: object.to_owned() }
    }

    /// The versions of the new file.
    fn versions(&self, survivors: &Survivors) -> Result<Vec<Version>, Error> {
        let old = self.context.file.versions()?;
        let found = self.file.versions()?;
        let times: HashMap<&str, &VersionInfo> =
            old.iter().map(|version| (version.name.as_str(), version)).collect();
        let expected = survivors.versions.iter().map(|one| {
            let timestamp = times.get(one.name.as_str()).map(|version| version.timestamp);
            (Some(one.name.as_str()), one.parent.as_deref(), timestamp)
        });
        let mut expected: Vec<_> = expected.collect();
        let mut found: Vec<_> = found
            .iter()
            .map(|one| (Some(one.name.as_str()), one.parent.as_deref(), Some(one.timestamp)))
            .collect();
        // Of equal times the order may be another one with other parents.
        expected.sort_unstable();
        found.sort_unstable();
        let current = match self.file.current_name() {
            Err(Error::NoVersions { .. }) => None,
            current => Some(current?),
        };
        if expected != found || current != survivors.current {
            return Err(self.differs("/_version_data/versions"));
        }
        survivors.versions.iter().map(|one| self.file.version(&one.name)).collect()
    }

    fn source(
        &self,
        source: &Source,
        proof: &dyn Proof,
        versions: &[Version],
    ) -> Result<(), Error> {
        let (context, path) = (self.context, raw_data_path(&source.path));
        let _entered = context.file.inner.enter()?;
        let same = source.uses.par_iter().map(|one| {
            let Some(version) = versions.get(one.version) else { return Ok(false) };
            let old = context.open(one)?;
            let new = Dataset::open(Arc::clone(&version.inner), &one.path)?;
            let holds = proof.holds_for(&old, &new);
            Ok(new.raw_data().0 == path && holds.map_err(old.inner.error())?)
        });
        let same: Result<Vec<bool>, Error> = context.threads().install(|| same.collect());
        if let Some(at) = same?.into_iter().position(|same| !same) {
            let one = source.uses.get(at);
            return Err(self.differs(one.map_or(&path, |one| &one.path)));
        }
        let storage = self.file.inner.storage(&path);
        let storage = storage.map_err(|fault| context.error(source, fault))?;
        let (old, new) = ((context.file, &*source.storage), (self.file, &*storage));
        let holds = proof.holds_for_storage(old, new, context.threads());
        if !holds.map_err(|fault| context.error(source, fault))? {
            return Err(self.differs(&path));
        }
        self.file.inner.forget_storage(&path);
        Ok(())
    }
}
