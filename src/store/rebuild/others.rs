//! What lies in the file beside the versions: it is the user's.

use std::collections::HashSet;

use h5strata_ffi::h5l::Link;
use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::id::File;
use h5strata_ffi::{Lock, h5a, h5d, h5g, h5l, h5o, h5t};

use super::super::error::Error;
use super::super::file::VersionedFile;
use super::super::names::ROOT;
use super::attributes::{CopyFault, refers};
use super::target::Target;
use crate::snapshot::{NotCarried, Reason};

/// How deep groups may lie in each other.
const MAX_DEPTH: usize = 64;

/// Copies all links of the root but the one to the versions, and what they lead to.
pub(super) fn copy(file: &VersionedFile, target: &mut Target<'_>) -> Result<(), Error> {
    let inner = &file.inner;
    let session = inner.session().map_err(inner.library("/"))?;
    let (lock, old) = (session.lock(), &session.file);
    let new = target.file(lock)?;
    let mut seen = HashSet::new();
    for name in h5l::names(lock, old).map_err(inner.library("/"))? {
        if ROOT.strip_prefix('/') == Some(name.as_str()) {
            continue;
        }
        let copied = match h5l::link(lock, old, &name) {
            Ok(Link::Hard { .. }) => check(lock, old, &name, 0, &mut seen)
                .and_then(|()| Ok(h5o::copy(lock, old, &name, new, &name)?)),
            Ok(_) => h5l::copy(lock, old, &name, new, &name).map_err(CopyFault::from),
            Err(error) => Err(error.into()),
        };
        copied.map_err(|fault| inner.copy_error(&name, fault))?;
    }
    Ok(())
}

/// Checks that nothing at a path refers to objects of the file: in the new one they are somewhere else.
fn check(
    lock: &Lock,
    file: &File,
    path: &str,
    depth: usize,
    seen: &mut HashSet<u64>,
) -> Result<(), CopyFault> {
    let object = h5o::object(lock, file, path)?;
    if !seen.insert(object.address) {
        return Ok(());
    }
    let left = |reason| CopyFault::Left(Box::new(NotCarried::object(path, reason)));
    for name in h5a::names(lock, file, path)? {
        let attribute = h5a::open(lock, file, path, &name)?;
        if refers(&h5t::describe(lock, &h5a::datatype(lock, &attribute)?)?) {
            let left = NotCarried::attribute(path, name, Reason::Reference);
            return Err(CopyFault::Left(Box::new(left)));
        }
    }
    match object.kind {
        ObjectKind::Dataset => {
            let datatype = h5d::datatype(lock, &h5d::open(lock, file, path)?)?;
            if refers(&h5t::describe(lock, &datatype)?) {
                return Err(left(Reason::Reference));
            }
        }
        ObjectKind::Group if depth >= MAX_DEPTH => {
            return Err(left(Reason::Depth { most: MAX_DEPTH }));
        }
        ObjectKind::Group => {
            let group = h5g::open(lock, file, path)?;
            for name in h5l::names(lock, &group)? {
                if matches!(h5l::link(lock, &group, &name)?, Link::Hard { .. }) {
                    check(lock, file, &format!("{path}/{name}"), depth + 1, seen)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}
