//! A version that is being made. Everything stands in memory until the commit: a stage that is dropped leaves the
//! file as it was.

mod base;
mod builder;
mod content;
mod dataset;
mod error;
mod options;
mod strings;
mod tree;

use std::sync::Arc;

use chrono::{DateTime, Utc};

pub(super) use self::base::box_selection;
pub use self::base::{BaseError, StringSource};
pub use self::builder::DatasetBuilder;
pub(super) use self::builder::check_filters;
pub(super) use self::content::Content;
pub(crate) use self::content::Settings;
pub use self::dataset::StagedDataset;
pub use self::error::StageFault;
pub use self::options::StageOptions;
pub(super) use self::strings::{HANDLE, StringArena, Strings};
pub(super) use self::tree::{AttributeChanges, Node, NodeKind, Tree};
use self::tree::{parents, subtree};
use super::attribute::Attribute;
use super::commit::{self, CommitReport};
use super::error::Error;
use super::file::{FileInner, VersionedFile};
use super::names::{DATASET_ATTRIBUTES, HASH_TABLE, RAW_DATA, VERSIONS};
use super::version::{Entry, EntryKind, Version};
use super::writer::StageGuard;
use crate::raw::Threads;
use crate::snapshot::OnProgress;

/// A new version of a file, which has the content of its parent until something is changed.
///
/// ```no_run
/// use h5strata::VersionedFile;
/// let mut file = VersionedFile::open_rw("prices.h5")?;
/// let mut stage = file.stage("2026-12-01")?;
/// let mut close = stage.dataset_mut("equity/close")?;
/// close.resize(&[5001, 3000])?;
/// close.write(ndarray::s![5000, ..], &ndarray::Array1::<f64>::zeros(3000))?;
/// let report = stage.commit()?;
/// println!("{} chunks written", report.chunks_written);
/// # Ok::<(), h5strata::Error>(())
/// ```
///
/// A committed stage is gone: writing to it does not compile.
///
/// ```compile_fail,E0382
/// # fn example(mut file: h5strata::VersionedFile) -> Result<(), h5strata::Error> {
/// let mut stage = file.stage("r1")?;
/// stage.commit()?;
/// stage.create_group("late")?;
/// # Ok(())
/// # }
/// ```
///
/// So does a handle to one of its datasets.
///
/// ```compile_fail,E0505
/// # fn example(mut file: h5strata::VersionedFile) -> Result<(), h5strata::Error> {
/// let mut stage = file.stage("r1")?;
/// let mut close = stage.dataset_mut("equity/close")?;
/// stage.commit()?;
/// close.resize(&[1])?;
/// # Ok(())
/// # }
/// ```
pub struct Stage<'f> {
    pub(super) file: &'f mut VersionedFile,
    pub(super) name: String,
    pub(super) parent: Option<Version>,
    pub(super) timestamp: Option<DateTime<Utc>>,
    pub(super) make_current: bool,
    pub(super) verify: bool,
    pub(super) on_progress: Option<OnProgress>,
    pub(super) tree: Tree,
    /// Those of the version itself.
    pub(super) attributes: AttributeChanges,
    _guard: StageGuard,
}

impl<'f> Stage<'f> {
    pub(super) fn open(
        file: &'f mut VersionedFile,
        name: &str,
        options: &StageOptions,
    ) -> Result<Self, Error> {
        let guard = file.begin_stage()?;
        let fault = |fault| Error::Stage {
            file: file.inner.path.clone(),
            version: name.to_owned(),
            path: String::new(),
            fault: Box::new(fault),
        };
        if name.is_empty()
            || name == "."
            || name.contains(['/', '\0'])
            || name == super::names::FIRST_VERSION
        {
            return Err(fault(StageFault::VersionName));
        }
        // What a stopped writer has left under the name is no version.
        if file.has_version(name)? && super::history::is_committed(&file.inner, name)? {
            return Err(fault(StageFault::VersionExists));
        }
        let parent = options.parent_of(file)?;
        let mut tree = Tree::new();
        for Entry { path, kind } in parent
            .iter()
            .map(Version::entries)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
        {
            let kind = match kind {
                EntryKind::Group => NodeKind::Group,
                EntryKind::Dataset => NodeKind::Unchanged,
                EntryKind::Other => NodeKind::Other,
            };
            let node =
                Node { origin: Some(path.clone()), attributes: AttributeChanges::default(), kind };
            tree.insert(path, node);
        }
        Ok(Self {
            name: name.to_owned(),
            parent,
            timestamp: options.timestamp,
            make_current: options.make_current,
            verify: options.verify,
            on_progress: options.on_progress.clone(),
            tree,
            attributes: AttributeChanges::default(),
            _guard: guard,
            file,
        })
    }

    /// Name of the version to be.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of its parent; `None` for a root.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_ref().map(Version::name)
    }

    /// The groups and datasets as they are staged, each group followed by what is in it.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self
            .tree
            .iter()
            .map(|(path, node)| Entry { path: path.clone(), kind: node.entry_kind() })
            .collect();
        entries.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        entries
    }

    /// What is staged at a path.
    pub fn kind(&self, path: &str) -> Option<EntryKind> {
        self.tree.get(path.trim_matches('/')).map(Node::entry_kind)
    }

    /// Makes a group, and those it lies in.
    ///
    /// # Errors
    /// [`Error::Stage`]: the path is taken or none.
    pub fn create_group(&mut self, path: &str) -> Result<(), Error> {
        let path = self.free_path(path)?;
        self.insert(path, Node::group());
        Ok(())
    }

    /// Begins a dataset at a path where there is none; the groups it lies in are made.
    pub fn create_dataset<'s>(&'s mut self, path: &str) -> DatasetBuilder<'s, 'f> {
        DatasetBuilder::new(self, path)
    }

    /// A staged dataset, to be changed and read. Nothing is read of it before it is asked for.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is none; as [`Version::dataset`].
    pub fn dataset_mut(&mut self, path: &str) -> Result<StagedDataset<'_>, Error> {
        let path = path.trim_matches('/');
        self.stage_content(path)?;
        StagedDataset::new(self, path)
    }

    /// Removes a dataset, or a group and all that is in it.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is none.
    pub fn delete(&mut self, path: &str) -> Result<(), Error> {
        let path = path.trim_matches('/');
        self.existing(path)?;
        for path in subtree(&self.tree, path) {
            self.tree.remove(&path);
        }
        Ok(())
    }

    /// Gives a dataset, or a group with all that is in it, another path.
    ///
    /// Stored chunks belong to a path (format-v4.md, "Tree"), so those of the datasets are stored again under the new one.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is none at `from`, or `to` is taken or lies in `from`.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        self.copy(from, to)?;
        self.delete(from)
    }

    /// Copies a dataset, or a group with all that is in it, attributes and all.
    ///
    /// # Errors
    /// As [`rename`](Self::rename).
    pub fn copy(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let from = from.trim_matches('/');
        self.existing(from)?;
        let to = self.free_path(to)?;
        if to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
            return Err(self.fault(&to, StageFault::IntoItself { from: from.to_owned() }));
        }
        let mut copies = Vec::new();
        for path in subtree(&self.tree, from) {
            let target = format!("{to}{}", &path[from.len()..]);
            copies.push((target.clone(), self.copy_of(&path, &target)?));
        }
        for (path, node) in copies {
            self.insert(path, node);
        }
        Ok(())
    }

    /// A copy of the node at `path`, to be put at `target`.
    fn copy_of(&self, path: &str, target: &str) -> Result<Node, Error> {
        let node = self.existing(path)?;
        let kind = match &node.kind {
            NodeKind::Group => NodeKind::Group,
            NodeKind::Other => return Err(self.fault(path, StageFault::NotCarried)),
            NodeKind::Unchanged => {
                let content = self.inherited(path, node.origin.as_deref().unwrap_or(path))?;
                NodeKind::Staged(Box::new(self.elsewhere(content, target)?))
            }
            NodeKind::Staged(content) => {
                NodeKind::Staged(Box::new(self.elsewhere(content.as_ref().clone(), target)?))
            }
        };
        Ok(Node { origin: node.origin.clone(), attributes: node.attributes.clone(), kind })
    }

    /// Checks that a dataset may be stored at another path.
    fn elsewhere(&self, content: Content, target: &str) -> Result<Content, Error> {
        self.check_agrees(target, &content.settings)?;
        Ok(content)
    }

    /// Attributes of the object at a path as they are staged; `""` is the version itself.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is none; as [`Version::attributes_of`].
    pub fn attributes(&self, path: &str) -> Result<Vec<Attribute>, Error> {
        let path = path.trim_matches('/');
        let (origin, changes) = match path {
            // A version does not inherit the attributes of its parent.
            "" => (None, &self.attributes),
            _ => {
                let node = self.existing(path)?;
                (node.origin.as_deref(), &node.attributes)
            }
        };
        let mut attributes = match (&self.parent, origin) {
            (Some(parent), Some(origin)) => parent.attributes_of(origin)?,
            _ => Vec::new(),
        };
        attributes
            .retain(|a| !changes.removed.contains(&a.name) && !changes.set.contains_key(&a.name));
        attributes.extend(changes.set.values().cloned());
        attributes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(attributes)
    }

    /// Sets an attribute of the object at a path; `""` is the version itself.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is no such object, the name is the format's, or the type cannot be written.
    pub fn set_attribute(&mut self, path: &str, attribute: Attribute) -> Result<(), Error> {
        let path = path.trim_matches('/');
        check_attribute(path, self.kind(path), &attribute)
            .map_err(|fault| self.fault(path, fault))?;
        self.changes_of(path)?.set(attribute);
        Ok(())
    }

    /// Removes an attribute of the object at a path; `""` is the version itself.
    ///
    /// # Errors
    /// [`Error::Stage`] if there is no such object or attribute.
    pub fn delete_attribute(&mut self, path: &str, name: &str) -> Result<(), Error> {
        let path = path.trim_matches('/');
        if !self.attributes(path)?.iter().any(|attribute| attribute.name == name) {
            return Err(self.fault(path, StageFault::NoAttribute { name: name.to_owned() }));
        }
        self.changes_of(path)?.remove(name);
        Ok(())
    }

    /// Writes the version to the file, all of it or nothing: a process that is killed on the way, and with
    /// [`Durability::Full`](crate::Durability::Full) a loss of power, leaves the old file or the new one, once it was
    /// [recovered](crate::RecoverOptions), which the next to open it does. See [`atomic`](crate::atomic) for how.
    ///
    /// Others may read the file meanwhile. Only the last step keeps them out, for as long as it takes to write what has
    /// changed in front of the file's old end; it waits until they have let go of the file, see
    /// [`OpenOptions::commit_patience`](super::OpenOptions::commit_patience).
    ///
    /// All handles of the file find the version then. Versions and datasets that were opened before go on showing
    /// what they showed.
    ///
    /// # Errors
    /// [`Error::Stage`], [`Error::Dataset`], [`Error::Library`], [`Error::Structure`]: the file is as it was, to the
    /// byte, and the handle takes the next stage. So it is after [`Error::Lock`] because readers had the file open for
    /// too long ([`Timeout`](crate::atomic::LockError::Timeout)).
    ///
    /// After [`Error::Journal`] (a write failed, the disk is full) and other kinds of [`Error::Lock`] (another program
    /// has changed the file) all handles of the file refuse to write ([`Error::Broken`]) until it is opened anew. The
    /// file is the old one unless the error says otherwise: a commit that fails when its journal is complete can only
    /// be finished ([`Unfinished`](crate::atomic::JournalError::Unfinished)).
    pub fn commit(self) -> Result<CommitReport, Error> {
        commit::commit(self)
    }

    /// Tells of which staged object a fault is.
    pub(super) fn fault(&self, path: &str, fault: StageFault) -> Error {
        let (file, version) = (self.file.inner.path.clone(), self.name.clone());
        Error::Stage { file, version, path: path.to_owned(), fault: Box::new(fault) }
    }

    fn existing(&self, path: &str) -> Result<&Node, Error> {
        self.tree.get(path).ok_or_else(|| {
            let known: Vec<String> = self.tree.keys().cloned().collect();
            let nearest = super::error::nearest(path, &known);
            self.fault(path, StageFault::Missing { nearest })
        })
    }

    /// A path at which something can be made, without the slashes around it.
    fn free_path(&self, path: &str) -> Result<String, Error> {
        let path = path.trim_matches('/');
        let fault = |fault| Err(self.fault(path, fault));
        let part_is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
        if !path.split('/').all(part_is_name) {
            return fault(StageFault::Name);
        }
        if let Some(name) = reserved_part(path) {
            return fault(StageFault::Reserved { name: name.to_owned() });
        }
        if self.tree.contains_key(path) {
            return fault(StageFault::Exists);
        }
        for above in parents(path) {
            if self.tree.get(above).is_some_and(|node| !node.is_group()) {
                return fault(StageFault::BelowDataset { dataset: above.to_owned() });
            }
        }
        Ok(path.to_owned())
    }

    /// What a dataset at a path leaves to the one that takes its place: its path, and where its attributes are from.
    fn replaced(&self, path: &str) -> Option<(String, Option<String>, AttributeChanges)> {
        let path = path.trim_matches('/');
        let node = self.tree.get(path)?;
        let is_dataset = matches!(node.kind, NodeKind::Unchanged | NodeKind::Staged(_));
        is_dataset.then(|| (path.to_owned(), node.origin.clone(), node.attributes.clone()))
    }

    /// Puts a node at a free path, and groups above it.
    fn insert(&mut self, path: String, node: Node) {
        for above in parents(&path) {
            self.tree.entry(above.to_owned()).or_insert_with(Node::group);
        }
        self.tree.insert(path, node);
    }

    fn changes_of(&mut self, path: &str) -> Result<&mut AttributeChanges, Error> {
        if path.is_empty() {
            return Ok(&mut self.attributes);
        }
        self.existing(path)?;
        let missing = self.fault(path, StageFault::Missing { nearest: None });
        self.tree.get_mut(path).map(|node| &mut node.attributes).ok_or(missing)
    }

    /// Makes the dataset at a path one with values of its own.
    fn stage_content(&mut self, path: &str) -> Result<(), Error> {
        let node = self.existing(path)?;
        let origin = match &node.kind {
            NodeKind::Staged(_) => return Ok(()),
            NodeKind::Unchanged => node.origin.clone().unwrap_or_else(|| path.to_owned()),
            NodeKind::Group | NodeKind::Other => {
                return Err(self.fault(path, StageFault::NoDataset));
            }
        };
        let content = self.inherited(path, &origin)?;
        if let Some(node) = self.tree.get_mut(path) {
            node.kind = NodeKind::Staged(Box::new(content));
        }
        Ok(())
    }

    /// The dataset of the parent version at `origin`, to be changed.
    fn inherited(&self, path: &str, origin: &str) -> Result<Content, Error> {
        let Some(parent) = &self.parent else {
            return Err(self.fault(path, StageFault::Missing { nearest: None }));
        };
        Content::inherited(parent.dataset(origin)?).map_err(|fault| self.fault(path, fault))
    }

    /// Checks that a dataset agrees with what older versions have stored at its path.
    fn check_agrees(&self, path: &str, settings: &Settings) -> Result<(), Error> {
        match self.stored_settings(path)? {
            Some(stored) => settings.check_agrees(&stored).map_err(|fault| self.fault(path, fault)),
            None => Ok(()),
        }
    }

    /// Whether more than the caller's own thread may work for it.
    pub(crate) fn is_parallel(&self) -> bool {
        !matches!(self.file.inner.threads(), Threads::One)
    }

    /// The settings of the stored chunks at a path that some version has used, if any.
    ///
    /// # Errors
    /// [`Error::Dataset`] if they cannot be looked at, [`Error::Stage`] if nothing can be written there.
    pub(crate) fn stored_settings(&self, path: &str) -> Result<Option<Settings>, Error> {
        let inner: &Arc<FileInner> = &self.file.inner;
        if !commit::has_storage(inner, path)? {
            return Ok(None);
        }
        let storage = inner.storage(&super::names::raw_data_path(path));
        let storage = storage.map_err(|fault| self.dataset_error(path, fault))?;
        // Integers that do not fill their bytes are read, and written by nobody here.
        if storage.narrow.is_some() {
            return Err(self.fault(path, StageFault::Type { dtype: storage.dtype.clone() }));
        }
        Ok(Some(Settings::of(&storage)))
    }

    pub(super) fn dataset_error(&self, path: &str, fault: super::error::DatasetFault) -> Error {
        Error::Dataset {
            file: self.file.inner.path.clone(),
            version: self.name.clone(),
            dataset: path.to_owned(),
            fault: Box::new(fault),
        }
    }
}

/// Checks that an attribute can be set on the object at a path; `""` is the version itself.
pub(crate) fn check_attribute(
    path: &str,
    kind: Option<EntryKind>,
    attribute: &Attribute,
) -> Result<(), StageFault> {
    let name = &attribute.name;
    let reserved: &[&str] = match path {
        "" => &super::names::VERSION_ATTRIBUTES,
        _ if kind == Some(EntryKind::Dataset) => &DATASET_ATTRIBUTES,
        _ => &[],
    };
    if reserved.contains(&name.as_str()) {
        return Err(StageFault::ReservedAttribute { name: name.clone() });
    }
    if name.is_empty() || name.contains('\0') {
        return Err(StageFault::AttributeName { name: name.clone() });
    }
    commit::check_attribute(attribute)
}

/// The part of a path that is a name of the format's own.
pub(crate) fn reserved_part(path: &str) -> Option<&str> {
    let versions = VERSIONS.rsplit('/').next().unwrap_or_default();
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if first == versions {
        return Some(first);
    }
    rest.split('/').find(|part| [RAW_DATA, HASH_TABLE].contains(part))
}
