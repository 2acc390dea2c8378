//! Reads of random datasets against a dense array that was read once as a whole: selections of every kind.

use std::sync::LazyLock;

use h5strata::selection::AxisSelection;
use h5strata::{Dataset, OpenOptions, RawPath, Selection, VersionedFile};
use proptest::prelude::*;

use crate::pieces::{axis_selection, naive_axis, naive_product};
use crate::support::made;
use crate::support::values::Values;

/// Every dataset of every version of the file of random datasets, read in either way, and its values.
static DATASETS: LazyLock<Vec<(Dataset, Values)>> = LazyLock::new(|| {
    let made = made::file("random-datasets").unwrap();
    let digests = made.digests().unwrap();
    let mut datasets = Vec::new();
    for path in [RawPath::Auto, RawPath::Library] {
        let file = OpenOptions::new().raw_path(path).open(&made.path).unwrap();
        for row in &digests {
            let dataset = file.version(&row.version).unwrap().dataset(&row.dataset).unwrap();
            let values = Values::whole(&dataset).unwrap();
            // The dense array is itself what h5py reads.
            assert_eq!((&values.sha256(), &values.shape), (&row.sha256, &row.shape), "{row:?}");
            datasets.push((dataset, values));
        }
    }
    datasets
});

/// The elements at these coordinates of a dense array, in a result of this shape.
fn naive(values: &Values, shape: Vec<u64>, coordinates: &[Vec<u64>]) -> Values {
    let positions: Vec<usize> = coordinates
        .iter()
        .map(|element| h5strata::dims::ravel(element, &values.shape).unwrap() as usize)
        .collect();
    values.gather(shape, &positions)
}

fn naive_axes(values: &Values, axes: &[AxisSelection]) -> Values {
    let chosen: Vec<Vec<i64>> =
        axes.iter().zip(&values.shape).map(|(axis, &size)| naive_axis(axis, size as i64)).collect();
    let kept =
        axes.iter().zip(&chosen).filter(|(axis, _)| !matches!(axis, AxisSelection::Index(_)));
    naive(values, kept.map(|(_, chosen)| chosen.len() as u64).collect(), &naive_product(&chosen))
}

fn any_dataset() -> impl Strategy<Value = &'static (Dataset, Values)> {
    (0..DATASETS.len()).prop_map(|number| &DATASETS[number])
}

fn with_axes() -> impl Strategy<Value = (&'static (Dataset, Values), Vec<AxisSelection>)> {
    any_dataset().prop_flat_map(|dataset| {
        let axes: Vec<_> = dataset.1.shape.iter().map(|&size| axis_selection(size)).collect();
        (Just(dataset), axes)
    })
}

fn with_points() -> impl Strategy<Value = (&'static (Dataset, Values), Vec<Vec<i64>>)> {
    let has_elements = |dataset: &&(Dataset, Values)| !dataset.1.shape.contains(&0);
    any_dataset().prop_filter("no elements", has_elements).prop_flat_map(|dataset| {
        let point: Vec<_> =
            dataset.1.shape.iter().map(|&size| -(size as i64)..size as i64).collect();
        (Just(dataset), proptest::collection::vec(point, 0..40))
    })
}

fn with_mask() -> impl Strategy<Value = (&'static (Dataset, Values), Vec<bool>)> {
    any_dataset().prop_flat_map(|dataset| {
        let count: u64 = dataset.1.shape.iter().product();
        (Just(dataset), proptest::collection::vec(any::<bool>(), count as usize))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn orthogonal_selections_equal_the_dense_array(((dataset, values), axes) in with_axes()) {
        let found = Values::read(dataset, &Selection::axes(axes.clone())).unwrap();
        prop_assert_eq!(found, naive_axes(values, &axes));
    }

    #[test]
    fn points_equal_the_dense_array(((dataset, values), points) in with_points()) {
        let selection = Selection::points(values.shape.len(), points.concat()).unwrap();
        let found = Values::read(dataset, &selection).unwrap();
        let wrap = |(&index, &size): (&i64, &u64)| index.rem_euclid(size as i64) as u64;
        let elements: Vec<Vec<u64>> =
            points.iter().map(|point| point.iter().zip(&values.shape).map(wrap).collect()).collect();
        prop_assert_eq!(found, naive(values, vec![points.len() as u64], &elements));
    }

    #[test]
    fn masks_equal_the_dense_array(((dataset, values), mask) in with_mask()) {
        let chosen: Vec<usize> = (0..mask.len()).filter(|&position| mask[position]).collect();
        let found = Values::read(dataset, &Selection::mask(&values.shape, mask).unwrap()).unwrap();
        prop_assert_eq!(found, values.gather(vec![chosen.len() as u64], &chosen));
    }

    #[test]
    fn read_into_writes_every_byte(((dataset, _), axes) in with_axes()) {
        let selection = Selection::axes(axes);
        let (expected, _) = dataset.read_bytes(&selection).unwrap();
        // What was in the buffer before shows through nowhere.
        let mut out = vec![0xa5; expected.len()];
        dataset.read_into(&selection, &mut out).unwrap();
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn numbers_of_either_byte_order_are_those_of_the_bytes() {
    let file = VersionedFile::open(made::file("dtype-numbers").unwrap().path).unwrap();
    let version = file.version("r1").unwrap();
    macro_rules! check {
        ($($number:ty, $name:literal;)*) => {$(
            for (order, decode) in [
                ("le", <$number>::from_le_bytes as fn(_) -> $number),
                ("be", <$number>::from_be_bytes),
            ] {
                let dataset = version.dataset(&format!("{order}-{}", $name)).unwrap();
                let (bytes, shape) = dataset.read_bytes(&Selection::all()).unwrap();
                let (numbers, rest) = bytes.as_chunks();
                assert!(rest.is_empty());
                let expected = numbers.iter().map(|&number| decode(number).to_ne_bytes());
                let found = dataset.read::<$number>(..).unwrap();
                let axes: Vec<u64> = found.shape().iter().map(|&axis| axis as u64).collect();
                assert_eq!(axes, shape.as_slice());
                // Bit for bit: NaNs as well.
                assert!(found.iter().map(|number| number.to_ne_bytes()).eq(expected), "{order}-{}", $name);
            }
        )*};
    }
    check! {
        i8, "i1"; i16, "i2"; i32, "i4"; i64, "i8";
        u8, "u1"; u16, "u2"; u32, "u4"; u64, "u8";
        f32, "f4"; f64, "f8";
    }
}
