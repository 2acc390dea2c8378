use crate::dims::DimsError;

/// A selection that does not fit the shape it is used with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// More axes are selected than the dataset has.
    #[error("the selection has {found} axes, the dataset has {rank}")]
    TooManyAxes {
        /// Axes in the selection, the ellipsis not counted.
        found: usize,
        /// Axes of the dataset.
        rank: usize,
    },
    /// More than one ellipsis.
    #[error("a selection can hold only one ellipsis (...)")]
    TwoEllipses,
    /// An index outside the axis.
    #[error("index {index} is out of bounds for axis {axis} of size {size}")]
    OutOfBounds {
        /// The axis, from 0.
        axis: usize,
        /// The index as given.
        index: i64,
        /// Elements along the axis.
        size: u64,
    },
    /// A slice with step 0.
    #[error("slice step of axis {axis} is zero")]
    ZeroStep {
        /// The axis, from 0.
        axis: usize,
    },
    /// A mask whose length is not that of its axis.
    #[error("mask of {found} elements for axis {axis} of size {size}")]
    MaskLength {
        /// The axis, from 0.
        axis: usize,
        /// Elements along the axis.
        size: u64,
        /// Elements in the mask.
        found: u64,
    },
    /// A mask whose number of elements is not that of its shape.
    #[error("mask of {found} elements for a shape of {expected}")]
    MaskSize {
        /// Elements in the shape.
        expected: u64,
        /// Elements in the mask.
        found: u64,
    },
    /// A mask over all axes whose shape is not the dataset's.
    #[error("mask of shape {found:?} for a dataset of shape {expected:?}")]
    MaskShape {
        /// The dataset's shape in elements.
        expected: Vec<u64>,
        /// The mask's shape in elements.
        found: Vec<u64>,
    },
    /// Coordinates that are no whole number of points, or points of another rank than the dataset.
    #[error("{values} coordinate values cannot be points of {rank} axes")]
    PointsRank {
        /// Axes a point must have.
        rank: usize,
        /// Coordinate values given.
        values: usize,
    },
    /// `newaxis` in a selection.
    #[error("a new axis cannot be selected from a dataset")]
    NewAxis,
    /// The shape cannot be used.
    #[error(transparent)]
    Dims(#[from] DimsError),
}

/// Text that is no selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("selection {text:?}, character {position}: expected {expected}")]
pub struct ParseError {
    /// The text given.
    pub text: String,
    /// Position of the fault in characters, from 1.
    pub position: usize,
    /// What would have been right there.
    pub expected: &'static str,
}
