//! Random trees of versions of a dataset that is written, resized, deleted and made again, against the naive model.

use std::collections::HashSet;

use h5strata::dims::unravel;
use h5strata::selection::AxisSelection;
use h5strata::{Selection, StageOptions, VersionedFile};
use ndarray::{ArrayD, IxDyn, Slice};

use crate::model::{self, Chunked, Naive};
use crate::support::values::Numbers;
use crate::{Scratch, coordinates, diff};

/// Versions of a history.
const VERSIONS: usize = 7;

/// A history in a file and as arrays; chunks that are all fill are common in it.
struct History {
    file: VersionedFile,
    _scratch: Scratch,
    versions: Vec<Naive>,
    chunk: Vec<u64>,
}

fn name(version: usize) -> String {
    format!("r{version}")
}

/// Few different values, so that chunks come back.
fn value(numbers: &mut Numbers) -> i64 {
    (numbers.below(3) * numbers.below(2)) as i64
}

impl History {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let rank = 1 + numbers.below(3) as usize;
        let chunk: Vec<u64> = (0..rank).map(|_| 1 + numbers.below(4)).collect();
        let scratch = Scratch::new();
        let (mut file, mut versions) = (scratch.create(), Vec::<Naive>::new());
        for number in 0..VERSIONS {
            let parent =
                (number > 0 && numbers.below(8) > 0).then(|| numbers.below(number as u64) as usize);
            let options = match parent {
                Some(parent) => StageOptions::new().parent(name(parent)),
                None => StageOptions::new().no_parent(),
            };
            let mut stage = options.stage(&mut file, &name(number)).unwrap();
            let mut array =
                parent.and_then(|parent| Some(versions[parent].array.as_ref()?.array.clone()));
            if array.is_some() && numbers.below(8) == 0 {
                stage.delete("x").unwrap();
                array = None;
            }
            if array.is_none() && numbers.below(4) > 0 {
                let shape: Vec<usize> = (0..rank).map(|_| numbers.below(9) as usize).collect();
                let made = ArrayD::from_shape_fn(IxDyn(&shape), |_| value(&mut numbers));
                stage.create_dataset("x").chunks(&chunk).data(&made).unwrap();
                array = Some(made);
            } else if let Some(array) = &mut array {
                let mut staged = stage.dataset_mut("x").unwrap();
                if numbers.below(2) == 0 {
                    let shape: Vec<u64> = (0..rank).map(|_| numbers.below(9)).collect();
                    staged.resize(&shape).unwrap();
                    *array = resized(array, &shape);
                }
                for _ in 0..numbers.below(3) {
                    let bounds: Vec<(usize, usize)> = array
                        .shape()
                        .iter()
                        .map(|&size| {
                            let start = numbers.below(size as u64 + 1) as usize;
                            (start, start + numbers.below((size - start) as u64 + 1) as usize)
                        })
                        .collect();
                    let value = value(&mut numbers);
                    let axes = bounds.iter().map(|&(start, stop)| AxisSelection::Slice {
                        start: Some(start as i64),
                        stop: Some(stop as i64),
                        step: 1,
                    });
                    staged.write_scalar(Selection::axes(axes), value).unwrap();
                    let part = |axis: ndarray::AxisDescription| {
                        let (start, stop) = bounds[axis.axis.index()];
                        Slice::from(start..stop)
                    };
                    array.slice_each_axis_mut(part).fill(value);
                }
            }
            stage.commit().unwrap();
            let array = array.map(|array| Chunked { array, stored: stored(&file, &name(number)) });
            versions.push(Naive { parent, array });
        }
        Self { file, _scratch: scratch, versions, chunk }
    }

    /// The versions that have the dataset.
    fn arrays(&self) -> impl Iterator<Item = (usize, &Chunked)> {
        let arrays = self.versions.iter().map(|version| version.array.as_ref());
        arrays.enumerate().filter_map(|(number, array)| Some((number, array?)))
    }
}

/// The stored chunks of a version.
fn stored(file: &VersionedFile, version: &str) -> HashSet<Vec<u64>> {
    let dataset = file.version(version).unwrap().dataset("x").unwrap();
    let map = dataset.chunk_map().unwrap();
    map.iter().map(|(chunk, _)| unravel(chunk.0, dataset.chunk_grid()).to_vec()).collect()
}

fn resized(array: &ArrayD<i64>, shape: &[u64]) -> ArrayD<i64> {
    let shape: Vec<usize> = shape.iter().map(|&axis| axis as usize).collect();
    ArrayD::from_shape_fn(IxDyn(&shape), |at| array.get(&at).copied().unwrap_or(0))
}

#[test]
fn of_any_two_versions_of_a_history_the_changed_chunks_and_values_are_those_of_the_arrays() {
    let mut chunks = 0;
    for seed in 0..40 {
        let history = History::new(seed);
        for (old, old_array) in history.arrays() {
            for (new, new_array) in history.arrays() {
                let context = format!("seed {seed}, {old} -> {new}");
                let found = diff(&history.file, &name(old), &name(new));
                let expected = model::changed(old_array, new_array, &history.chunk);
                chunks += expected.len();
                let keys: Vec<&Vec<u64>> = expected.keys().collect();
                assert_eq!(coordinates(&found).iter().collect::<Vec<_>>(), keys, "{context}");
                assert_eq!(found.chunks_changed(), expected.len() as u64, "{context}");
                let same_shape = old_array.array.shape() == new_array.array.shape();
                assert_eq!(found.reshaped().is_none(), same_shape, "{context}");
                assert_eq!(found.is_empty(), old_array == new_array, "{context}");
                assert_eq!(
                    found.values().unwrap(),
                    model::values(&old_array.array, &new_array.array),
                    "{context}"
                );
                for (region, chunk) in found.changed_regions::<i64>().zip(found.changed_chunks()) {
                    let region = region.unwrap();
                    let (old, new) = &expected[&chunk.coordinate.to_vec()];
                    let owned = |view: &Option<ndarray::ArrayViewD<'_, i64>>| {
                        view.as_ref().map(|view| view.to_owned())
                    };
                    assert_eq!((region.old, region.new), (owned(old), owned(new)), "{context}");
                    assert_eq!(region.start, chunk.start, "{context}");
                }
            }
        }
    }
    assert!(chunks > 1_000, "the histories change only {chunks} chunks");
}

#[test]
fn every_chunk_is_blamed_on_the_version_from_which_on_the_arrays_have_it_so() {
    let mut inherited = 0;
    for seed in 100..140 {
        let history = History::new(seed);
        let mut numbers = Numbers(seed);
        for (version, array) in history.arrays() {
            let dataset = history.file.version(&name(version)).unwrap().dataset("x").unwrap();
            let blame = dataset.blame(Selection::all()).unwrap();
            let found: Vec<(Vec<u64>, String)> = blame
                .chunks()
                .map(|chunk| (chunk.coordinate.to_vec(), chunk.version.to_owned()))
                .collect();
            let expected: Vec<(Vec<u64>, String)> = model::grid(&array.array, &history.chunk)
                .into_iter()
                .map(|at| {
                    let blamed = model::blamed(&history.versions, version, &at, &history.chunk);
                    inherited += usize::from(blamed != version);
                    (at, name(blamed))
                })
                .collect();
            assert_eq!(found, expected, "seed {seed}, version {version}");
            // One element: its chunk alone.
            if let Some((at, by)) =
                expected.get(numbers.below(expected.len().max(1) as u64) as usize)
            {
                let axes = at.iter().zip(&history.chunk);
                let index = axes.map(|(at, edge)| AxisSelection::Index((at * edge) as i64));
                let blame = dataset.blame(Selection::axes(index)).unwrap();
                let found: Vec<_> = blame.chunks().map(|chunk| chunk.version).collect();
                assert_eq!(found, [by], "seed {seed}, version {version}, chunk {at:?}");
                assert_eq!(blame.versions(), std::slice::from_ref(by));
            }
        }
    }
    assert!(inherited > 300, "only {inherited} chunks come from an earlier version");
}
