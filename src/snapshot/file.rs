use std::path::{Path, PathBuf};
use std::sync::Arc;

use h5strata_ffi::h5fd::Failure;
use h5strata_ffi::id::Group;
use h5strata_ffi::{h5g, h5l, h5o};

use super::dataset::SnapshotDataset;
use super::not_carried::{NotCarried, Reason};
use super::walk::walk;
use crate::store::{Attribute, Direct, Entry, EntryKind, Error, open_plain, plain_library_error};

/// A plain HDF5 or NetCDF-4 file, opened for reading: what it holds below a group. Cheap to clone; may be shared
/// between threads.
///
/// Paths are those below the group, without a slash in front; `""` is the group itself.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) inner: Arc<SnapshotInner>,
}

#[derive(Debug)]
pub(super) struct SnapshotInner {
    pub(super) path: PathBuf,
    /// The group that the content lies in. The file stays open with it.
    pub(super) root: Group,
    pub(super) direct: Option<Direct>,
    /// Why libhdf5 was not given what it has asked for last.
    pub(super) failure: Failure,
    /// Number of the file among the open ones, which its own objects have and those behind external links have not.
    pub(super) file_number: u64,
    entries: Vec<Entry>,
    not_carried: Vec<NotCarried>,
}

impl Snapshot {
    /// Opens a file and lists what it holds.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NotHdf5`], [`Error::Truncated`], [`Error::Locked`], [`Error::NotClosed`],
    /// [`Error::Library`]; [`Error::TooManyObjects`] for groups that hold each other without end.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_below(path, "")
    }

    /// Opens a file and lists what it holds below a group.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::NoGroup`].
    pub fn open_below(path: impl AsRef<Path>, group: &str) -> Result<Self, Error> {
        let path = path.as_ref();
        let group = group.trim_matches('/');
        let (file, direct, failure) = open_plain(path)?;
        let (root, object) = {
            let lock = h5strata_ffi::lock();
            let failed = || plain_library_error(path, group);
            let name = if group.is_empty() { "/" } else { group };
            let exists = h5l::exists(&lock, &file, name).unwrap_or(false)
                && h5o::object(&lock, &file, name).is_ok_and(|o| o.kind == h5o::ObjectKind::Group);
            if !exists {
                return Err(Error::NoGroup { file: path.to_owned(), group: group.to_owned() });
            }
            let root = h5g::open(&lock, &file, name).map_err(failed())?;
            let object = h5o::object(&lock, &root, ".").map_err(failed())?;
            (root, object)
        };
        let (entries, not_carried) = walk(path, &root, &object)?;
        let path = path.to_owned();
        let file_number = object.file_number;
        let inner =
            SnapshotInner { path, root, direct, failure, file_number, entries, not_carried };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The file's path, as it was opened.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The groups and datasets, each group followed by what is in it.
    pub fn entries(&self) -> &[Entry] {
        &self.inner.entries
    }

    /// What was found that is neither group nor dataset, or cannot be reached.
    pub fn not_carried(&self) -> &[NotCarried] {
        &self.inner.not_carried
    }

    /// A dataset, if a version can have one like it.
    ///
    /// # Errors
    /// [`Error::Library`] also if there is none, [`Error::PlainDataset`].
    pub fn dataset(&self, path: &str) -> Result<Result<SnapshotDataset, Reason>, Error> {
        SnapshotDataset::open(self, path.trim_matches('/'))
    }

    /// The attributes of a group or dataset that an object of a version can have, and those that it cannot.
    ///
    /// # Errors
    /// [`Error::Attribute`], [`Error::Library`].
    pub fn attributes(
        &self,
        path: &str,
        kind: EntryKind,
    ) -> Result<(Vec<Attribute>, Vec<NotCarried>), Error> {
        super::attributes::read(&self.inner, path.trim_matches('/'), kind)
    }
}

impl SnapshotInner {
    /// Tells of which object a failure of libhdf5 is.
    pub(super) fn library(
        &self,
        object: &str,
    ) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
        plain_library_error(&self.path, object)
    }
}
