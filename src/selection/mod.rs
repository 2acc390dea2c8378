//! What a user asks for: a [`Selection`] of a dataset's elements, independent of any shape.
//!
//! A selection is *orthogonal*: every axis chooses its own elements by an integer, a slice of any
//! step, an index array or a boolean mask, and the result is their product (`numpy.ix_`). A
//! selection of *points* names single elements by their coordinates instead. Against a shape a
//! selection becomes a [`Resolved`] one, where negative indices are counted from the end, slices
//! are clipped and everything is inside the bounds, by NumPy's rules.

mod convert;
mod error;
mod resolve;
mod text;

pub use error::{ParseError, SelectionError};
pub use resolve::{Resolved, ResolvedAxis};
pub(crate) use resolve::{ResolvedKind, wrap_index};

use crate::dims::element_count;

/// What one axis contributes to a [`Selection`]. Indices start at 0; negative ones count from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AxisSelection {
    /// One element; the axis is dropped from the result.
    Index(i64),
    /// `start:stop:step` with Python's meaning: clipped to the axis, never out of bounds.
    Slice {
        /// First element; `None` is the near end in the direction of `step`.
        start: Option<i64>,
        /// First element not selected; `None` is the far end in the direction of `step`.
        stop: Option<i64>,
        /// Distance between selected elements; negative walks backwards, 0 is an error.
        step: i64,
    },
    /// The elements at these indices, in this order, repeats allowed.
    Indices(Vec<i64>),
    /// The elements where the mask is true; as long as the axis.
    Mask(Vec<bool>),
    /// As many whole axes as are missing; at most one in a selection.
    Ellipsis,
    /// A new axis of length 1 (`numpy.newaxis`): reading does not support it.
    NewAxis,
}

impl AxisSelection {
    /// The whole axis, `:`.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Axes(Vec<AxisSelection>),
    /// Row-major coordinates, `rank` values a point.
    Points {
        rank: usize,
        coordinates: Vec<i64>,
    },
    /// A mask over all axes at once: its true elements in row-major order.
    Mask {
        shape: Vec<u64>,
        mask: Vec<bool>,
    },
}

/// Elements of a dataset that a user asks for.
///
/// ```
/// use h5strata::Selection;
/// let selection: Selection = "0:10, ::2, [1, 5, 9], ..., -1".parse()?;
/// assert_eq!(selection.to_string(), "0:10, ::2, [1, 5, 9], ..., -1");
/// # Ok::<(), h5strata::selection::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    kind: Kind,
}

impl Selection {
    /// Every element, whatever the shape: `...`.
    pub fn all() -> Self {
        Self::axes([AxisSelection::Ellipsis])
    }

    /// An orthogonal selection, slowest axis first; axes left out at the end are taken whole.
    pub fn axes(axes: impl IntoIterator<Item = AxisSelection>) -> Self {
        Self { kind: Kind::Axes(axes.into_iter().collect()) }
    }

    /// Single elements by their coordinates: `coordinates` holds `rank` indices a point, one point
    /// after the other. The result has one axis, in the order given.
    ///
    /// # Errors
    /// [`SelectionError::PointsRank`] if the coordinates are no whole number of points.
    pub fn points(rank: usize, coordinates: Vec<i64>) -> Result<Self, SelectionError> {
        if rank == 0 || !coordinates.len().is_multiple_of(rank) {
            return Err(SelectionError::PointsRank { rank, values: coordinates.len() });
        }
        Ok(Self { kind: Kind::Points { rank, coordinates } })
    }

    /// The elements where a mask over the whole dataset is true, in row-major order, as one axis.
    /// `mask` is the row-major mask of `shape`.
    ///
    /// # Errors
    /// [`SelectionError::MaskSize`] if `mask` does not have as many elements as `shape`.
    pub fn mask(shape: &[u64], mask: Vec<bool>) -> Result<Self, SelectionError> {
        let expected = element_count(shape)?;
        if mask.len() as u64 != expected {
            return Err(SelectionError::MaskSize { expected, found: mask.len() as u64 });
        }
        if shape.len() == 1 {
            return Ok(Self::axes([AxisSelection::Mask(mask)]));
        }
        Ok(Self { kind: Kind::Mask { shape: shape.to_vec(), mask } })
    }
}
