//! NumPy's broadcasting of a value to a selection.

use super::StagedError;
use crate::dims::{Dims, byte_count, strides};
use crate::selection::{Resolved, ResolvedAxis};

/// Distances in elements between neighbours in `value` along each axis of the plan of `selection`, whose
/// result has the shape `output`; 0 where one element stands for the whole axis.
///
/// As in NumPy axes are aligned at the end, axes of 1 element are repeated, and further axes of
/// 1 element at the front are ignored.
pub(super) fn value_strides<E: std::error::Error + 'static>(
    selection: &Resolved<'_>,
    output: &[u64],
    value: &[u64],
) -> Result<Dims, StagedError<E>> {
    let cannot = || StagedError::Broadcast { value: value.into(), selection: output.into() };
    let (surplus, own) = value.split_at(value.len().saturating_sub(output.len()));
    if surplus.iter().any(|&size| size != 1) {
        return Err(cannot());
    }
    let missing = output.len() - own.len();
    let mut kept = Dims::from_elem(0, missing);
    for ((&size, &wanted), &stride) in own.iter().zip(&output[missing..]).zip(&strides(own)?) {
        kept.push(match size {
            _ if size == wanted => stride,
            1 => 0,
            _ => return Err(cannot()),
        });
    }
    let Some(axes) = selection.axes() else {
        return Ok(kept);
    };
    // An integer has one element and no axis in the result.
    let mut kept = kept.into_iter();
    let stride = |axis: &ResolvedAxis<'_>| match axis {
        ResolvedAxis::Strided { keep: false, .. } => 0,
        _ => kept.next().unwrap_or(0),
    };
    Ok(axes.iter().map(stride).collect())
}

/// Checks that `value` holds the elements of `shape`.
pub(super) fn check_size<E: std::error::Error + 'static>(
    value: &[u8],
    shape: &[u64],
    element_size: usize,
) -> Result<(), StagedError<E>> {
    let expected = byte_count(shape, element_size)?;
    let found = value.len() as u64;
    if found == expected { Ok(()) } else { Err(StagedError::ValueSize { expected, found }) }
}
