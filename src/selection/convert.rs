//! Selections from `ndarray`'s slices and from ranges.

use std::ops::RangeFull;

use ndarray::{SliceInfo, SliceInfoElem};

use super::{AxisSelection, Selection};

impl From<&Selection> for Selection {
    fn from(selection: &Selection) -> Self {
        selection.clone()
    }
}

impl From<RangeFull> for Selection {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}

/// What `ndarray::s![...]` makes. A negative step means what it means there: the elements of
/// `start..end`, walked from the last one backwards.
impl<const N: usize, Din, Dout> From<SliceInfo<[SliceInfoElem; N], Din, Dout>> for Selection
where
    Din: ndarray::Dimension,
    Dout: ndarray::Dimension,
{
    fn from(info: SliceInfo<[SliceInfoElem; N], Din, Dout>) -> Self {
        let elements: &[SliceInfoElem] = info.as_ref();
        Self::axes(elements.iter().map(|&element| axis(element)))
    }
}

fn axis(element: SliceInfoElem) -> AxisSelection {
    match element {
        SliceInfoElem::Index(index) => AxisSelection::Index(index as i64),
        SliceInfoElem::Slice { start, end, step } if step < 0 => AxisSelection::Slice {
            // The last element of `start..end` comes first; `end` 0 selects nothing.
            start: match end {
                None => None,
                Some(0) => {
                    return AxisSelection::Slice { start: Some(0), stop: Some(0), step: 1 };
                }
                Some(end) => Some((end as i64).saturating_sub(1)),
            },
            stop: if start == 0 { None } else { Some((start as i64).saturating_sub(1)) },
            step: step as i64,
        },
        SliceInfoElem::Slice { start, end, step } => AxisSelection::Slice {
            start: Some(start as i64),
            stop: end.map(|end| end as i64),
            step: step as i64,
        },
        SliceInfoElem::NewAxis => AxisSelection::NewAxis,
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, s};

    use super::*;
    use crate::selection::ResolvedAxis;

    fn walk(selection: Selection, size: u64) -> Vec<i64> {
        let resolved = selection.resolve(&[size]).unwrap();
        let ResolvedAxis::Strided { start, step, count, .. } = resolved.axes().unwrap()[0] else {
            panic!("a slice resolves to a strided axis")
        };
        (0..count.cast_signed()).map(|k| start.cast_signed() + k * step).collect()
    }

    #[test]
    fn slices_select_what_ndarray_selects() {
        let array: Array1<i64> = (0..10).collect();
        macro_rules! check {
            ($($slice:expr;)*) => {$({
                let slice = $slice;
                assert_eq!(walk(slice.into(), 10), array.slice(slice).to_vec());
            })*};
        }
        check!(
            s![..];
            s![2..7];
            s![..-3];
            s![-4..];
            s![..;3];
            s![1..9;4];
            s![..;-1];
            s![2..9;-3];
            s![-5..;-2];
            s![0..0;-1];
            s![3..3];
            s![0..1;-1];
        );
        assert!(walk(s![..isize::MIN;-1].into(), 10).is_empty());
    }
}
