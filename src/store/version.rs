use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrono::{DateTime, Utc};
use h5strata_ffi::h5l::Link;
use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::id::Group;
use h5strata_ffi::{Lock, h5g, h5l, h5o};

use super::attribute::Attribute;
use super::dataset::Dataset;
use super::error::{Error, FormatFault, nearest};
use super::file::FileInner;
use super::history;
use super::names::{VERSION_ATTRIBUTES, VERSIONS};
use super::session::{Reopened, Session};
use crate::ondisk::{ObjectHeader, SearchEnd};

/// How deep groups may lie in each other: a limit against files whose groups hold themselves.
const MAX_DEPTH: usize = 64;

/// How many groups and datasets a version may hold: the same limit, for groups that hold each other twice.
const MAX_ENTRIES: usize = 1 << 20;

/// One committed version of a file. Cheap to clone; may be shared between threads.
#[derive(Clone, Debug)]
pub struct Version {
    pub(super) inner: Arc<VersionInner>,
}

#[derive(Debug)]
pub(super) struct VersionInner {
    pub(super) file: Arc<FileInner>,
    group: Reopened<Group>,
    pub(super) name: String,
    /// What is at each path, once everything was listed.
    kinds: OnceLock<HashMap<String, EntryKind>>,
    /// Where the list of the dataset that was opened last was found, in a state of the file.
    last_list: Mutex<(u64, Option<SearchEnd>)>,
}

impl VersionInner {
    /// Its group, open in libhdf5 as long as the session.
    pub(super) fn group(&self, session: &Session) -> Result<Arc<Group>, h5strata_ffi::Error> {
        self.group.get(session, || h5g::open(session.lock(), &session.versions, &self.name))
    }

    /// Opens something, in a state of the file, whose list is probably behind that of what was opened before.
    pub(super) fn next_list<T>(
        &self,
        state: u64,
        open: impl FnOnce(&mut Option<SearchEnd>) -> T,
    ) -> T {
        let mut last = self.last_list.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != state {
            *last = (state, None);
        }
        open(&mut last.1)
    }
}

/// A group or dataset of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path in the version, without a slash in front.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an [`Entry`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A group.
    Group,
    /// A dataset.
    Dataset,
    /// Neither: a named type, or a link that leads to no object. [`Version::kind`] tells what is wrong with it.
    Other,
}

impl Version {
    /// A version that exists.
    pub(super) fn open(file: Arc<FileInner>, name: &str) -> Result<Self, Error> {
        if !history::is_committed(&file, name)? {
            let (file, version) = (file.path.clone(), name.to_owned());
            return Err(Error::NotCommitted { file, version });
        }
        let (group, name) = (Reopened::default(), name.to_owned());
        let (kinds, last_list) = (OnceLock::new(), Mutex::default());
        Ok(Self { inner: Arc::new(VersionInner { file, group, name, kinds, last_list }) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Name of its parent; `None` for a root.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Attribute`], [`Error::Library`].
    pub fn parent(&self) -> Result<Option<String>, Error> {
        history::parent(&self.inner.file, &self.inner.name)
    }

    /// When it was committed.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Attribute`], [`Error::Library`].
    pub fn timestamp(&self) -> Result<DateTime<Utc>, Error> {
        history::timestamp(&self.inner.file, &self.inner.name)
    }

    /// The user's attributes of the version; those of the format are left out.
    ///
    /// # Errors
    /// [`Error::Attribute`], [`Error::Library`].
    pub fn attributes(&self) -> Result<Vec<Attribute>, Error> {
        self.inner.attributes("", &VERSION_ATTRIBUTES)
    }

    /// The user's attributes of a group or dataset; `""` is the version itself.
    ///
    /// # Errors
    /// [`Error::UnknownObject`], [`Error::Attribute`], [`Error::Library`].
    pub fn attributes_of(&self, path: &str) -> Result<Vec<Attribute>, Error> {
        let path = trim(path);
        if path.is_empty() {
            return self.attributes();
        }
        match self.kind(path)? {
            EntryKind::Group | EntryKind::Other => self.inner.attributes(path, &[]),
            EntryKind::Dataset => self.inner.dataset_attributes(path),
        }
    }

    /// All groups and datasets, each group followed by what is in it, names in order of their bytes.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let entries = match self.inner.file.latest_entries(self.name()) {
            Some(entries) => entries.to_vec(),
            None => self.entries_below("")?,
        };
        let kind = |entry: &Entry| (entry.path.clone(), entry.kind);
        self.inner.kinds.get_or_init(|| entries.iter().map(kind).collect());
        Ok(entries)
    }

    /// The groups and datasets below a group; `""` is the version itself.
    ///
    /// # Errors
    /// [`Error::UnknownObject`], [`Error::WrongKind`], [`Error::Library`].
    pub fn entries_below(&self, path: &str) -> Result<Vec<Entry>, Error> {
        let path = trim(path);
        if !path.is_empty() && self.kind(path)? != EntryKind::Group {
            return Err(self.wrong_kind(path, "group"));
        }
        let mut entries = Vec::new();
        self.collect(path, 0, &mut entries)?;
        Ok(entries)
    }

    /// Paths of all datasets, in the order of [`entries`](Self::entries).
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn datasets(&self) -> Result<Vec<String>, Error> {
        let entries = self.entries()?.into_iter();
        Ok(entries.filter(|e| e.kind == EntryKind::Dataset).map(|e| e.path).collect())
    }

    /// What the object at a path is: a group or a dataset.
    ///
    /// # Errors
    /// [`Error::UnknownObject`], [`Error::WrongKind`], [`Error::Library`].
    pub fn kind(&self, path: &str) -> Result<EntryKind, Error> {
        let path = trim(path);
        match self.find(path)? {
            Some(kind) => Ok(kind),
            None => Err(self.unknown(path, self.datasets()?)),
        }
    }

    /// The dataset at a path such as `equity/close`.
    ///
    /// # Errors
    /// [`Error::UnknownObject`], [`Error::WrongKind`], [`Error::Dataset`], [`Error::Library`].
    pub fn dataset(&self, path: &str) -> Result<Dataset, Error> {
        let path = trim(path);
        let _entered = self.inner.file.enter()?;
        match self.kind(path)? {
            EntryKind::Dataset => Dataset::open(Arc::clone(&self.inner), path),
            EntryKind::Group | EntryKind::Other => Err(self.wrong_kind(path, "dataset")),
        }
    }

    /// Whether there is a dataset at a path.
    pub(super) fn has_dataset(&self, path: &str) -> bool {
        matches!(self.find(trim(path)), Ok(Some(EntryKind::Dataset)))
    }

    /// What the object at a path is; `None` if there is none.
    pub(super) fn find(&self, path: &str) -> Result<Option<EntryKind>, Error> {
        let known = self.inner.kinds.get().and_then(|kinds| kinds.get(path));
        if let Some(&kind @ (EntryKind::Group | EntryKind::Dataset)) = known {
            return Ok(Some(kind));
        }
        let session = self.inner.file.session().map_err(self.library(path))?;
        let lock = session.lock();
        let group = self.inner.group(&session).map_err(self.library(path))?;
        // Only ordinary names: `..` is an ordinary name to HDF5, and "." would be the version itself.
        let exists = !path.is_empty()
            && path.split('/').all(|part| !part.is_empty() && part != ".")
            && match h5l::exists(lock, &group, path) {
                // libhdf5 fails where a path goes on below what is no group.
                Err(_) if is_below_dataset(lock, &group, path) => false,
                exists => exists.map_err(self.library(path))?,
            };
        if !exists {
            return Ok(None);
        }
        let object = h5o::object(lock, &group, path).map_err(self.library(path))?;
        match object.kind {
            ObjectKind::Group => Ok(Some(EntryKind::Group)),
            ObjectKind::Dataset => Ok(Some(EntryKind::Dataset)),
            _ => Err(self.wrong_kind(path, "group or dataset")),
        }
    }

    fn collect(&self, path: &str, depth: usize, entries: &mut Vec<Entry>) -> Result<(), Error> {
        let links = {
            let session = self.inner.file.session().map_err(self.library(path))?;
            let here = if path.is_empty() { "." } else { path };
            let version = self.inner.group(&session).map_err(self.library(path))?;
            let group = h5g::open(session.lock(), &*version, here).map_err(self.library(path))?;
            h5l::links(session.lock(), &group).map_err(self.library(path))?
        };
        for (name, link) in links {
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            // One bad name does not hide the others, not even one that is listed and not found.
            let kind = match self.leads_to_dataset(link) {
                true => EntryKind::Dataset,
                false => self.find(&path).ok().flatten().unwrap_or(EntryKind::Other),
            };
            entries.push(Entry { path: path.clone(), kind });
            if entries.len() > MAX_ENTRIES {
                let fault = FormatFault::TooManyEntries { most: MAX_ENTRIES };
                return Err(self.inner.file.format(&format!("{VERSIONS}/{}", self.name()), fault));
            }
            if kind == EntryKind::Group && depth < MAX_DEPTH {
                self.collect(&path, depth + 1, entries)?;
            }
        }
        Ok(())
    }

    /// Whether a link leads to a dataset, as far as the file shows it: most do, and libhdf5 takes ten times as long.
    fn leads_to_dataset(&self, link: Link) -> bool {
        let file = &self.inner.file;
        let (Link::Hard { address }, Some((bytes, superblock))) = (link, file.read_at()) else {
            return false;
        };
        let header = file.read_whole(|| ObjectHeader::read(bytes, superblock, address));
        header.is_ok_and(|header| header.is_dataset())
    }

    fn library(&self, path: &str) -> impl FnOnce(h5strata_ffi::Error) -> Error + use<> {
        self.inner.file.library(&format!("{VERSIONS}/{}/{path}", self.inner.name))
    }

    /// `known`: paths to suggest the nearest of.
    fn unknown(&self, path: &str, known: Vec<String>) -> Error {
        Error::UnknownObject {
            file: self.inner.file.path.clone(),
            version: self.inner.name.clone(),
            object: path.to_owned(),
            nearest: nearest(path, &known),
            known,
        }
    }

    fn wrong_kind(&self, path: &str, expected: &'static str) -> Error {
        let (file, version) = (self.inner.file.path.clone(), self.inner.name.clone());
        Error::WrongKind { file, version, object: path.to_owned(), expected }
    }
}

fn is_below_dataset(lock: &Lock, group: &Group, path: &str) -> bool {
    path.match_indices('/').any(|(end, _)| {
        let above = h5o::object(lock, group, &path[..end]);
        above.is_ok_and(|object| object.kind == ObjectKind::Dataset)
    })
}

/// A path without the slashes that users put around it.
pub(super) fn trim(path: &str) -> &str {
    path.trim_matches('/')
}
