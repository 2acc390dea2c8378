//! Other settings, as a way for chunks to get into a new file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use h5strata_ffi::id::Datatype;
use h5strata_ffi::{h5d, h5t};

use super::Changes;
use super::report::RewrittenDataset;
use super::settings::Change;
use super::transcode::{TranscodeProof, Transcoder, elements};
use crate::raw::Threads;
use crate::store::VersionedFile;
use crate::store::dataset::Dataset;
use crate::store::describe;
use crate::store::error::{DatasetFault, Error};
use crate::store::names::{CHUNKS, raw_data_path};
use crate::store::rebuild::{
    Begin, Carried, CarriedSettings, Carrier, Context, Copy, NewList, Proof, Source, Target, Use,
    copy_of_storage,
};
use crate::store::storage::Storage;

/// How the chunks of datasets get to a new file in which some of them have other settings.
#[derive(Default)]
pub(in crate::store) struct Carriers {
    rewritten: HashMap<String, Rewriting>,
    reports: Reports,
}

impl Carriers {
    /// For the datasets of a file that change; those that do not are copied as they are stored.
    pub(super) fn new(file: &VersionedFile, changes: &Changes) -> Result<Self, Error> {
        let versions = file.versions()?.iter();
        let parents: HashMap<String, String> = versions
            .filter_map(|version| Some((version.name.clone(), version.parent.clone()?)))
            .collect();
        let (parents, reports) = (Arc::new(parents), Reports::default());
        let rewriting = |(path, change): (&String, &Change)| {
            let (parents, reports) = (Arc::clone(&parents), Arc::clone(&reports));
            (path.clone(), Rewriting { change: change.clone(), parents, reports })
        };
        let changed = changes.iter().filter(|(_, change)| change.is_any());
        Ok(Self { rewritten: changed.map(rewriting).collect(), reports })
    }

    /// That of the dataset whose chunks are stored at a path.
    pub(in crate::store) fn of(&self, path: &str) -> &dyn Carrier {
        match self.rewritten.get(path) {
            Some(rewriting) => rewriting,
            None => &Copy,
        }
    }

    /// What was done with each of those that change.
    pub(super) fn reports(&self) -> Vec<RewrittenDataset> {
        std::mem::take(&mut *self.reports.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reports of datasets that were rewritten.
type Reports = Arc<Mutex<Vec<RewrittenDataset>>>;

/// Brings the chunks of one dataset to a new file in other settings.
struct Rewriting {
    change: Change,
    /// Parents of the versions, by their names.
    parents: Arc<HashMap<String, String>>,
    reports: Reports,
}

impl Carrier for Rewriting {
    fn prepare<'s>(&'s self, context: Context<'s>, source: &'s Source) -> Result<Begin<'s>, Error> {
        Ok(Box::new(move |target| Ok(Box::new(self.begin(context, source, target)?))))
    }
}

impl Rewriting {
    fn begin<'s>(
        &self,
        context: Context<'s>,
        source: &'s Source,
        target: &mut Target<'_>,
    ) -> Result<Rewritten<'s>, Error> {
        let (change, file) = (self.change.clone(), context.file);
        let failed = |fault| context.error(source, fault);
        let datatype = datatype(&context, source, &change).map_err(|e| failed(e.into()))?;
        let mut total: u64 = 0;
        for one in &source.uses {
            total = total.saturating_add(elements(&context.open(one)?));
        }
        let threads = file.inner.threads();
        let new = {
            let lock = h5strata_ffi::lock();
            target.file(&lock)?
        };
        let on_progress = context.on_progress;
        let transcoder =
            Transcoder::create(new, &source.path, &datatype, change, threads, on_progress, total);
        let transcoder = transcoder.map_err(failed)?;
        let path = raw_data_path(&source.path);
        let session = file.inner.session().map_err(file.inner.library(&path))?;
        let (lock, old) = (session.lock(), &session.file);
        copy_of_storage(&file.inner, lock, old, new, &source.path, &[CHUNKS])?;
        drop(session);
        let (parents, reports) = (Arc::clone(&self.parents), Arc::clone(&self.reports));
        Ok(Rewritten { context, source, transcoder, datatype, parents, reports })
    }
}

/// The type of the elements in the new file: the old one itself, if it stays.
fn datatype(
    context: &Context<'_>,
    source: &Source,
    change: &Change,
) -> Result<Datatype, h5strata_ffi::Error> {
    let session = context.file.inner.session()?;
    let lock = session.lock();
    if change.old.dtype == change.new.dtype {
        let raw_data = h5d::open(lock, &session.file, &source.storage.path)?;
        return h5t::copy_portable(lock, &h5d::datatype(lock, &raw_data)?);
    }
    match describe::description(&change.new.dtype) {
        Ok(description) => h5t::create(lock, &description),
        // That there is a description was checked before.
        Err(_) => {
            let (what, expected) = ("H5Tcreate", "a type that can be made");
            Err(h5strata_ffi::Error::TypeClass { what, expected })
        }
    }
}

/// A dataset that is being rewritten.
struct Rewritten<'s> {
    context: Context<'s>,
    source: &'s Source,
    transcoder: Transcoder<'s>,
    datatype: Datatype,
    parents: Arc<HashMap<String, String>>,
    reports: Reports,
}

impl Carried for Rewritten<'_> {
    fn settings(&self) -> CarriedSettings<'_> {
        let settings = self.transcoder.settings();
        CarriedSettings {
            datatype: &self.datatype,
            chunk_shape: &settings.chunk_shape,
            fill: &settings.fill,
        }
    }

    fn list(&mut self, one: &Use, target: &mut Target<'_>) -> Result<NewList, Error> {
        let dataset = self.context.open(one)?;
        let new = {
            let lock = h5strata_ffi::lock();
            target.file(&lock)?
        };
        let parent = self.parents.get(dataset.version()).map(String::as_str);
        let map = self.transcoder.version(new, &dataset, parent);
        map.map(NewList::Of).map_err(dataset.inner.error())
    }

    fn end(self: Box<Self>, target: &mut Target<'_>) -> Result<Box<dyn Proof>, Error> {
        let Self { context, source, transcoder, reports, .. } = *self;
        let lock = h5strata_ffi::lock();
        let ended = transcoder.finish(&lock, target.file(&lock)?, &context.file.inner);
        let (report, proof) = ended.map_err(|fault| context.error(source, fault))?;
        reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
        Ok(Box::new(proof))
    }
}

impl Proof for TranscodeProof {
    fn holds_for(&self, old: &Dataset, new: &Dataset) -> Result<bool, DatasetFault> {
        Ok(old.shape() == new.shape() && self.maps.has(new)?)
    }

    fn chunks(&self) -> u64 {
        self.stack.chunks()
    }

    fn holds_for_storage(
        &self,
        _: (&VersionedFile, &Storage),
        (file, storage): (&VersionedFile, &Storage),
        threads: Threads<'_>,
    ) -> Result<bool, DatasetFault> {
        self.stack.holds_for(&file.inner, storage, threads)
    }
}
