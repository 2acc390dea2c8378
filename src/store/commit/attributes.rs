//! Attributes of the objects of a version that is written.

use h5strata_ffi::{Lock, h5a, h5t};

use super::super::attribute::{Attribute, AttributeValue};
use super::super::describe;
use super::super::stage::{AttributeChanges, StageFault};
use super::VersionGroup;
use crate::dims::element_count;

/// Checks that an attribute can be written.
pub(in crate::store) fn check_attribute(attribute: &Attribute) -> Result<(), StageFault> {
    let wrong = || StageFault::AttributeValue { name: attribute.name.clone() };
    let unwritable = || StageFault::Type { dtype: attribute.dtype.clone() };
    describe::description(&attribute.dtype).map_err(|_| unwritable())?;
    let count = element_count(&attribute.shape).map_err(|_| wrong())?;
    let (found, size) = match &attribute.value {
        AttributeValue::Bytes(bytes) => (bytes.len(), attribute.dtype.size().ok_or_else(wrong)?),
        AttributeValue::Strings(strings) if attribute.dtype.is_variable_string() => {
            if let Some(element) = strings.iter().position(|string| string.contains(&0)) {
                return Err(StageFault::ZeroByte { element });
            }
            (strings.len(), 1)
        }
        AttributeValue::Empty => return Ok(()),
        AttributeValue::Strings(_) => return Err(wrong()),
        AttributeValue::Unreadable => return Err(unwritable()),
    };
    if count.checked_mul(size as u64) == Some(found as u64) { Ok(()) } else { Err(wrong()) }
}

/// Gives the object at `path` the attributes of the one at `origin` in the parent version, but those named in
/// `hidden`, with changes. Returns how many it has then.
pub(super) fn write(
    lock: &Lock,
    version: &VersionGroup,
    path: &str,
    origin: Option<&str>,
    changes: &AttributeChanges,
    hidden: &[&str],
) -> Result<usize, h5strata_ffi::Error> {
    let mut count = changes.set.len();
    if let (Some(parent), Some(origin)) = (&version.parent, origin) {
        for name in h5a::names(lock, parent, origin)? {
            let replaced = changes.removed.contains(&name) || changes.set.contains_key(&name);
            if !replaced && !hidden.contains(&name.as_str()) {
                h5a::copy(lock, parent, origin, &version.group, path, &name)?;
                count += 1;
            }
        }
    }
    changes.set.values().try_for_each(|attribute| write_one(lock, version, path, attribute))?;
    Ok(count)
}

/// Changes the attributes of an object that has those of its origin already.
pub(super) fn change(
    lock: &Lock,
    version: &VersionGroup,
    path: &str,
    changes: &AttributeChanges,
) -> Result<(), h5strata_ffi::Error> {
    for name in &changes.removed {
        if h5a::exists(lock, &version.group, path, name)? {
            h5a::delete(lock, &version.group, path, name)?;
        }
    }
    changes.set.values().try_for_each(|attribute| write_one(lock, version, path, attribute))
}

fn write_one(
    lock: &Lock,
    version: &VersionGroup,
    path: &str,
    attribute: &Attribute,
) -> Result<(), h5strata_ffi::Error> {
    let Attribute { name, dtype, shape, value } = attribute;
    // That there is a description was checked when the attribute was set.
    let Ok(description) = describe::description(dtype) else { return Ok(()) };
    let datatype = h5t::create(lock, &description)?;
    let group = &version.group;
    match value {
        AttributeValue::Bytes(bytes) => {
            h5a::write(lock, group, path, name, &datatype, Some(shape), bytes)
        }
        AttributeValue::Strings(strings) => {
            h5a::write_variable_strings(lock, group, path, name, &datatype, Some(shape), strings)
        }
        AttributeValue::Empty | AttributeValue::Unreadable => {
            h5a::write(lock, group, path, name, &datatype, None, &[])
        }
    }
}
