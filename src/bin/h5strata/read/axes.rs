//! An orthogonal selection against a shape, in a form that can be cut.

use h5strata::selection::{AxisSelection, ResolvedAxis, Selection, SelectionError};

/// What a selection takes of each axis, slowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axes(Vec<Axis>);

/// What is taken of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// `count` elements from `start`, `step` apart.
    Run {
        /// First element.
        start: i64,
        /// Distance to the next one.
        step: i64,
        /// Number of elements.
        count: u64,
        /// Whether the result has the axis.
        keep: bool,
    },
    /// Elements one by one.
    Picks(Vec<i64>),
}

impl Axes {
    /// Applies a selection to a shape.
    pub(crate) fn new(selection: &Selection, shape: &[u64]) -> Result<Self, SelectionError> {
        let resolved = selection.resolve(shape)?;
        // Points and masks over all axes cannot be written as text.
        let axes = resolved.axes().unwrap_or_default();
        axes.iter()
            .zip(shape)
            .enumerate()
            .map(|(axis, (resolved, &size))| {
                Axis::new(resolved).ok_or(SelectionError::OutOfBounds {
                    axis,
                    index: i64::MAX,
                    size,
                })
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// What is taken of each axis.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.0
    }

    /// The axes that the result has, with their number in the dataset.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (usize, &Axis)> {
        self.0.iter().enumerate().filter(|(_, axis)| axis.is_kept())
    }

    /// Shape of the result.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.kept().map(|(_, axis)| axis.count()).collect()
    }

    /// The same selection with each axis of the result made into another by `change`.
    pub(crate) fn map_kept(&self, change: impl Fn(&Axis) -> AxisSelection) -> Selection {
        Selection::axes(
            self.0
                .iter()
                .map(|axis| if axis.is_kept() { change(axis) } else { axis.part(0, axis.count()) }),
        )
    }
}

impl Axis {
    /// `None` for positions above the highest that a selection can name.
    fn new(resolved: &ResolvedAxis<'_>) -> Option<Self> {
        Some(match resolved {
            ResolvedAxis::Strided { start, step, count, keep } => {
                let start = i64::try_from(*start).ok()?;
                Self::Run { start, step: *step, count: *count, keep: *keep }
            }
            ResolvedAxis::Indices(indices) => Self::Picks(indices.to_vec()),
            ResolvedAxis::Mask { mask, .. } => Self::Picks(
                (0..).zip(*mask).filter(|(_, chosen)| **chosen).map(|(at, _)| at).collect(),
            ),
        })
    }

    /// Number of elements taken.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Run { count, .. } => *count,
            Self::Picks(picks) => picks.len() as u64,
        }
    }

    fn is_kept(&self) -> bool {
        !matches!(self, Self::Run { keep: false, .. })
    }

    /// `count` of the elements taken, from the one at `from`; both must lie inside.
    pub(crate) fn part(&self, from: u64, count: u64) -> AxisSelection {
        match self {
            Self::Run { start, keep: false, .. } => AxisSelection::Index(*start),
            Self::Run { .. } if count == 0 => {
                AxisSelection::Slice { start: Some(0), stop: Some(0), step: 1 }
            }
            Self::Run { step, .. } => {
                let last = self.position(from + count - 1);
                let stop = last.checked_add(step.signum());
                // A slice that walks down to the first element has no number for its end.
                let stop = stop.filter(|stop| *stop >= 0);
                AxisSelection::Slice { start: Some(self.position(from)), stop, step: *step }
            }
            Self::Picks(picks) => {
                let picks = picks.iter().skip(usize::try_from(from).unwrap_or(usize::MAX));
                AxisSelection::Indices(
                    picks.take(usize::try_from(count).unwrap_or(usize::MAX)).copied().collect(),
                )
            }
        }
    }

    /// The elements that are taken first and last, `edge` of each.
    pub(crate) fn edges(&self, edge: u64) -> AxisSelection {
        let count = self.count();
        let ends = (0..edge).chain(count.saturating_sub(edge)..count);
        AxisSelection::Indices(ends.map(|at| self.position(at)).collect())
    }

    /// Where in the dataset the element taken as number `at` is.
    pub(crate) fn position(&self, at: u64) -> i64 {
        match self {
            // Inside the axis, which starts and ends inside 64 bits.
            Self::Run { start, step, .. } => {
                start.wrapping_add(step.wrapping_mul(i64::try_from(at).unwrap_or(i64::MAX)))
            }
            Self::Picks(picks) => {
                usize::try_from(at).ok().and_then(|at| picks.get(at)).copied().unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str, size: u64) -> Axis {
        Axes::new(&text.parse().unwrap(), &[size]).unwrap().0[0].clone()
    }

    /// The elements that an axis selection takes of an axis of `size`.
    fn taken(selection: AxisSelection, size: u64) -> Vec<i64> {
        let axes = Axes::new(&Selection::axes([selection]), &[size]).unwrap();
        (0..axes.0[0].count()).map(|at| axes.0[0].position(at)).collect()
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let mask = "[True,False,True,True,True,False,True,False,True,True]";
        for text in ["::-1", "::3", "8:1:-3", "[9,1,1,4,0]", ":", "3:3", mask] {
            let axis = axis(text, 10);
            let whole: Vec<i64> = (0..axis.count()).map(|at| axis.position(at)).collect();
            for step in 1..=axis.count().max(1) {
                let mut parts = Vec::new();
                for from in (0..axis.count()).step_by(usize::try_from(step).unwrap()) {
                    parts.extend(taken(axis.part(from, step.min(axis.count() - from)), 10));
                }
                assert_eq!(parts, whole, "{text} by {step}");
            }
        }
    }

    #[test]
    fn edges_are_the_first_and_the_last() {
        assert_eq!(taken(axis("::-1", 100).edges(2), 100), [99, 98, 1, 0]);
        assert_eq!(taken(axis("[7,8,9,7,6,5]", 10).edges(1), 10), [7, 5]);
    }

    #[test]
    fn integers_leave_no_axis() {
        let axes = Axes::new(&"-1, :, [0, 2]".parse().unwrap(), &[4, 5, 6]).unwrap();
        assert_eq!(axes.shape(), [5, 2]);
    }
}
