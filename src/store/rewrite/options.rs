use crate::codec::FilterRequest;
use crate::dims::Dims;
use crate::dtype::{Dtype, Literal, LiteralError};
use crate::snapshot::OnProgress;

/// The settings that datasets are to have in all versions. What is not said stays as it is.
///
/// ```no_run
/// use h5strata::codec::{Filter, FilterRequest};
/// use h5strata::{RewriteOptions, VersionedFile};
///
/// let mut file = VersionedFile::open_rw("prices.h5")?;
/// let filters =
///     FilterRequest { shuffle: true, compression: Some(Filter::gzip(4)), ..FilterRequest::default() };
/// let options = RewriteOptions::new().chunks(&[64, 256]).filters(filters);
/// let report = file.rewrite(&["equity/close"], &options)?;
/// println!("{} chunks", report.datasets[0].chunks);
/// # Ok::<(), h5strata::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RewriteOptions {
    pub(super) chunk_shape: Option<Dims>,
    pub(super) dtype: Option<Dtype>,
    pub(super) fill: Option<FillValue>,
    pub(super) filters: Option<FilterRequest>,
    pub(super) dry_run: bool,
    pub(super) on_progress: Option<OnProgress>,
}

/// A fill value as it was given.
#[derive(Clone, Debug)]
pub(super) enum FillValue {
    /// The bytes of an element.
    Element(Vec<u8>),
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
}

impl FillValue {
    /// The bytes of an element of a type.
    pub(super) fn element(&self, dtype: &Dtype) -> Result<Vec<u8>, LiteralError> {
        let literal = match self {
            Self::Element(bytes) => return Ok(bytes.clone()),
            Self::Bool(value) => Literal::Bool(*value),
            Self::Integer(value) => Literal::Integer(*value),
            Self::Unsigned(value) => Literal::Unsigned(*value),
            Self::Float(value) => Literal::Float(*value),
            Self::Text(text) => Literal::Text(text),
        };
        let mut element = Vec::new();
        dtype.push_literal(literal, &mut element)?;
        Ok(element)
    }

    /// Whether it is the empty string.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Element(bytes) => bytes.is_empty(),
            Self::Text(text) => text.is_empty(),
            _ => false,
        }
    }
}

impl From<Literal<'_>> for FillValue {
    fn from(literal: Literal<'_>) -> Self {
        match literal {
            Literal::Bool(value) => Self::Bool(value),
            Literal::Integer(value) => Self::Integer(value),
            Literal::Unsigned(value) => Self::Unsigned(value),
            Literal::Float(value) => Self::Float(value),
            Literal::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

impl RewriteOptions {
    /// Everything stays as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shape of a chunk in elements.
    #[must_use]
    pub fn chunks(mut self, shape: &[u64]) -> Self {
        self.chunk_shape = Some(Dims::from_slice(shape));
        self
    }

    /// Type of the elements, which are converted as a [`Cast`](crate::dtype::Cast) does it. Strings of fixed length
    /// become those of variable length, too.
    #[must_use]
    pub fn dtype(mut self, dtype: Dtype) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// What stands where nothing is stored: the bytes of one element, in the byte order of the type it is to have.
    ///
    /// Elements that are the old fill value, stored or not, become the new one, bit for bit, in all versions.
    #[must_use]
    pub fn fill(mut self, element: &[u8]) -> Self {
        self.fill = Some(FillValue::Element(element.to_vec()));
        self
    }

    /// As [`fill`](Self::fill), with a value that each dataset's type has to hold.
    #[must_use]
    pub fn fill_value(mut self, value: Literal<'_>) -> Self {
        self.fill = Some(value.into());
        self
    }

    /// The filters, all of them: an empty request leaves none.
    #[must_use]
    pub fn filters(mut self, filters: FilterRequest) -> Self {
        self.filters = Some(filters);
        self
    }

    /// Whether everything is checked, and nothing is written.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Tells how far each dataset has come, all of its versions together.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}
