//! What is in a file besides versions.

use std::collections::HashSet;

use h5strata_ffi::h5l::Link;
use h5strata_ffi::h5o::ObjectKind;
use h5strata_ffi::{Lock, h5d, h5g, h5l, h5o};

use super::super::file::FileInner;
use super::super::names::ROOT;
use super::super::session::Session;
use crate::ondisk::{ChunkBTree, Layout, ObjectHeader, OndiskError, ReadAt};

/// How many objects are looked at: a limit against damaged files.
const MAX_OBJECTS: usize = 1 << 20;

/// Bytes of the user block, and of the elements of all datasets outside the versioned tree. `seen`: addresses of objects
/// that are counted elsewhere, whatever other names they have.
pub(super) fn outside(file: &FileInner, mut seen: HashSet<u64>) -> u64 {
    let user_block = file.read_at().map_or(0, |(_, superblock)| superblock.base_address);
    let Ok(session) = file.session() else { return user_block };
    let (lock, most) = (session.lock(), seen.len().saturating_add(MAX_OBJECTS));
    let mut bytes = user_block;
    let mut groups = vec![String::new()];
    while let Some(group) = groups.pop() {
        for name in children(lock, &session, &group, &mut seen) {
            let path = format!("{group}/{name}");
            if path == ROOT || seen.len() > most {
                continue;
            }
            match h5o::object(lock, &session.file, &path).map(|object| object.kind) {
                Ok(ObjectKind::Group) => groups.push(path),
                Ok(ObjectKind::Dataset) => bytes = bytes.saturating_add(stored_bytes(file, &path)),
                // What cannot be looked at is among the rest.
                _ => {}
            }
        }
    }
    bytes
}

/// Names of the objects in a group that no other name has led to before: each is counted once.
fn children(lock: &Lock, session: &Session, group: &str, seen: &mut HashSet<u64>) -> Vec<String> {
    let path = if group.is_empty() { "/" } else { group };
    let Ok(opened) = h5g::open(lock, &session.file, path) else { return Vec::new() };
    let mut names = h5l::names(lock, &opened).unwrap_or_default();
    names.retain(|name| match h5l::link(lock, &opened, name) {
        Ok(Link::Hard { address }) => seen.insert(address),
        _ => false,
    });
    names
}

/// Bytes of the elements of a dataset, as they are stored outside of its header; 0 of one that cannot be looked at, which
/// is among the rest then.
pub(super) fn stored_bytes(file: &FileInner, path: &str) -> u64 {
    let Ok(session) = file.session() else { return 0 };
    let lock = session.lock();
    if let Some((bytes, superblock)) = file.read_at() {
        let Ok(address) = h5o::address(lock, &session.file, path) else { return 0 };
        let header = file.read_whole(|| ObjectHeader::read(bytes, superblock, address));
        match header.and_then(|header| header.layout()) {
            // Hash tables, as all that has one axis, need no help of libhdf5.
            Ok(Layout::Chunked { chunk_shape, index: Some(index) }) if chunk_shape.len() == 1 => {
                return file.read_whole(|| indexed_bytes(&index, bytes)).unwrap_or(0);
            }
            Ok(Layout::Contiguous { address: Some(_) } | Layout::Chunked { .. }) => {}
            _ => return 0,
        }
    }
    h5d::open(lock, &session.file, path).map_or(0, |dataset| h5d::storage_size(lock, &dataset))
}

/// Bytes of the chunks of an index.
fn indexed_bytes(index: &ChunkBTree, file: &dyn ReadAt) -> Result<u64, OndiskError> {
    let mut bytes = 0_u64;
    index.visit_all(file, |entry| bytes = bytes.saturating_add(entry.size.into()))?;
    Ok(bytes)
}
