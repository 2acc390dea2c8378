use std::cmp::Ordering;
use std::sync::Arc;

use super::super::error::Error;
use super::super::version::{Entry, EntryKind, Version, trim};
use super::attributes::{self, AttributeDiff};
use super::dataset::{Change, DatasetDiff};

/// How two versions differ. What is different is found when it is asked for, object by object.
#[derive(Clone, Debug)]
pub struct VersionDiff {
    old: Version,
    new: Version,
    pairs: Vec<Pair>,
    /// Whether the versions are compared as a whole.
    is_whole: bool,
}

/// What each version has at a path.
#[derive(Clone, Debug)]
struct Pair {
    path: String,
    old: Option<EntryKind>,
    new: Option<EntryKind>,
}

/// A group or dataset that differs.
#[derive(Clone, Debug)]
pub enum EntryDiff {
    /// A group.
    Group(GroupDiff),
    /// A dataset.
    Dataset(Box<DatasetDiff>),
}

/// A group that differs by itself; what is in it stands for itself.
#[derive(Clone, Debug)]
pub struct GroupDiff {
    /// Path in the versions.
    pub path: String,
    /// What has become of it.
    pub change: Change,
    /// The user's attributes that differ, in order of their names; none of a group that was added or removed.
    pub attributes: Vec<AttributeDiff>,
}

impl Version {
    /// How `new` differs from this version: by names, shapes, types, attributes and lists of mappings, without reading
    /// any values. Neither has to be an ancestor of the other.
    ///
    /// # Errors
    /// [`Error::OtherFile`] unless both were opened through one [`VersionedFile`](crate::VersionedFile) or clones of
    /// it; [`Error::Library`].
    pub fn diff(&self, new: &Self) -> Result<VersionDiff, Error> {
        self.diff_below(new, "")
    }

    /// The same of one dataset, or of a group and all that is in it; `""` is the whole version.
    ///
    /// # Errors
    /// As [`diff`](Self::diff); [`Error::UnknownObject`] if neither version has it.
    pub fn diff_below(&self, new: &Self, path: &str) -> Result<VersionDiff, Error> {
        let (one, two) = (&self.inner.file, &new.inner.file);
        if !Arc::ptr_eq(&one.handle, &two.handle) {
            let (file, other) = (one.path.clone(), two.path.clone());
            return Err(Error::OtherFile { file, other });
        }
        let path = trim(path);
        let is_whole = path.is_empty();
        let _entered = self.inner.file.enter()?;
        let (below_old, below_new) = (self.tree(path)?, new.tree(path)?);
        if !is_whole && below_old.is_empty() && below_new.is_empty() {
            // Which tells what there is instead.
            new.kind(path)?;
        }
        let pairs = pairs(below_old, below_new);
        Ok(VersionDiff { old: self.clone(), new: new.clone(), pairs, is_whole })
    }

    /// The object at a path and all that is in it; nothing if there is none.
    fn tree(&self, path: &str) -> Result<Vec<Entry>, Error> {
        if path.is_empty() {
            return self.entries();
        }
        let Some(kind) = self.find(path)? else { return Ok(Vec::new()) };
        let mut entries = vec![Entry { path: path.to_owned(), kind }];
        if kind == EntryKind::Group {
            entries.extend(self.entries_below(path)?);
        }
        Ok(entries)
    }
}

/// Pairs the entries of two versions, which are in order.
fn pairs(old: Vec<Entry>, new: Vec<Entry>) -> Vec<Pair> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            // Names are in order of their bytes, and what is in a group comes right behind it.
            (Some(old), Some(new)) => old.path.split('/').cmp(new.path.split('/')),
        };
        let (old, new) = (old.next_if(|_| order.is_le()), new.next_if(|_| order.is_ge()));
        let kind = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.kind);
        let (in_old, in_new) = (kind(&old), kind(&new));
        let path = new.or(old).map(|entry| entry.path).unwrap_or_default();
        pairs.push(Pair { path, old: in_old, new: in_new });
    }
}

impl VersionDiff {
    /// The old version.
    pub fn old_version(&self) -> &Version {
        &self.old
    }

    /// The new version.
    pub fn new_version(&self) -> &Version {
        &self.new
    }

    /// The user's attributes of the versions themselves that differ, in order of their names.
    ///
    /// # Errors
    /// [`Error::Attribute`], [`Error::Library`].
    pub fn attributes(&self) -> Result<Vec<AttributeDiff>, Error> {
        if !self.is_whole {
            return Ok(Vec::new());
        }
        Ok(attributes::compare(self.old.attributes()?, self.new.attributes()?))
    }

    /// The groups and datasets that differ, each group followed by what is in it, names in order of their bytes. What
    /// cannot be compared is an error, behind which the others follow.
    ///
    /// # Errors
    /// Each as [`Version::dataset`] and [`Dataset::diff`](crate::Dataset::diff).
    pub fn entries(&self) -> impl Iterator<Item = Result<EntryDiff, Error>> + '_ {
        self.pairs.iter().flat_map(|pair| {
            let outcomes = match (pair.old, pair.new) {
                (Some(EntryKind::Dataset), Some(EntryKind::Dataset)) => {
                    [self.dataset(&pair.path).transpose(), None]
                }
                (Some(EntryKind::Group), Some(EntryKind::Group)) => {
                    [self.group(&pair.path).transpose(), None]
                }
                (old, new) => [
                    old.and_then(|kind| one_sided(&self.old, pair, kind, Change::Removed)),
                    new.and_then(|kind| one_sided(&self.new, pair, kind, Change::Added)),
                ],
            };
            outcomes.into_iter().flatten()
        })
    }

    /// The datasets that differ, in order of [`entries`](Self::entries).
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn datasets(&self) -> impl Iterator<Item = Result<DatasetDiff, Error>> + '_ {
        self.entries().filter_map(|entry| match entry {
            Ok(EntryDiff::Dataset(dataset)) => Some(Ok(*dataset)),
            Ok(EntryDiff::Group(_)) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// A dataset of both; `None` if it is the same.
    fn dataset(&self, path: &str) -> Result<Option<EntryDiff>, Error> {
        let _entered = self.old.inner.file.enter()?;
        let diff = self.old.dataset(path)?.diff(&self.new.dataset(path)?)?;
        Ok((!diff.is_empty()).then(|| EntryDiff::Dataset(Box::new(diff))))
    }

    /// A group of both; `None` if it is the same by itself.
    fn group(&self, path: &str) -> Result<Option<EntryDiff>, Error> {
        let of = |version: &Version| version.inner.attributes(path, &[]);
        let attributes = attributes::compare(of(&self.old)?, of(&self.new)?);
        let (path, change) = (path.to_owned(), Change::Changed);
        let diff = GroupDiff { path, change, attributes };
        Ok((!diff.attributes.is_empty()).then_some(EntryDiff::Group(diff)))
    }
}

/// What only one version has at a path, or has of another kind. What is neither group nor dataset is its error.
fn one_sided(
    version: &Version,
    pair: &Pair,
    kind: EntryKind,
    change: Change,
) -> Option<Result<EntryDiff, Error>> {
    let path = pair.path.clone();
    match kind {
        EntryKind::Group => {
            Some(Ok(EntryDiff::Group(GroupDiff { path, change, attributes: Vec::new() })))
        }
        EntryKind::Dataset => Some(version.dataset(&path).map(|dataset| {
            let (old, new) = match change {
                Change::Removed => (Some(dataset), None),
                _ => (None, Some(dataset)),
            };
            EntryDiff::Dataset(Box::new(DatasetDiff::of_one(old, new)))
        })),
        EntryKind::Other => version.kind(&path).err().map(Err),
    }
}
