use std::fmt;
use std::io;
use std::path::PathBuf;

use h5strata::Error;
use h5strata::dtype::{Dtype, LiteralError, ParseDtypeError};
use h5strata::selection::ParseError;

/// Where operations come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    File(PathBuf),
    Stdin,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

/// Why operations are refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpsError {
    /// They cannot be read.
    #[error("{origin}: {error}")]
    Read { origin: Origin, error: io::Error },
    /// They are no JSON.
    #[error("{origin}: not JSON: {error}")]
    Json { origin: Origin, error: serde_json::Error },
    /// They are no list.
    #[error("{origin}: operations are a JSON array of objects")]
    NoList { origin: Origin },
    /// One of them is wrong.
    #[error("{origin}: operation {number}{}: {fault}", Named(.name))]
    Operation {
        origin: Origin,
        /// Counted from 1.
        number: usize,
        /// What it does; may be empty.
        name: String,
        fault: Box<OpFault>,
    },
}

impl OpsError {
    /// Of the operation at an index.
    pub(super) fn operation(origin: &Origin, at: usize, name: &str, fault: OpFault) -> Self {
        let (origin, name) = (origin.clone(), name.to_owned());
        Self::Operation { origin, number: at + 1, name, fault: Box::new(fault) }
    }
}

/// A name in parentheses, if there is any.
struct Named<'n>(&'n str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0) }
    }
}

/// What is wrong with an operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpFault {
    #[error("it is not an object")]
    NoObject,
    #[error("field \"op\": it must be one of {known}", known = .known.join(", "))]
    Name { known: &'static [&'static str] },
    /// A field that is missing, unknown, or of another type.
    #[error(transparent)]
    Fields(serde_json::Error),
    #[error("field {field:?}: {source}")]
    Field { field: String, source: serde_json::Error },
    #[error("it needs one of the fields {wanted}, and has {found}")]
    OneOf { wanted: &'static str, found: String },
    #[error("field {field:?} goes only with {with:?}")]
    Without { field: &'static str, with: &'static str },
    #[error("field \"select\": {0}")]
    Select(#[from] ParseError),
    #[error("field \"dtype\": {0}")]
    Dtype(#[from] ParseDtypeError),
    #[error("field \"filters\": one compression is enough: {names}")]
    Compressions { names: String },
    #[error("field {field:?}: {source}")]
    Value { field: &'static str, source: ValueFault },
    #[error("field \"npy\": {}: {source}", .path.display())]
    Npy { path: PathBuf, source: NpyFault },
    #[error("{0}")]
    Store(#[from] Error),
}

/// What is wrong with a value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueFault {
    #[error("null is no value of a dataset or attribute")]
    Null,
    #[error("lists of different lengths, or values beside lists")]
    Ragged,
    #[error("numbers, strings and booleans cannot stand in one array")]
    Mixed,
    #[error("an object is a value of a compound type alone: give \"dtype\"")]
    Object,
    #[error("it must be a single value, not a list")]
    List,
    #[error("a value of type {dtype} is an object with the members {members}")]
    Members { dtype: Dtype, members: String },
    #[error("elements of type {dtype} are lists of the shape {shape:?}")]
    Inner { dtype: Dtype, shape: Vec<u64> },
    #[error("{found} is no string")]
    NoString { found: String },
    #[error(transparent)]
    Literal(#[from] LiteralError),
    #[error("values of type {from} do not become {to} by NumPy's rule \"same_kind\"")]
    SameKind { from: String, to: Dtype },
    #[error("the values take more memory than there is")]
    Memory,
}

/// What is wrong with a `.npy` file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpyFault {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not a .npy file")]
    Magic,
    #[error("a .npy file of an unknown version, {0}.{1}")]
    Version(u8, u8),
    #[error("its header is broken: {0}")]
    Header(&'static str),
    #[error("its header has {found} bytes, more than NumPy would read")]
    LongHeader { found: usize },
    #[error("it holds Python objects, which are not read")]
    Objects,
    #[error(transparent)]
    Dtype(#[from] ParseDtypeError),
    #[error("it ends too early: {found} of {expected} bytes")]
    Short { expected: u64, found: u64 },
    #[error("its elements take more memory than there is")]
    Memory,
    #[error("string {element} holds what is no character")]
    Character { element: u64 },
}
