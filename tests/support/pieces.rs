//! Pieces as plain pairs, and strategies for selections, for the oracles of planner and kernel.

use h5strata::plan::Piece;
use h5strata::selection::AxisSelection;
use proptest::prelude::*;

/// (offset, position) pairs of a piece.
pub(crate) fn pairs(piece: &Piece<'_>) -> Vec<(u64, u64)> {
    match *piece {
        Piece::Strided { offset, stride, count, position, reversed } => (0..count)
            .map(|k| (offset + k * stride, if reversed { position - k } else { position + k }))
            .collect(),
        Piece::Listed { offsets, positions } => {
            offsets.iter().copied().zip(positions.iter().copied()).collect()
        }
        Piece::Masked { offset, mask, position, .. } => (0..mask.len() as u64)
            .filter(|&k| mask[k as usize])
            .enumerate()
            .map(|(nth, k)| (offset + k, position + nth as u64))
            .collect(),
    }
}

/// A selection of one axis of `size` elements, of every kind.
pub(crate) fn axis_selection(size: u64) -> BoxedStrategy<AxisSelection> {
    let size = size as i64;
    let bound = proptest::option::of(-size - 2..size + 3);
    let step = prop_oneof![Just(1i64), -7i64..8].prop_filter("zero step", |step| *step != 0);
    let slice = (bound.clone(), bound, step).prop_map(|(start, stop, step)| AxisSelection::Slice {
        start,
        stop,
        step,
    });
    if size == 0 {
        return slice.boxed();
    }
    prop_oneof![
        2 => slice,
        1 => (-size..size).prop_map(AxisSelection::Index),
        1 => proptest::collection::vec(-size..size, 0..20).prop_map(AxisSelection::Indices),
        1 => proptest::collection::vec(any::<bool>(), size as usize).prop_map(AxisSelection::Mask),
    ]
    .boxed()
}

/// (size, chunk size) of one to three axes.
pub(crate) fn shape_and_chunk() -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0u64..14, 1u64..17), 1..4)
}
