use super::base::BaseError;
use crate::codec::CodecError;
use crate::dtype::Dtype;
use crate::staged::{MemoryBaseError, StagedError};

/// What is wrong with what a stage was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageFault {
    /// A name that no version can have.
    #[error(
        "a version's name has at least one character, is not \".\" or \"__first_version__\", and holds no \"/\""
    )]
    VersionName,
    /// There is a version of this name.
    #[error("there is already a version of this name")]
    VersionExists,
    /// A path with a part that no object can have as its name.
    #[error("no path: its parts must be names, and none of them \".\" or \"..\"")]
    Name,
    /// A name that the format needs for itself.
    #[error("the name {name:?} is the format's own and cannot be used here")]
    Reserved {
        /// The name.
        name: String,
    },
    /// There is something at the path.
    #[error("the path is taken")]
    Exists,
    /// There is nothing at the path.
    #[error("there is no such object{}", nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    Missing {
        /// The path that is most like it.
        nearest: Option<String>,
    },
    /// The object at the path is no dataset.
    #[error("it is not a dataset")]
    NoDataset,
    /// The path lies below a dataset.
    #[error("{dataset:?} is a dataset, nothing can lie in it")]
    BelowDataset {
        /// Path of the dataset.
        dataset: String,
    },
    /// A group cannot be put into itself.
    #[error("it lies in {from:?}, which cannot be put into itself")]
    IntoItself {
        /// Path of the group.
        from: String,
    },
    /// An object that is neither group nor dataset.
    #[error("it is neither a group nor a dataset and cannot be copied")]
    NotCarried,
    /// There is no such attribute.
    #[error("there is no attribute {name:?}")]
    NoAttribute {
        /// Its name.
        name: String,
    },
    /// A name that no attribute can have.
    #[error("{name:?} is no name for an attribute")]
    AttributeName {
        /// The name.
        name: String,
    },
    /// An attribute that the format needs for itself.
    #[error("the attribute {name:?} is the format's own and cannot be changed")]
    ReservedAttribute {
        /// Its name.
        name: String,
    },
    /// An attribute whose values do not make up its shape.
    #[error("the values of the attribute {name:?} are not those of its type and shape")]
    AttributeValue {
        /// Its name.
        name: String,
    },
    /// Rank 0.
    #[error("scalar datasets cannot be versioned: use a dataset of shape (1,), or an attribute")]
    Scalar,
    /// A type that cannot be written.
    #[error("elements of the type {dtype} cannot be written")]
    Type {
        /// The type.
        dtype: Dtype,
    },
    /// Values of another type than the dataset's.
    #[error("values of the type {found} for a dataset of {expected}")]
    ValueType {
        /// Type of the dataset's elements.
        expected: Dtype,
        /// Type of the values.
        found: &'static str,
    },
    /// A property of a dataset that is not what its first version has.
    #[error("its {what} is {stored} in other versions and cannot be {asked}")]
    Disagrees {
        /// The property.
        what: &'static str,
        /// What is stored.
        stored: String,
        /// What was asked for.
        asked: String,
    },
    /// A filter that chunks cannot be written with.
    #[error("it cannot be written: {0}")]
    Filter(#[source] CodecError),
    /// A filter that libhdf5 lacks, which writes strings of variable length.
    #[error("libhdf5 has no filter {filter}, which strings of variable length are written with")]
    LibraryFilter {
        /// Number of the filter.
        filter: u16,
    },
    /// A fill value that is none of the type.
    #[error("a fill value of {found} bytes for elements of {expected}")]
    FillSize {
        /// Bytes of an element.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// Strings of variable length that are not filled with the empty one, which versions cannot say.
    #[error("strings of variable length are filled with the empty string and with no other")]
    StringFill,
    /// A string with a zero byte, at which HDF5 would end it.
    #[error("string {element} holds a zero byte")]
    ZeroByte {
        /// Which of the strings, from 0.
        element: usize,
    },
    /// Strings whose number is not that of their shape.
    #[error("{found} strings for the shape {shape:?}")]
    StringCount {
        /// The shape.
        shape: Vec<u64>,
        /// How many there are.
        found: usize,
    },
    /// The staged values could not be changed or read.
    #[error(transparent)]
    Array(Box<StagedError<BaseError>>),
    /// Values that cannot be cut into chunks.
    #[error(transparent)]
    Memory(Box<MemoryBaseError>),
}

impl From<StagedError<BaseError>> for StageFault {
    fn from(error: StagedError<BaseError>) -> Self {
        Self::Array(Box::new(error))
    }
}

impl From<MemoryBaseError> for StageFault {
    fn from(error: MemoryBaseError) -> Self {
        Self::Memory(Box::new(error))
    }
}
