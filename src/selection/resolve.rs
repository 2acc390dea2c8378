//! A selection against a shape: NumPy's rules for negative indices, clipping and bounds.

use smallvec::smallvec;

use super::{AxisSelection, Kind, Selection, SelectionError};
use crate::dims::{Dims, DimsError, MAX_RANK, PerAxis, element_count};

/// One axis of a [`Resolved`] selection; every element is inside the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolvedAxis<'s> {
    /// `count` elements from `start`, `step` apart. An integer keeps no axis in the result.
    Strided {
        /// First selected element.
        start: u64,
        /// Distance to the next one; negative walks backwards, never 0.
        step: i64,
        /// Number of selected elements.
        count: u64,
        /// Whether the axis stays in the result's shape.
        keep: bool,
    },
    /// Index array as given: negative values count from the end.
    Indices(&'s [i64]),
    /// The true elements, and how many there are.
    Mask {
        /// As long as the axis.
        mask: &'s [bool],
        /// Number of true elements.
        count: u64,
    },
}

impl ResolvedAxis<'_> {
    /// Number of selected elements along the axis.
    pub fn count(&self) -> u64 {
        match self {
            Self::Strided { count, .. } | Self::Mask { count, .. } => *count,
            Self::Indices(indices) => indices.len() as u64,
        }
    }
}

/// A selection that is known to lie inside a shape.
#[derive(Clone, Debug)]
pub struct Resolved<'s> {
    pub(crate) kind: ResolvedKind<'s>,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would allocate for every strided selection")]
pub(crate) enum ResolvedKind<'s> {
    Axes(PerAxis<ResolvedAxis<'s>>),
    Points(&'s [i64]),
    Mask { mask: &'s [bool], count: u64 },
}

impl<'s> Resolved<'s> {
    /// The axes of an orthogonal selection, one for each axis of the shape; `None` for points.
    pub fn axes(&self) -> Option<&[ResolvedAxis<'s>]> {
        match &self.kind {
            ResolvedKind::Axes(axes) => Some(axes),
            ResolvedKind::Points(_) | ResolvedKind::Mask { .. } => None,
        }
    }

    /// Shape of the result in elements, for a dataset of `rank` axes.
    pub fn output_shape(&self, rank: usize) -> Dims {
        match &self.kind {
            ResolvedKind::Axes(axes) => axes
                .iter()
                .filter(|axis| !matches!(axis, ResolvedAxis::Strided { keep: false, .. }))
                .map(ResolvedAxis::count)
                .collect(),
            ResolvedKind::Points(coordinates) => smallvec![(coordinates.len() / rank) as u64],
            ResolvedKind::Mask { count, .. } => smallvec![*count],
        }
    }
}

impl Selection {
    /// Applies the selection to a shape in elements.
    ///
    /// # Errors
    /// Any [`SelectionError`] but the parse faults.
    pub fn resolve(&self, shape: &[u64]) -> Result<Resolved<'_>, SelectionError> {
        if shape.len() > MAX_RANK {
            return Err(DimsError::RankTooHigh { rank: shape.len() }.into());
        }
        element_count(shape)?;
        let kind = match &self.kind {
            Kind::Axes(axes) => ResolvedKind::Axes(resolve_axes(axes, shape)?),
            Kind::Points { rank, coordinates } => {
                check_points(*rank, coordinates, shape)?;
                ResolvedKind::Points(coordinates)
            }
            Kind::Mask { shape: mask_shape, mask } => {
                if mask_shape != shape {
                    return Err(SelectionError::MaskShape {
                        expected: shape.to_vec(),
                        found: mask_shape.clone(),
                    });
                }
                ResolvedKind::Mask { mask, count: count_true(mask) }
            }
        };
        Ok(Resolved { kind })
    }
}

fn resolve_axes<'s>(
    axes: &'s [AxisSelection],
    shape: &[u64],
) -> Result<PerAxis<ResolvedAxis<'s>>, SelectionError> {
    let ellipses = axes.iter().filter(|axis| matches!(axis, AxisSelection::Ellipsis)).count();
    let named = axes.len() - ellipses;
    if ellipses > 1 {
        return Err(SelectionError::TwoEllipses);
    }
    if named > shape.len() {
        return Err(SelectionError::TooManyAxes { found: named, rank: shape.len() });
    }
    let missing = shape.len() - named;
    let mut resolved = PerAxis::new();
    for axis in axes {
        if matches!(axis, AxisSelection::Ellipsis) {
            take_whole(&mut resolved, shape, missing);
        } else {
            let number = resolved.len();
            resolved.push(resolve_axis(axis, number, shape[number])?);
        }
    }
    let rest = shape.len() - resolved.len();
    take_whole(&mut resolved, shape, rest);
    Ok(resolved)
}

fn take_whole(resolved: &mut PerAxis<ResolvedAxis<'_>>, shape: &[u64], axes: usize) {
    for _ in 0..axes {
        let count = shape[resolved.len()];
        resolved.push(ResolvedAxis::Strided { start: 0, step: 1, count, keep: true });
    }
}

fn resolve_axis(
    selection: &AxisSelection,
    axis: usize,
    size: u64,
) -> Result<ResolvedAxis<'_>, SelectionError> {
    match selection {
        AxisSelection::Index(index) => {
            let start = resolve_index(*index, axis, size)?;
            Ok(ResolvedAxis::Strided { start, step: 1, count: 1, keep: false })
        }
        AxisSelection::Slice { step: 0, .. } => Err(SelectionError::ZeroStep { axis }),
        AxisSelection::Slice { start, stop, step } => {
            let (start, count) = clip_slice(*start, *stop, *step, size);
            Ok(ResolvedAxis::Strided { start, step: *step, count, keep: true })
        }
        AxisSelection::Indices(indices) => {
            for &index in indices {
                resolve_index(index, axis, size)?;
            }
            Ok(ResolvedAxis::Indices(indices))
        }
        AxisSelection::Mask(mask) if mask.len() as u64 != size => {
            Err(SelectionError::MaskLength { axis, size, found: mask.len() as u64 })
        }
        AxisSelection::Mask(mask) => Ok(ResolvedAxis::Mask { mask, count: count_true(mask) }),
        AxisSelection::NewAxis | AxisSelection::Ellipsis => Err(SelectionError::NewAxis),
    }
}

/// The element an index means, negative ones counted from the end; the index must be in bounds.
pub(crate) fn wrap_index(index: i64, size: u64) -> u64 {
    if index < 0 { size.wrapping_sub(index.unsigned_abs()) } else { index.unsigned_abs() }
}

fn resolve_index(index: i64, axis: usize, size: u64) -> Result<u64, SelectionError> {
    let wrapped = wrap_index(index, size);
    // A negative index before the first element wraps to a number above every size.
    if wrapped < size {
        Ok(wrapped)
    } else {
        Err(SelectionError::OutOfBounds { axis, index, size })
    }
}

/// First element and number of elements of a Python slice, as `slice.indices` gives them.
fn clip_slice(start: Option<i64>, stop: Option<i64>, step: i64, size: u64) -> (u64, u64) {
    // 128 bits hold every sum of a 64-bit bound and a 64-bit size.
    let size = i128::from(size);
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + size } else { bound }).clamp(low, high)
    };
    let (near, far) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(near, clip);
    let stop = stop.map_or(far, clip);
    let distance = if step > 0 { stop - start } else { start - stop };
    if distance <= 0 {
        return (0, 0);
    }
    let count = (distance - 1) / i128::from(step.unsigned_abs()) + 1;
    // Both lie in 0..=size, and size is a u64.
    (u64::try_from(start).unwrap_or(0), u64::try_from(count).unwrap_or(0))
}

fn check_points(rank: usize, coordinates: &[i64], shape: &[u64]) -> Result<(), SelectionError> {
    if rank != shape.len() {
        return Err(SelectionError::PointsRank { rank: shape.len(), values: coordinates.len() });
    }
    for point in coordinates.chunks_exact(rank) {
        for (axis, (&index, &size)) in point.iter().zip(shape).enumerate() {
            resolve_index(index, axis, size)?;
        }
    }
    Ok(())
}

fn count_true(mask: &[bool]) -> u64 {
    mask.iter().map(|&chosen| u64::from(chosen)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str, size: u64) -> Vec<u64> {
        let selection: Selection = text.parse().unwrap();
        let resolved = selection.resolve(&[size]).unwrap();
        match resolved.axes().unwrap()[0] {
            ResolvedAxis::Strided { start, step, count, .. } => {
                (0..count).map(|k| start.wrapping_add_signed(step * k.cast_signed())).collect()
            }
            ResolvedAxis::Indices(indices) => {
                indices.iter().map(|&index| wrap_index(index, size)).collect()
            }
            ResolvedAxis::Mask { mask, .. } => {
                (0..size).zip(mask).filter(|(_, chosen)| **chosen).map(|(index, _)| index).collect()
            }
        }
    }

    #[test]
    fn slices_follow_python() {
        // Right-hand sides: list(range(size))[slice] in Python.
        for (text, expected) in [
            (":", vec![0, 1, 2, 3, 4]),
            ("1:3", vec![1, 2]),
            ("-2:", vec![3, 4]),
            (":-2", vec![0, 1, 2]),
            ("::-1", vec![4, 3, 2, 1, 0]),
            ("::-2", vec![4, 2, 0]),
            ("3:0:-2", vec![3, 1]),
            ("-1:-4:-1", vec![4, 3, 2]),
            ("10:-10:-3", vec![4, 1]),
            ("-100:100:4", vec![0, 4]),
            ("3:3", vec![]),
            ("4:1", vec![]),
            ("1:4:-1", vec![]),
            ("9223372036854775807:", vec![]),
            ("-9223372036854775808::9223372036854775807", vec![0]),
            ("::-9223372036854775808", vec![4]),
            ("[4, 0, -1, 0]", vec![4, 0, 4, 0]),
            ("[True, False, False, True, False]", vec![0, 3]),
            ("-5", vec![0]),
        ] {
            assert_eq!(elements(text, 5), expected, "{text}");
        }
        assert_eq!(elements("::-1", 0), Vec::<u64>::new());
    }

    #[test]
    fn faults_are_typed() {
        for (text, expected) in [
            ("5", SelectionError::OutOfBounds { axis: 0, index: 5, size: 5 }),
            ("0, -8", SelectionError::OutOfBounds { axis: 1, index: -8, size: 7 }),
            ("..., [0, 7]", SelectionError::OutOfBounds { axis: 1, index: 7, size: 7 }),
            ("0, 0, 0", SelectionError::TooManyAxes { found: 3, rank: 2 }),
            ("..., 0, ...", SelectionError::TwoEllipses),
            ("::0", SelectionError::ZeroStep { axis: 0 }),
            ("[True]", SelectionError::MaskLength { axis: 0, size: 5, found: 1 }),
        ] {
            let selection: Selection = text.parse().unwrap();
            assert_eq!(selection.resolve(&[5, 7]).unwrap_err(), expected, "{text}");
        }
        let points = Selection::points(2, vec![0, 0, 4, 7]).unwrap();
        assert_eq!(
            points.resolve(&[5, 7]).unwrap_err(),
            SelectionError::OutOfBounds { axis: 1, index: 7, size: 7 }
        );
        assert!(matches!(points.resolve(&[5]), Err(SelectionError::PointsRank { .. })));
        assert!(matches!(Selection::points(2, vec![1]), Err(SelectionError::PointsRank { .. })));
    }

    #[test]
    fn ellipsis_and_missing_axes_are_whole() {
        let shape = [2, 3, 4];
        for (text, expected) in [
            ("...", vec![2, 3, 4]),
            ("0", vec![3, 4]),
            ("..., 0", vec![2, 3]),
            ("1, ..., ::2", vec![3, 2]),
            ("0, ..., 0, 0", vec![]),
            (":, [0, 0], :", vec![2, 2, 4]),
        ] {
            let selection: Selection = text.parse().unwrap();
            assert_eq!(
                selection.resolve(&shape).unwrap().output_shape(3).to_vec(),
                expected,
                "{text}"
            );
        }
    }
}
