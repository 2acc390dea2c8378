//! Attributes that are carried, and those that are not.

use h5strata_ffi::h5a;

use super::file::SnapshotInner;
use super::not_carried::{NotCarried, Reason};
use crate::dtype::Dtype;
use crate::store::{Attribute, AttributeSource, AttributeValue, EntryKind, Error, check_attribute};

/// Bytes of a message of an object header (HDF5 File Format Specification IV.A.1): an attribute is one.
const MESSAGE: u64 = 65_535;

/// Bytes of a string of variable length in an attribute (specification IV.B, "Variable-length").
const STRING: u64 = 16;

pub(super) fn read(
    snapshot: &SnapshotInner,
    path: &str,
    kind: EntryKind,
) -> Result<(Vec<Attribute>, Vec<NotCarried>), Error> {
    let SnapshotInner { root, direct, failure, .. } = snapshot;
    let source = AttributeSource { path: &snapshot.path, direct: direct.as_ref(), failure };
    let here = if path.is_empty() { "." } else { path };
    let names = h5a::names(&h5strata_ffi::lock(), root, here).map_err(snapshot.library(path))?;
    let (mut carried, mut left) = (Vec::new(), Vec::new());
    for name in names {
        let attribute = source.read(&h5strata_ffi::lock(), root, here, name, path)?;
        match reason(path, kind, &attribute) {
            None => carried.push(attribute),
            Some(reason) => left.push(NotCarried::attribute(path, attribute.name, reason)),
        }
    }
    Ok((carried, left))
}

/// Why an object of a version cannot have an attribute.
fn reason(path: &str, kind: EntryKind, attribute: &Attribute) -> Option<Reason> {
    if matches!(attribute.value, AttributeValue::Unreadable) {
        return Some(unreadable(&attribute.dtype));
    }
    if let Err(fault) = check_attribute(path, Some(kind), attribute) {
        return Some(fault.into());
    }
    let bytes = match &attribute.value {
        AttributeValue::Bytes(bytes) => bytes.len() as u64,
        AttributeValue::Strings(strings) => STRING.saturating_mul(strings.len() as u64),
        AttributeValue::Empty | AttributeValue::Unreadable => 0,
    };
    let head = attribute.name.len() as u64 + type_bytes(&attribute.dtype) + 256;
    (bytes.saturating_add(head) > MESSAGE).then_some(Reason::AttributeSize { bytes })
}

/// Why elements that hold addresses are left behind.
pub(crate) fn unreadable(dtype: &Dtype) -> Reason {
    if refers(dtype) { Reason::Reference } else { Reason::Type { dtype: dtype.clone() } }
}

fn refers(dtype: &Dtype) -> bool {
    match dtype {
        Dtype::Other { class, .. } => *class == "reference",
        Dtype::Compound { fields, .. } => fields.iter().any(|field| refers(&field.dtype)),
        Dtype::Array { base, .. } => refers(base),
        _ => false,
    }
}

/// Bytes that a type takes in a message, at most (specification IV.A.2.d).
fn type_bytes(dtype: &Dtype) -> u64 {
    const PROPERTIES: u64 = 40;
    let inner: u64 = match dtype {
        Dtype::Compound { fields, .. } => {
            let field = |name: &str, dtype| name.len() as u64 + 48 + type_bytes(dtype);
            fields.iter().map(|f| field(&f.name, &f.dtype)).sum()
        }
        Dtype::Enum { base, members } => {
            let member = |name: &str, value: &[u8]| (name.len() + 8 + value.len()) as u64;
            type_bytes(base) + members.iter().map(|(n, v)| member(n, v)).sum::<u64>()
        }
        Dtype::Array { base, shape } => type_bytes(base) + 8 * shape.len() as u64,
        Dtype::Opaque { tag, .. } => tag.len() as u64,
        _ => 0,
    };
    inner + PROPERTIES
}
