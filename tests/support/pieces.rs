//! Pieces as plain pairs, strategies for selections and what they mean one element at a time: for the oracles of
//! planner, kernel and reads.
#![allow(dead_code, reason = "compiled into several test binaries, and each of them uses a part")]

use h5strata::plan::{Piece, Transfer};
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

/// (position in the chunk, position in the result) of every element that a transfer moves.
pub(crate) fn elements(transfer: &Transfer<'_>) -> Vec<(u64, u64)> {
    let strides = transfer.chunk_strides().iter().zip(transfer.buffer_strides());
    transfer.pieces().iter().zip(strides).fold(vec![(0, 0)], |elements, (piece, strides)| {
        let pairs = pairs(piece);
        elements
            .iter()
            .flat_map(|&(in_chunk, in_buffer)| {
                pairs.iter().map(move |&(offset, position)| {
                    (in_chunk + offset * strides.0, in_buffer + position * strides.1)
                })
            })
            .collect()
    })
}

/// Elements along one axis that a selection names, one at a time.
pub(crate) fn naive_axis(selection: &AxisSelection, size: i64) -> Vec<i64> {
    match selection {
        AxisSelection::Index(index) => vec![index.rem_euclid(size)],
        AxisSelection::Slice { start, stop, step } => {
            let bound = |bound: i64| if bound < 0 { bound + size } else { bound };
            let mut element = match start {
                Some(start) if *step > 0 => bound(*start).max(0),
                Some(start) => bound(*start).min(size - 1),
                None if *step > 0 => 0,
                None => size - 1,
            };
            let mut elements = Vec::new();
            let before_stop = |element: i64| match stop {
                Some(stop) if *step > 0 => element < bound(*stop),
                Some(stop) => element > bound(*stop),
                None => true,
            };
            while (0..size).contains(&element) && before_stop(element) {
                elements.push(element);
                element += step;
            }
            elements
        }
        AxisSelection::Indices(indices) => indices.iter().map(|i| i.rem_euclid(size)).collect(),
        AxisSelection::Mask(mask) => (0..size).filter(|&i| mask[i as usize]).collect(),
        _ => unreachable!("the strategies make no other kinds"),
    }
}

/// Every coordinate of the selection in the order of the result.
pub(crate) fn naive_product(axes: &[Vec<i64>]) -> Vec<Vec<u64>> {
    axes.iter().fold(vec![Vec::new()], |product, axis| {
        product
            .iter()
            .flat_map(|prefix| {
                axis.iter().map(move |&index| {
                    let mut coordinate = prefix.clone();
                    coordinate.push(index as u64);
                    coordinate
                })
            })
            .collect()
    })
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
