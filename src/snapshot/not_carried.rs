use std::fmt;
use std::sync::Arc;

use crate::dtype::Dtype;
use crate::store::StageFault;

/// An object or attribute that is left behind, wholly or in part.
#[derive(Clone, Debug)]
pub struct NotCarried {
    /// Path of the object; empty for the root.
    pub path: String,
    /// Name of the attribute, if it is one.
    pub attribute: Option<String>,
    /// Why.
    pub reason: Reason,
}

impl NotCarried {
    /// An object.
    pub(crate) fn object(path: impl Into<String>, reason: Reason) -> Self {
        Self { path: path.into(), attribute: None, reason }
    }

    /// An attribute.
    pub(crate) fn attribute(
        path: impl Into<String>,
        name: impl Into<String>,
        reason: Reason,
    ) -> Self {
        Self { path: path.into(), attribute: Some(name.into()), reason }
    }
}

/// `"grp/x", attribute "y": reason`.
impl fmt::Display for NotCarried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path:?}")?;
        if let Some(attribute) = &self.attribute {
            write!(f, ", attribute {attribute:?}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Why something is left behind.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A soft or external link, or one of a program's own class, that leads to no object.
    #[error("the link leads to no object")]
    Link,
    /// A group that is one of the groups it lies in.
    #[error("the group lies in itself")]
    Cycle,
    /// A group that lies too deep.
    #[error("it lies in more than {most} groups")]
    Depth {
        /// The most there may be.
        most: usize,
    },
    /// A datatype stored under a name, or an object that is neither group nor dataset.
    #[error("it is neither a group nor a dataset")]
    Kind,
    /// A name that the format of versioned files needs for itself.
    #[error("the name {name:?} is the format's own")]
    Reserved {
        /// The name.
        name: String,
    },
    /// A dataset of one element without axes.
    #[error("scalar datasets cannot be versioned")]
    Scalar,
    /// A dataset or attribute of no dataspace.
    #[error("it has no dataspace")]
    Null,
    /// Elements that are addresses of objects or regions of their own file.
    #[error("its elements refer to objects of their own file")]
    Reference,
    /// Elements of a type that cannot be stored.
    #[error("elements of the type {dtype} cannot be stored")]
    Type {
        /// The type.
        dtype: Dtype,
    },
    /// A dataset whose stored chunks in other versions are of another type.
    #[error("its type is {found}, but {stored} in other versions")]
    OtherType {
        /// Type of the stored chunks.
        stored: Dtype,
        /// Its own.
        found: Dtype,
    },
    /// A dataset whose stored chunks in other versions have another number of axes.
    #[error("it has {found} axes, but {stored} in other versions")]
    OtherRank {
        /// Axes of the stored chunks.
        stored: usize,
        /// Its own.
        found: usize,
    },
    /// Only a filter is left behind: there is no encoder for it.
    #[error("its values are stored without the filter {filter}, which cannot be written")]
    Filter {
        /// The filter.
        filter: String,
    },
    /// A dataset with a filter that cannot be undone.
    #[error("its chunks went through the filter {filter}, which is not known")]
    UnknownFilter {
        /// The filter.
        filter: String,
    },
    /// An attribute of more bytes than fit an object header.
    #[error("its {bytes} bytes do not fit the header of an object")]
    AttributeSize {
        /// Bytes of its elements.
        bytes: u64,
    },
    /// A version cannot have it.
    #[error(transparent)]
    Stage(Arc<StageFault>),
}

impl From<StageFault> for Reason {
    fn from(fault: StageFault) -> Self {
        match fault {
            StageFault::ReservedAttribute { name } => Self::Reserved { name },
            StageFault::Type { dtype } => Self::Type { dtype },
            fault => Self::Stage(Arc::new(fault)),
        }
    }
}
