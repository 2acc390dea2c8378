//! What lies below a group.

use std::path::Path;

use h5strata_ffi::h5o::{Object, ObjectKind};
use h5strata_ffi::id::Group;
use h5strata_ffi::{h5g, h5l, h5o};

use super::not_carried::{NotCarried, Reason};
use crate::store::{Entry, EntryKind, Error, plain_library_error};

/// How deep groups may lie in each other.
const MAX_DEPTH: usize = 64;

/// How many objects are listed: a limit against groups that hold each other many times over.
const MAX_ENTRIES: usize = 1 << 20;

/// Lists the groups and datasets below `root`, each group followed by what is in it, names in order of their bytes.
///
/// Objects with several names are listed under each, and soft and external links that lead to an object as that object:
/// what every reader of the file sees. A group that is one of those it lies in is not gone into.
pub(super) fn walk(
    path: &Path,
    root: &Group,
    object: &Object,
) -> Result<(Vec<Entry>, Vec<NotCarried>), Error> {
    let walk = Walk { path, root, entries: Vec::new(), not_carried: Vec::new(), above: Vec::new() };
    walk.all(identity(object))
}

/// What tells objects apart: the open file and the address of the header.
type Identity = (u64, u64);

fn identity(object: &Object) -> Identity {
    (object.file_number, object.address)
}

struct Walk<'w> {
    path: &'w Path,
    root: &'w Group,
    entries: Vec<Entry>,
    not_carried: Vec<NotCarried>,
    /// The groups that are being gone through, the outermost first.
    above: Vec<Identity>,
}

impl Walk<'_> {
    fn all(mut self, root: Identity) -> Result<(Vec<Entry>, Vec<NotCarried>), Error> {
        self.group("", root)?;
        Ok((self.entries, self.not_carried))
    }

    fn group(&mut self, path: &str, group: Identity) -> Result<(), Error> {
        let names = {
            let lock = h5strata_ffi::lock();
            let here = if path.is_empty() { "." } else { path };
            let opened = h5g::open(&lock, self.root, here);
            let names = opened.and_then(|group| h5l::names(&lock, &group));
            names.map_err(plain_library_error(self.path, path))?
        };
        self.above.push(group);
        for name in names {
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            self.object(path)?;
        }
        self.above.pop();
        Ok(())
    }

    fn object(&mut self, path: String) -> Result<(), Error> {
        if self.entries.len() + self.not_carried.len() >= MAX_ENTRIES {
            return Err(Error::TooManyObjects { file: self.path.to_owned(), most: MAX_ENTRIES });
        }
        let found = {
            let lock = h5strata_ffi::lock();
            match h5o::object(&lock, self.root, &path) {
                Ok(object) => Some(object),
                // A hard link always leads to an object: then this is damage, which is not passed over.
                Err(error) => match h5l::link(&lock, self.root, &path) {
                    Ok(h5l::Link::Hard { .. }) | Err(_) => {
                        return Err(plain_library_error(self.path, &path)(error));
                    }
                    Ok(_) => None,
                },
            }
        };
        let left = |path, reason| NotCarried::object(path, reason);
        match found {
            None => self.not_carried.push(left(path, Reason::Link)),
            Some(object) => match object.kind {
                ObjectKind::Dataset => {
                    self.entries.push(Entry { path, kind: EntryKind::Dataset });
                }
                ObjectKind::Group if self.above.contains(&identity(&object)) => {
                    self.not_carried.push(left(path, Reason::Cycle));
                }
                ObjectKind::Group if self.above.len() >= MAX_DEPTH => {
                    self.not_carried.push(left(path, Reason::Depth { most: MAX_DEPTH }));
                }
                ObjectKind::Group => {
                    self.entries.push(Entry { path: path.clone(), kind: EntryKind::Group });
                    self.group(&path, identity(&object))?;
                }
                _ => self.not_carried.push(left(path, Reason::Kind)),
            },
        }
        Ok(())
    }
}
