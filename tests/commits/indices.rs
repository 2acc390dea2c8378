//! Every form of index writes and reads what it does in an array in memory: staged, committed and read back.

use h5strata::selection::AxisSelection;
use h5strata::{Selection, VersionedFile};
use ndarray::{ArrayD, IxDyn};

use crate::support::Outcome;
use crate::{Scratch, dataset, read};

/// `1:1`, a slice of no element.
const EMPTY: AxisSelection = AxisSelection::Slice { start: Some(1), stop: Some(1), step: 1 };

/// An index, and the elements that it means, by their positions along each axis.
struct Index {
    text: &'static str,
    axes: Vec<Vec<usize>>,
    /// Axes that the result has not.
    dropped: Vec<usize>,
}

fn index<const N: usize>(text: &'static str, axes: [&[usize]; N]) -> Index {
    Index { text, axes: axes.iter().map(|axis| axis.to_vec()).collect(), dropped: Vec::new() }
}

impl Index {
    fn dropping(mut self, axes: &[usize]) -> Self {
        self.dropped = axes.to_vec();
        self
    }

    /// Shape of the result.
    fn shape(&self) -> Vec<u64> {
        let kept = self.axes.iter().enumerate().filter(|(axis, _)| !self.dropped.contains(axis));
        kept.map(|(_, axis)| axis.len() as u64).collect()
    }

    /// The elements in C order.
    fn elements(&self) -> Vec<Vec<usize>> {
        self.axes.iter().fold(vec![Vec::new()], |elements, axis| {
            let with = |element: &Vec<usize>| {
                let element = element.clone();
                axis.iter().map(move |&at| [element.as_slice(), &[at]].concat())
            };
            elements.iter().flat_map(with).collect()
        })
    }
}

/// Writes through an index to a version of its own and holds what is staged, committed and read back to `model`.
fn check(file: &mut VersionedFile, version: &str, parent: &ArrayD<i64>, index: &Index) -> Outcome {
    let selection: Selection = index.text.parse()?;
    let (shape, elements) = (index.shape(), index.elements());
    let values: Vec<i64> = (1..=elements.len() as i64).map(|value| -value).collect();
    let mut model = parent.clone();
    for (element, &value) in elements.iter().zip(&values) {
        model[IxDyn(element)] = value;
    }
    let picked: Vec<i64> = elements.iter().map(|element| model[IxDyn(element)]).collect();

    let mut stage = file.stage(version)?;
    let mut x = stage.dataset_mut("x")?;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    x.write_bytes(&selection, &bytes, &shape)?;
    assert_eq!(x.read::<i64>(Selection::all())?, model, "staged: {}", index.text);
    let again = x.read::<i64>(&selection)?;
    assert_eq!(again.shape().iter().map(|&n| n as u64).collect::<Vec<_>>(), shape);
    assert_eq!(again.into_raw_vec_and_offset().0, picked, "staged: {}", index.text);
    stage.commit()?;

    assert_eq!(read(file, version, "x"), model, "{}", index.text);
    let again = dataset(file, version, "x").read::<i64>(&selection)?;
    assert_eq!(again.shape().iter().map(|&n| n as u64).collect::<Vec<_>>(), shape);
    assert_eq!(again.into_raw_vec_and_offset().0, picked, "{}", index.text);
    Ok(())
}

/// A list beside two slices, masks and empty slices failed or gave other elements than NumPy.
#[test]
fn every_form_of_index_reads_and_writes_as_in_an_array_in_memory() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let first = ArrayD::from_shape_vec(vec![5, 5, 5], (1..=125).collect())?;
    stage.create_dataset("x").chunks(&[2, 3, 4]).data(&first)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[8, 9, 10])?;
    stage.commit()?;
    let mut model = ArrayD::<i64>::zeros(vec![8, 9, 10]);
    first.indexed_iter().for_each(|(at, &value)| model[at] = value);
    assert_eq!(read(&file, "r1", "x"), model);

    let (all8, all9, all10): (Vec<_>, Vec<_>, Vec<_>) =
        ((0..8).collect(), (0..9).collect(), (0..10).collect());
    let indices = [
        index("[2, 5, 6, 7], 1:8, 5:9", [&[2, 5, 6, 7], &[1, 2, 3, 4, 5, 6, 7], &[5, 6, 7, 8]]),
        index("1:8:3, [0, 8], ::-4", [&[1, 4, 7], &[0, 8], &[9, 5, 1]]),
        index("3, :, -1", [&[3], &all9, &[9]]).dropping(&[0, 2]),
        index("..., [7, 1, 4]", [&all8, &all9, &[7, 1, 4]]),
        index(
            "[True, False, False, True, False, False, False, True], 4:5, :",
            [&[0, 3, 7], &[4], &all10],
        ),
        index("::7, ::8, ::9", [&[0, 7], &[0, 8], &[0, 9]]),
        index("5:2, :, :", [&[], &all9, &all10]),
        index(":, 4:4, [1, 2]", [&all8, &[], &[1, 2]]),
        index("[], 0, :", [&[], &[0], &all10]).dropping(&[1]),
        index("...", [&all8, &all9, &all10]),
        index("0, 0, 0", [&[0], &[0], &[0]]).dropping(&[0, 1, 2]),
    ];
    for (number, index) in indices.iter().enumerate() {
        let version = format!("w{number}");
        // Each starts from the enlarged array.
        file.set_current("r1")?;
        check(&mut file, &version, &model, index)?;
    }
    assert_eq!(read(&file, "r0", "x"), first);
    assert_eq!(read(&file, "r1", "x"), model);
    Ok(())
}

/// Masks and points over all axes, and an element named twice: its last value stays.
#[test]
fn masks_and_points_over_all_axes_write_and_read_back() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let first = ArrayD::from_shape_vec(vec![2, 2], vec![1_i64, 2, 3, 4])?;
    stage.create_dataset("x").chunks(&[1, 1]).data(&first)?;
    let ten = ArrayD::from_shape_vec(vec![10], (0_i64..10).collect())?;
    stage.create_dataset("ten").chunks(&[4]).data(&ten)?;
    stage.commit()?;

    let square = Selection::mask(&[2, 2], vec![true, false, false, true])?;
    let on: Vec<bool> = (0..10).map(|element| [0, 3, 5, 6, 9].contains(&element)).collect();
    let line = Selection::mask(&[10], on.clone())?;
    let points = Selection::points(1, vec![2, -1, 2])?;
    let mut stage = file.stage("r1")?;
    let mut x = stage.dataset_mut("x")?;
    x.write(&square, &ndarray::array![70_i64, 71])?;
    // Nothing is selected, so nothing is written, whatever its shape.
    let nothing = Selection::axes([AxisSelection::ALL, EMPTY]);
    x.write(&nothing, &ndarray::Array2::<i64>::zeros((2, 0)))?;
    x.write_scalar(&nothing, 5_i64)?;
    let mut ten = stage.dataset_mut("ten")?;
    ten.write(&line, &ndarray::array![50_i64, 51, 52, 53, 54])?;
    ten.write(&points, &ndarray::array![60_i64, 61, 62])?;
    stage.commit()?;

    let expected = [50, 1, 62, 51, 4, 52, 53, 7, 8, 61];
    for file in [file, VersionedFile::open(&scratch.path)?] {
        let x = read(&file, "r1", "x");
        assert_eq!(x.into_raw_vec_and_offset().0, [70, 2, 3, 71]);
        let ten = read(&file, "r1", "ten").into_raw_vec_and_offset().0;
        assert_eq!(ten, expected);
        let masked = dataset(&file, "r1", "ten").read::<i64>(&line)?.into_raw_vec_and_offset().0;
        let model = expected.iter().zip(&on).filter(|(_, on)| **on).map(|(value, _)| *value);
        assert_eq!(masked, model.collect::<Vec<i64>>());
        let picked = dataset(&file, "r1", "ten").read::<i64>(&points)?.into_raw_vec_and_offset().0;
        assert_eq!(picked, [62, 61, 62]);
        assert_eq!(read(&file, "r0", "x"), first);
    }
    Ok(())
}

/// Values are broadcast by NumPy's rules, and values that do not fit are refused and change nothing.
#[test]
fn values_are_broadcast_as_numpy_broadcasts_them() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let zeros = ndarray::Array2::<i64>::zeros((3, 4));
    let mut x = stage.create_dataset("x").chunks(&[2, 2]).data(&zeros)?;
    x.write(Selection::all(), &ndarray::array![[1_i64], [2], [3]])?;
    x.write("1:, 2:".parse::<Selection>()?, &ndarray::array![8_i64, 9])?;
    x.write("0".parse::<Selection>()?, &ndarray::array![[5_i64, 6, 7, 8]])?;
    let before = x.read::<i64>(Selection::all())?;
    assert!(x.write(Selection::all(), &ndarray::array![1_i64, 2, 3]).is_err());
    assert!(x.write("0:2".parse::<Selection>()?, &ndarray::Array2::<i64>::zeros((3, 4))).is_err());
    assert_eq!(x.read::<i64>(Selection::all())?, before);
    stage.commit()?;
    let expected = ndarray::array![[5_i64, 6, 7, 8], [2, 2, 8, 9], [3, 3, 8, 9]].into_dyn();
    assert_eq!(read(&file, "r0", "x"), expected);
    Ok(())
}
