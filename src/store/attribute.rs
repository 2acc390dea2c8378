use std::path::Path;

use h5strata_ffi::h5fd::Failure;
use h5strata_ffi::h5t::Description;
use h5strata_ffi::id::{Container, Id};
use h5strata_ffi::{Lock, h5a, h5o, h5s, h5t};
use ndarray::{ArrayBase, Data, Dimension};

use super::describe;
use super::element::{Element, bytes_of};
use super::error::Error;
use super::file::{Direct, FileInner};
use super::library_heaps::library_strings;
use super::narrow::NarrowInteger;
use super::open::{plain_attribute_error, plain_library_error};
use crate::dtype::{Charset, Dtype};
use crate::ondisk::{OndiskError, variable_string_references};
use crate::raw::{StringFault, Threads, resolve_strings};

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

impl Attribute {
    /// One string, as h5py writes a `str`.
    pub fn text(name: impl Into<String>, value: impl AsRef<[u8]>) -> Self {
        Self::strings(name, &[], &[value])
    }

    /// Strings of variable length, given in C order.
    pub fn strings(name: impl Into<String>, shape: &[u64], values: &[impl AsRef<[u8]>]) -> Self {
        let strings = values.iter().map(|value| value.as_ref().to_vec()).collect();
        Self {
            name: name.into(),
            dtype: Dtype::VariableString { charset: Charset::Utf8 },
            shape: shape.to_vec(),
            value: AttributeValue::Strings(strings),
        }
    }

    /// One number or boolean.
    pub fn number<T: Element>(name: impl Into<String>, value: T) -> Self {
        Self::array(name, &ndarray::arr0(value))
    }

    /// An array of numbers or booleans.
    pub fn array<T, S, D>(name: impl Into<String>, values: &ArrayBase<S, D>) -> Self
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let dtype = T::dtype();
        let shape = values.shape().iter().map(|&axis| axis as u64).collect();
        let value = AttributeValue::Bytes(bytes_of(values, &dtype).into_owned());
        Self { name: name.into(), dtype, shape, value }
    }
}

/// The attributes of the object at `path`, but those named in `hidden`, in order of their names; `object` is what
/// errors call it.
pub(super) fn read_attributes<C: Container>(
    file: &FileInner,
    lock: &Lock,
    at: &Id<C>,
    path: &str,
    hidden: &[&str],
    object: &str,
) -> Result<Vec<Attribute>, Error> {
    let names = h5a::names(lock, at, path).map_err(file.library(object))?;
    let failure = file.failure();
    let source = file.attributes(&failure);
    names
        .into_iter()
        .filter(|name| !hidden.contains(&name.as_str()))
        .map(|name| source.read(lock, at, path, name, object))
        .collect()
}

/// What attributes of one file are read with.
pub(crate) struct AttributeSource<'f> {
    /// The file.
    pub(crate) path: &'f Path,
    pub(crate) direct: Option<&'f Direct>,
    /// Why libhdf5 was not given what it has asked for last.
    pub(crate) failure: &'f Failure,
}

impl AttributeSource<'_> {
    /// The attribute of this name of the object at `path`; `object` is what errors call it.
    ///
    /// # Errors
    /// [`Error::Attribute`] for strings that cannot be read, [`Error::Library`].
    pub(crate) fn read<C: Container>(
        &self,
        lock: &Lock,
        at: &Id<C>,
        path: &str,
        name: String,
        object: &str,
    ) -> Result<Attribute, Error> {
        let wrong = |fault| plain_attribute_error(self.path, object, &name)(fault);
        let library = |error| plain_library_error(self.path, object)(error);
        // Its strings first: libhdf5 is not asked for them where they can be had without it.
        let strings = match self.direct {
            Some(direct) => direct.attribute_strings(at, path, &name).map_err(wrong)?,
            None => None,
        };
        let attribute = h5a::open(lock, at, path, &name).map_err(library)?;
        let (description, extent) = described(lock, &attribute).map_err(library)?;
        let dtype = describe::dtype(&description);
        let value = if extent == h5s::Extent::Null {
            AttributeValue::Empty
        } else if let Some(strings) = strings {
            AttributeValue::Strings(strings)
        } else if dtype.is_variable_string() {
            let read = || h5a::read_variable_strings(lock, &attribute);
            AttributeValue::Strings(library_strings(self.failure, read).map_err(wrong)?)
        } else if dtype.has_pointers() {
            AttributeValue::Unreadable
        } else {
            let mut bytes = h5a::read(lock, &attribute).map_err(library)?;
            if let Some(narrow) = NarrowInteger::of(&description) {
                narrow.widen(&mut bytes);
            }
            AttributeValue::Bytes(bytes)
        };
        Ok(Attribute { name, dtype, shape: extent.dims().to_vec(), value })
    }
}

/// Type and extent of an attribute.
fn described(
    lock: &Lock,
    attribute: &h5strata_ffi::id::Attribute,
) -> Result<(Description, h5s::Extent), h5strata_ffi::Error> {
    let description = h5t::describe(lock, &h5a::datatype(lock, attribute)?)?;
    Ok((description, h5s::extent(lock, &h5a::space(lock, attribute)?)?))
}

impl FileInner {
    /// What attributes are read with; `failure`: [`Handle::failure`](super::file::Handle::failure).
    pub(super) fn attributes<'f>(&'f self, failure: &'f Failure) -> AttributeSource<'f> {
        AttributeSource { path: &self.path, direct: self.direct.as_ref(), failure }
    }

    /// As [`Direct::attribute_strings`]; `None` also where there is no positional access.
    pub(super) fn attribute_strings<C: Container>(
        &self,
        at: &Id<C>,
        path: &str,
        name: &str,
    ) -> Result<Option<Vec<Vec<u8>>>, StringFault> {
        match &self.direct {
            Some(direct) => direct.attribute_strings(at, path, name),
            None => Ok(None),
        }
    }
}

impl Direct {
    /// The strings of an attribute of variable-length strings, straight from the file. `None` where libhdf5 must
    /// be asked: whether there is such an attribute at all, and for what is stored in other ways.
    pub(crate) fn attribute_strings<C: Container>(
        &self,
        at: &Id<C>,
        path: &str,
        name: &str,
    ) -> Result<Option<Vec<Vec<u8>>>, StringFault> {
        let Self { bytes, superblock } = self;
        // Objects that are missing or in another file are libhdf5's to tell about.
        let Ok(header) = h5o::address(&h5strata_ffi::lock(), at, path) else { return Ok(None) };
        let find = || variable_string_references(bytes, superblock, header, name);
        let references = match bytes.read_whole(find) {
            Ok(Some(references)) => references,
            Ok(None) | Err(OndiskError::Unsupported { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let copy = |string: &[u8]| Some(string.to_vec());
        let resolve = || {
            resolve_strings(bytes, superblock, &references, &[], Threads::One, copy)
                .map_err(|(_, fault)| fault)
        };
        match bytes.read_whole(resolve) {
            Ok(strings) => Ok(Some(strings)),
            // Valid, and beyond what is decoded here.
            Err(StringFault::Heap(OndiskError::Unsupported { .. })) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}
