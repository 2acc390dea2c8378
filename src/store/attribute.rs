use h5strata_ffi::id::{Container, Id};
use h5strata_ffi::{Lock, h5a, h5s, h5t};

use super::describe;
use crate::dtype::Dtype;

/// A user's attribute of a version, group or dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Type of its elements.
    pub dtype: Dtype,
    /// Its shape in elements; empty for a scalar.
    pub shape: Vec<u64>,
    /// Its elements.
    pub value: AttributeValue,
}

/// The elements of an [`Attribute`], in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeValue {
    /// Elements as bytes, as they are in the file.
    Bytes(Vec<u8>),
    /// Strings of variable length.
    Strings(Vec<Vec<u8>>),
    /// No element at all (a null dataspace).
    Empty,
    /// Elements that hold addresses in the file, which are not read.
    Unreadable,
}

/// The attributes of the object at `path`, but those named in `hidden`, in order of their names.
pub(super) fn read_attributes<C: Container>(
    at: &Id<C>,
    path: &str,
    hidden: &[&str],
) -> Result<Vec<Attribute>, h5strata_ffi::Error> {
    let lock = h5strata_ffi::lock();
    h5a::names(&lock, at, path)?
        .into_iter()
        .filter(|name| !hidden.contains(&name.as_str()))
        .map(|name| read_attribute(&lock, at, path, name))
        .collect()
}

fn read_attribute<C: Container>(
    lock: &Lock,
    at: &Id<C>,
    path: &str,
    name: String,
) -> Result<Attribute, h5strata_ffi::Error> {
    let attribute = h5a::open(lock, at, path, &name)?;
    let dtype = describe::dtype(&h5t::describe(lock, &h5a::datatype(lock, &attribute)?)?);
    let extent = h5s::extent(lock, &h5a::space(lock, &attribute)?)?;
    let value = if extent == h5s::Extent::Null {
        AttributeValue::Empty
    } else if dtype.is_variable_string() {
        AttributeValue::Strings(h5a::read_variable_strings(lock, &attribute)?)
    } else if dtype.has_pointers() {
        AttributeValue::Unreadable
    } else {
        AttributeValue::Bytes(h5a::read(lock, &attribute)?)
    };
    Ok(Attribute { name, dtype, shape: extent.dims().to_vec(), value })
}
