//! Attributes copied to another file.

use h5strata_ffi::h5t::{Description, TypeClass};
use h5strata_ffi::id::{Container, File, Id};
use h5strata_ffi::{Lock, h5a, h5t};

use super::super::error::Error;
use super::super::file::FileInner;
use super::super::library_heaps::library_strings;
use super::super::names::{LARGEST_INDEX, ROOT, hash_table_path, raw_data_path};
use crate::raw::StringFault;
use crate::snapshot::{NotCarried, Reason};

/// Why the attributes of an object cannot be copied.
#[derive(Debug)]
pub(super) enum CopyFault {
    Library(h5strata_ffi::Error),
    /// An attribute of this name has strings that cannot be read.
    Strings(String, Box<StringFault>),
    /// An attribute of this name refers to objects of its file: in another they are somewhere else.
    Refers(String),
    /// What cannot be copied.
    Left(Box<NotCarried>),
}

impl From<h5strata_ffi::Error> for CopyFault {
    fn from(error: h5strata_ffi::Error) -> Self {
        Self::Library(error)
    }
}

/// Copies the attributes of the object at `from`, seen from a container of the old file, to the one at `to`, but those
/// named in `hidden`.
pub(super) fn copy<F: Container, T: Container>(
    file: &FileInner,
    lock: &Lock,
    (from_at, from): (&Id<F>, &str),
    (to_at, to): (&Id<T>, &str),
    hidden: &[&str],
) -> Result<(), CopyFault> {
    let failure = file.failure();
    for name in h5a::names(lock, from_at, from)? {
        if hidden.contains(&name.as_str()) {
            continue;
        }
        let attribute = h5a::open(lock, from_at, from, &name)?;
        let described = h5t::describe(lock, &h5a::datatype(lock, &attribute)?)?;
        if refers(&described) {
            return Err(CopyFault::Refers(name));
        }
        if matches!(described.class, TypeClass::VariableString { .. })
            && let Err(fault) = file.attribute_strings(from_at, from, &name)
        {
            // libhdf5 may never come back from a damaged heap.
            return Err(CopyFault::Strings(name, Box::new(fault)));
        }
        let copy = || h5a::copy(lock, from_at, from, to_at, to, &name);
        if let Err(fault) = library_strings(&failure, copy) {
            return Err(match fault {
                StringFault::Library(error) => error.into(),
                fault => CopyFault::Strings(name, Box::new(fault)),
            });
        }
    }
    Ok(())
}

/// Copies the attributes of the stored chunks of a dataset, of its hash table, and of the groups that they are in, from
/// one file to another; `hidden`: those of the stored chunks that are left out.
pub(in crate::store) fn copy_of_storage(
    file: &FileInner,
    lock: &Lock,
    old: &File,
    new: &File,
    dataset: &str,
    hidden: &[&str],
) -> Result<(), Error> {
    let groups = dataset.match_indices('/').map(|(end, _)| &dataset[..end]).chain([dataset]);
    let groups = groups.map(|group| (format!("{ROOT}/{group}"), &[][..]));
    let raw_data = (raw_data_path(dataset), hidden);
    let table = (hash_table_path(dataset), &[LARGEST_INDEX][..]);
    for (path, hidden) in [raw_data, table].into_iter().chain(groups) {
        copy(file, lock, (old, &path), (new, &path), hidden)
            .map_err(|fault| file.copy_error(&path, fault))?;
    }
    Ok(())
}

/// Whether elements refer to objects of their file.
pub(super) fn refers(description: &Description) -> bool {
    match &description.class {
        TypeClass::Reference(_) => true,
        TypeClass::VariableLength { base } | TypeClass::Array { base, .. } => refers(base),
        TypeClass::Compound { members } => members.iter().any(|member| refers(&member.datatype)),
        _ => false,
    }
}

impl FileInner {
    /// Why the attributes of an object of this file cannot be copied.
    pub(super) fn copy_error(&self, object: &str, fault: CopyFault) -> Error {
        match fault {
            CopyFault::Library(error) => self.library(object)(error),
            CopyFault::Strings(name, fault) => self.attribute(object, &name)(*fault),
            CopyFault::Refers(name) => {
                let path = object.trim_start_matches('/');
                let left = NotCarried::attribute(path, name, Reason::Reference);
                self.copy_error(object, CopyFault::Left(Box::new(left)))
            }
            CopyFault::Left(left) => {
                Error::NotCarried { file: self.path.clone(), not_carried: vec![*left] }
            }
        }
    }
}
