//! The lists of mappings of a version's datasets. They are written when libhdf5 has closed the file: it takes 30
//! microseconds to write a mapping, and 10 to copy one.

use std::collections::BTreeMap;

use h5strata_ffi::h5o;

use super::super::error::Error;
use super::super::file::FileInner;
use super::super::names::VERSIONS;
use super::super::stage::Stage;
use super::staged_list::StagedList;
use crate::ondisk::{
    FieldWidth, HiddenList, Layout, MapPatcher, ObjectHeader, ObjectRange, OndiskError, ReadAt,
    Superblock, WriteAt, locate,
};

/// Bytes of all lists of a commit below which libhdf5 writes them: it puts them beside other small things, and a place
/// of their own takes at least twice as much (`H5HG_MINSIZE`).
const SMALL: u64 = 2048;

/// What is to be written, and what libhdf5 is not to see meanwhile.
#[derive(Default)]
pub(in crate::store) struct Mappings {
    /// Width of a length in the file; `None` where libhdf5 has to write the lists.
    length_size: Option<FieldWidth>,
    /// Lists of the parent version that are copied, by the path of their dataset.
    parents: BTreeMap<String, ParentList>,
    hidden: Vec<HiddenList>,
    /// Whether the lists of staged datasets are written here too.
    writes_staged: bool,
    /// Those lists, by the path of their dataset.
    staged: BTreeMap<String, Vec<u8>>,
    /// The new lists, by the address of their dataset's object header.
    new: Vec<(u64, NewList)>,
}

/// A list of the parent version.
struct ParentList {
    header: u64,
    list: ObjectRange,
}

enum NewList {
    /// That of the staged dataset at a path.
    Staged(String),
    /// That of the parent version's dataset at a path.
    OfParent(String),
}

impl Mappings {
    /// No list yet, in a file in which they can be written here unless libhdf5 was asked for.
    pub(in crate::store) fn new(file: &FileInner) -> Result<Self, Error> {
        let by_library = file.writer()?.options.library_mappings;
        let length_size = match file.read_at() {
            Some((bytes, _)) if !by_library => match file.read_whole(|| MapPatcher::begin(bytes)) {
                Ok(patcher) => Some(patcher.length_size()),
                // The file is of a kind that libhdf5 alone writes.
                Err(OndiskError::Unsupported { .. }) => None,
                Err(error) => return Err(file.structure("/")(error)),
            },
            _ => None,
        };
        Ok(Self { length_size, ..Self::default() })
    }

    /// No list yet, with those of the parent version at hand that a stage has not touched.
    pub(super) fn of_stage(stage: &Stage<'_>) -> Result<Self, Error> {
        let file = &stage.file.inner;
        let mut mappings = Self::new(file)?;
        let (Some(parent), Some((bytes, superblock)), Some(_)) =
            (&stage.parent, file.read_at(), mappings.length_size)
        else {
            return Ok(mappings);
        };
        let session = file.session().map_err(file.library(VERSIONS))?;
        let group = parent.inner.group(&session).map_err(file.library(VERSIONS))?;
        for (path, node) in &stage.tree {
            let Some(origin) = node.origin.as_deref().filter(|_| node.is_untouched(path)) else {
                continue;
            };
            // What is not found here is libhdf5's to copy.
            if let Ok(header) = h5o::address(session.lock(), &*group, origin)
                && let Ok(Some(list)) = list_of(bytes, superblock, header)
            {
                mappings.parents.insert(origin.to_owned(), ParentList { header, list });
            }
        }
        if mappings.inherited_bytes() < SMALL {
            mappings.parents.clear();
        }
        Ok(mappings)
    }

    fn inherited_bytes(&self) -> u64 {
        self.parents.values().map(|parent| parent.list.len).sum()
    }

    /// Width of a length in the file; `None` where libhdf5 has to write the lists.
    pub(super) fn length_size(&self) -> Option<FieldWidth> {
        self.length_size
    }

    /// Decides whether the lists of staged datasets are written here, all of them that have a mapping; returns the width
    /// of a length to encode them with if so.
    pub(super) fn decide(&mut self, staged: &[StagedList<'_>]) -> Option<FieldWidth> {
        let length_size = self.length_size?;
        let bytes = staged.iter().map(|list| list.bytes(length_size)).fold(0, u64::saturating_add);
        self.writes_staged = self.inherited_bytes().saturating_add(bytes) >= SMALL;
        self.writes_staged.then_some(length_size)
    }

    /// Whether the lists of staged datasets are written here.
    pub(super) fn writes_staged(&self) -> bool {
        self.writes_staged
    }

    /// Takes the lists of staged datasets, by path.
    pub(super) fn take_staged(&mut self, lists: BTreeMap<String, Vec<u8>>) {
        self.staged = lists;
    }

    /// Hides the lists that are to be copied. libhdf5 must not have the file open.
    pub(super) fn hide(&mut self, file: &mut dyn WriteAt) -> Result<(), OndiskError> {
        let superblock = Superblock::read(file)?;
        for parent in self.parents.values() {
            self.hidden.extend(HiddenList::hide(file, &superblock, parent.header)?);
        }
        Ok(())
    }

    /// Whether the list of the parent version's dataset at a path is hidden.
    pub(super) fn is_hidden(&self, origin: &str) -> bool {
        self.parents.contains_key(origin)
    }

    /// Gives the dataset whose object header is at `header` the list of the parent version's dataset at `origin`.
    pub(super) fn copy(&mut self, header: u64, origin: &str) {
        self.new.push((header, NewList::OfParent(origin.to_owned())));
    }

    /// Gives the dataset whose object header is at `header` the list of the staged dataset at `path`.
    pub(super) fn add(&mut self, header: u64, path: &str) {
        self.new.push((header, NewList::Staged(path.to_owned())));
    }

    /// Writes all lists. libhdf5 must have closed the file.
    pub(super) fn write(self, file: &mut dyn WriteAt) -> Result<(), OndiskError> {
        let superblock = Superblock::read(file)?;
        for hidden in self.hidden {
            hidden.restore(file, &superblock)?;
        }
        if self.new.is_empty() {
            return Ok(());
        }
        let mut patcher = MapPatcher::begin(file)?;
        for (header, list) in self.new {
            match list {
                NewList::Staged(path) => {
                    if let Some(list) = self.staged.get(&path) {
                        patcher.place(file, header, list)?;
                    }
                }
                NewList::OfParent(origin) => {
                    if let Some(parent) = self.parents.get(&origin) {
                        let list = parent.list.read(file)?;
                        patcher.place(file, header, &list)?;
                    }
                }
            }
        }
        patcher.finish(file).map(|_| ())
    }
}

/// The list of a dataset's mappings; `None` if it has none of its own kind.
fn list_of(
    file: &dyn ReadAt,
    superblock: &Superblock,
    header: u64,
) -> Result<Option<ObjectRange>, OndiskError> {
    match ObjectHeader::read(file, superblock, header)?.layout()? {
        Layout::Virtual { mappings: Some(id) } => locate(file, superblock, id).map(Some),
        _ => Ok(None),
    }
}
