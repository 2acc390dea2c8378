use crate::dtype::{CastError, LiteralError};
use crate::store::StageFault;

/// Why a dataset cannot be given other settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteFault {
    /// No version has such a dataset.
    #[error("no version has such a dataset{}", nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    Unknown {
        /// The path that is most like it.
        nearest: Option<String>,
    },
    /// Values of its type cannot become values of the type asked for.
    #[error("its {0}")]
    Cast(#[from] CastError),
    /// A fill value that is none of the type.
    #[error("fill value: {0}")]
    Fill(#[from] LiteralError),
    /// A fill value of another size than the elements.
    #[error("a fill value of {found} bytes for elements of {expected}")]
    FillSize {
        /// Bytes of an element.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// Strings of fixed length whose fill value is not the empty string, which those of variable length cannot have.
    #[error(
        "its fill value is a string that is not empty, and strings of variable length are filled with the empty one \
         and with no other: change the fill value first"
    )]
    StringFill,
    /// Settings that no dataset can have, or not this one.
    #[error(transparent)]
    Settings(Box<StageFault>),
}

impl From<StageFault> for RewriteFault {
    fn from(fault: StageFault) -> Self {
        Self::Settings(Box::new(fault))
    }
}
