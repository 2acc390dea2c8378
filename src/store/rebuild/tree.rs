//! The groups of the new file: those of the format, and those of the versions with what they hold but for datasets.

use h5strata_ffi::h5g;
use h5strata_ffi::id::File;

use super::super::error::Error;
use super::super::file::{FileInner, VersionedFile};
use super::super::layout;
use super::super::names::{CURRENT_VERSION, FIRST_VERSION, PREV_VERSION, ROOT, VERSIONS};
use super::super::session::Session;
use super::attributes::{self, CopyFault};
use super::survivors::Survivors;
use super::target::Target;
use super::uses::{Content, OpenVersion};

/// Makes all groups and their attributes.
pub(super) fn write(
    file: &VersionedFile,
    survivors: &Survivors,
    content: &Content,
    target: &mut Target<'_>,
) -> Result<(), Error> {
    let inner = &file.inner;
    let session = inner.session().map_err(inner.library(VERSIONS))?;
    let lock = session.lock();
    let failed = |path: &str, fault| inner.copy_error(path, fault);
    let new = target.file(lock)?;
    let write = || -> Result<(), CopyFault> {
        let versions = h5g::create(lock, new, VERSIONS)?;
        attributes::copy(inner, lock, (&session.file, "."), (new, "."), &[])?;
        attributes::copy(inner, lock, (&session.file, ROOT), (new, ROOT), &[])?;
        attributes::copy(
            inner,
            lock,
            (&session.versions, "."),
            (&versions, "."),
            &[CURRENT_VERSION],
        )?;
        let current = survivors.current.as_deref().unwrap_or(FIRST_VERSION);
        layout::set_current(lock, &versions, current)?;
        drop(h5g::create(lock, &versions, FIRST_VERSION)?);
        let (from, to) = ((&session.versions, FIRST_VERSION), (&versions, FIRST_VERSION));
        attributes::copy(inner, lock, from, to, &[])
    };
    write().map_err(|fault| failed(VERSIONS, fault))?;
    for (survivor, open) in survivors.versions.iter().zip(&content.versions) {
        let path = format!("{VERSIONS}/{}", survivor.name);
        let hidden: &[&str] = if survivor.is_moved { &[PREV_VERSION] } else { &[] };
        let parent = survivor.parent.as_deref().unwrap_or(FIRST_VERSION);
        let parent = survivor.is_moved.then_some(parent);
        let written = (|| {
            let group = h5g::create(lock, new, &path)?;
            let old = open.version.inner.group(&session)?;
            attributes::copy(inner, lock, (&*old, "."), (&group, "."), hidden)?;
            if let Some(parent) = parent {
                layout::set_parent(lock, &group, parent)?;
            }
            Ok(())
        })();
        written.map_err(|fault| failed(&path, fault))?;
        groups(inner, open, &path, &session, new)?;
    }
    Ok(())
}

/// The groups of a version.
fn groups(
    inner: &FileInner,
    open: &OpenVersion,
    version: &str,
    session: &Session,
    new: &File,
) -> Result<(), Error> {
    let lock = session.lock();
    for path in &open.groups {
        let new_path = format!("{version}/{path}");
        let copied = (|| {
            drop(h5g::create(lock, new, &new_path)?);
            let old = open.version.inner.group(session)?;
            attributes::copy(inner, lock, (&*old, path), (new, &new_path), &[])
        })();
        copied.map_err(|fault| inner.copy_error(&new_path, fault))?;
    }
    Ok(())
}
