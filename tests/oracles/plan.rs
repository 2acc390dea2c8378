//! The planner against a naive oracle: every selected element once, in chunk order, nothing else.

use bumpalo::Bump;
use h5strata::{ReadPlan, Selection};
use proptest::prelude::*;

use crate::pieces::{axis_selection, elements, naive_axis, naive_product, pairs, shape_and_chunk};

fn check(selection: &Selection, shape: &[u64], chunk: &[u64], expected: &[Vec<u64>]) {
    let arena = Bump::new();
    let plan = ReadPlan::new(selection, shape, chunk, &arena).unwrap();
    assert_eq!(plan.output_count(), expected.len() as u64);
    assert_eq!(plan.output_shape().iter().product::<u64>(), expected.len() as u64);

    let mut found = vec![None; expected.len()];
    let mut transfers = plan.transfers();
    let mut last_chunk = None;
    let mut number = 0;
    while let Some(transfer) = transfers.advance() {
        assert!(last_chunk < Some(transfer.chunk()), "chunks rise");
        last_chunk = Some(transfer.chunk());
        let chunk_coordinate = plan.chunk_coordinate(transfer.chunk());
        let span = transfer.chunk_span();
        let (mut low, mut high) = (u64::MAX, 0);
        for piece in transfer.pieces() {
            let pairs = pairs(piece);
            assert_eq!(pairs.len() as u64, piece.count());
            assert!(pairs.is_sorted_by_key(|pair| pair.0), "offsets rise");
        }
        let elements = elements(&transfer);
        assert!(!elements.is_empty(), "a transfer moves something");
        assert_eq!(elements.len() as u64, transfer.count());
        for (in_chunk, in_buffer) in elements {
            (low, high) = (low.min(in_chunk), high.max(in_chunk));
            let offset = h5strata::dims::unravel(in_chunk, chunk);
            let element: Vec<u64> =
                (0..shape.len()).map(|a| chunk_coordinate[a] * chunk[a] + offset[a]).collect();
            let slot = &mut found[in_buffer as usize];
            assert_eq!(*slot, None, "each buffer position once");
            *slot = Some(element);
        }
        assert_eq!(span, low..high + 1);
        // A walk that starts here begins with this transfer.
        let mut later = plan.transfers_in(number..plan.len());
        assert_eq!(later.advance().unwrap().pieces(), transfer.pieces());
        number += 1;
    }
    assert_eq!(number, plan.len());
    let found: Vec<Vec<u64>> = found.into_iter().map(Option::unwrap).collect();
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn orthogonal_selections_equal_the_oracle(
        (axes, selection) in shape_and_chunk().prop_flat_map(|axes| {
            let selection: Vec<_> = axes.iter().map(|axis| axis_selection(axis.0)).collect();
            (Just(axes), selection)
        })
    ) {
        let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let naive: Vec<_> =
            selection.iter().zip(&shape).map(|(s, &size)| naive_axis(s, size as i64)).collect();
        check(&Selection::axes(selection), &shape, &chunk, &naive_product(&naive));
    }

    #[test]
    fn points_equal_the_oracle(
        (axes, points) in shape_and_chunk()
            .prop_map(|axes| axes.into_iter().map(|(s, c)| (s + 1, c)).collect::<Vec<_>>())
            .prop_flat_map(|axes| {
                let point: Vec<_> =
                    axes.iter().map(|axis| -(axis.0 as i64)..axis.0 as i64).collect();
                (Just(axes), proptest::collection::vec(point, 0..30))
            })
    ) {
        let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let naive: Vec<Vec<u64>> = points
            .iter()
            .map(|point| {
                point.iter().zip(&shape).map(|(i, &s)| i.rem_euclid(s as i64) as u64).collect()
            })
            .collect();
        let selection = Selection::points(shape.len(), points.concat()).unwrap();
        check(&selection, &shape, &chunk, &naive);
    }

    #[test]
    fn masks_over_all_axes_equal_the_oracle(
        (axes, mask) in shape_and_chunk().prop_flat_map(|axes| {
            let count: u64 = axes.iter().map(|axis| axis.0).product();
            (Just(axes), proptest::collection::vec(any::<bool>(), count as usize))
        })
    ) {
        let (shape, chunk): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let naive: Vec<Vec<u64>> = (0..mask.len() as u64)
            .filter(|&position| mask[position as usize])
            .map(|position| h5strata::dims::unravel(position, &shape).to_vec())
            .collect();
        check(&Selection::mask(&shape, mask).unwrap(), &shape, &chunk, &naive);
    }
}

#[test]
fn rank_0_has_one_element() {
    check(&Selection::all(), &[], &[], &[vec![]]);
}

#[test]
fn extreme_shapes_do_not_overflow() {
    let arena = Bump::new();
    let huge = [u64::MAX / 2];
    let last: Selection = "-1".parse().unwrap();
    let plan = ReadPlan::new(&last, &huge, &[1000], &arena).unwrap();
    assert_eq!(plan.len(), 1);
    let reversed: Selection = "::-9223372036854775807".parse().unwrap();
    assert_eq!(ReadPlan::new(&reversed, &huge, &[1000], &arena).unwrap().output_count(), 1);
    let all = Selection::all();
    assert!(ReadPlan::new(&all, &[u64::MAX], &[1 << 40], &arena).is_err());
    assert!(ReadPlan::new(&all, &[1 << 33, 1 << 33], &[1, 1], &arena).is_err());
    let all_large = ReadPlan::new(&all, &[1 << 31, 1 << 31], &[1 << 10, 1], &arena).unwrap();
    assert_eq!(all_large.len(), 1 << 52);
    let mut last = all_large.transfers_in((1 << 52) - 1..u64::MAX);
    assert_eq!(last.advance().unwrap().chunk().0, (1 << 52) - 1);
    assert!(last.advance().is_none());
}
