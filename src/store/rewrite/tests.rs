//! Chunks of random histories, rewritten, against whole arrays.
#![expect(clippy::cast_possible_truncation, reason = "arrays of tests are small")]

use ndarray::{ArrayD, IxDyn, Slice};
use proptest::prelude::*;

use super::options::RewriteOptions;
use super::settings::Change;
use super::transcode::Transcoder;
use crate::dims::{ChunkIndex, chunk_grid, unravel};
use crate::dtype::Dtype;
use crate::store::VersionedFile;
use crate::store::commit::{Mappings, Transaction};
use crate::store::names::raw_data_path;
use crate::store::{OpenOptions, StageOptions};

/// A version: its parent, its shape, and a box that is written to.
#[derive(Clone, Debug)]
struct Step {
    parent: usize,
    shape: [usize; 2],
    start: [usize; 2],
    size: [usize; 2],
    value: i32,
}

fn step() -> impl Strategy<Value = Step> {
    let pair = |most: usize| [0..=most, 0..=most];
    (0..4usize, pair(23), pair(23), pair(12), 0..3i32)
        .prop_map(|(parent, shape, start, size, value)| Step { parent, shape, start, size, value })
}

fn resized(array: &ArrayD<f64>, shape: &[usize], fill: f64) -> ArrayD<f64> {
    ArrayD::from_shape_fn(IxDyn(shape), |at| array.get(&at).copied().unwrap_or(fill))
}

fn history(path: &std::path::Path, steps: &[Step], chunk: &[u64], fill: f64) -> Vec<ArrayD<f64>> {
    let mut file = VersionedFile::create(path).unwrap();
    let mut versions: Vec<ArrayD<f64>> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let parent = number.checked_sub(1 + step.parent.min(number.saturating_sub(1)));
        let mut options = StageOptions::new();
        if let Some(parent) = parent {
            options = options.parent(format!("r{parent}"));
        }
        let mut stage = options.stage(&mut file, &format!("r{number}")).unwrap();
        let shape: Vec<u64> = step.shape.iter().map(|&axis| axis as u64).collect();
        let mut array = match parent {
            Some(parent) => versions[parent].clone(),
            None => {
                let dataset = stage.create_dataset("d").chunks(chunk).fill(&fill.to_le_bytes());
                dataset.empty("<f8".parse().unwrap(), &[1, 1]).unwrap();
                ArrayD::from_elem(IxDyn(&[1, 1]), fill)
            }
        };
        array = resized(&array, &step.shape, fill);
        let mut dataset = stage.dataset_mut("d").unwrap();
        dataset.resize(&shape).unwrap();
        let bounds = |axis: usize| {
            let start = step.start[axis].min(step.shape[axis]);
            start..(start + step.size[axis]).min(step.shape[axis])
        };
        let bounds = [bounds(0), bounds(1)];
        let mut written =
            array.slice_each_axis_mut(|axis| Slice::from(bounds[axis.axis.index()].clone()));
        if !written.is_empty() {
            let mut count = 0.0;
            written.map_inplace(|element| {
                count += 0.25;
                *element = if step.value == 0 { fill } else { f64::from(step.value) + count };
            });
            let written = written.to_owned();
            let [rows, columns] = bounds;
            let selection =
                format!("{}:{}, {}:{}", rows.start, rows.end, columns.start, columns.end);
            let selection: crate::Selection = selection.parse().unwrap();
            dataset.write(selection, &written).unwrap();
        }
        stage.commit().unwrap();
        versions.push(array);
    }
    versions
}

/// Rewrites the chunks of all versions to another file, and checks each chunk.
fn check(
    steps: &[Step],
    (old, new): ([u64; 2], [u64; 2]),
    (old_fill, fill): (f64, Option<f64>),
    dtype: Option<&str>,
) {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from.h5", "to.h5"].map(|name| folder.path().join(name));
    let versions = history(&from, steps, &old, old_fill);
    let source = VersionedFile::open(&from).unwrap();
    let mut options = RewriteOptions::new().chunks(&new);
    if let Some(fill) = fill {
        options = options.fill_value(crate::dtype::Literal::Float(fill));
    }
    if let Some(dtype) = dtype {
        options = options.dtype(dtype.parse().unwrap());
    }
    let storage = source.inner.storage(&raw_data_path("d")).unwrap();
    let change = Change::new(&storage, &options).unwrap();
    let target = OpenOptions::new().create(&to).unwrap();
    let inner = std::sync::Arc::clone(&target.inner);
    let mappings = Mappings::new(&inner).unwrap();
    let (maps, report) = Transaction::run(&inner, mappings, |transaction| {
        let file = transaction.file();
        let threads = inner.threads();
        let description = crate::store::describe::description(&change.new.dtype).unwrap();
        let datatype = h5strata_ffi::h5t::create(&h5strata_ffi::lock(), &description).unwrap();
        let (change, none) = (change.clone(), None);
        let mut transcoder =
            Transcoder::create(file, "d", &datatype, change, threads, none, 0).unwrap();
        let mut maps = Vec::new();
        for version in source.versions().unwrap() {
            let dataset = source.version(&version.name).unwrap().dataset("d").unwrap();
            let map = transcoder.version(file, &dataset, version.parent.as_deref()).unwrap();
            maps.push((version.name.clone(), map));
        }
        Ok((maps, transcoder.finish(&h5strata_ffi::lock(), file, &source.inner).unwrap()))
    })
    .unwrap();
    drop(target);
    let (report, proof) = report;
    let target = VersionedFile::open(&to).unwrap();
    let storage = target.inner.storage(&raw_data_path("d")).unwrap();
    assert_eq!(storage.raw.chunks(), report.chunks);
    let threads = target.inner.threads();
    assert!(proof.stack.holds_for(&target.inner, &storage, threads).unwrap());
    let to_dtype: &Dtype = &change.new.dtype;
    let size = to_dtype.size().unwrap();
    let cast = crate::dtype::Cast::new(&"<f8".parse().unwrap(), to_dtype).unwrap();
    let element = |value: f64| {
        let value = fill.filter(|_| value == old_fill).unwrap_or(value);
        let mut bytes = vec![0; size];
        cast.apply(&value.to_le_bytes(), &mut bytes);
        bytes
    };
    let filling = element(old_fill);
    for (name, map) in maps {
        let array = &versions[name[1..].parse::<usize>().unwrap()];
        let shape: Vec<u64> = array.shape().iter().map(|&axis| axis as u64).collect();
        let grid = chunk_grid(&shape, &new).unwrap();
        assert!(map.is_sorted_by(|a, b| a.0 < b.0));
        for chunk in 0..grid.iter().product() {
            let raw = map.iter().find(|(at, _)| *at == ChunkIndex(chunk)).map(|&(_, raw)| raw);
            let mut found = vec![0; size * new.iter().product::<u64>() as usize];
            storage.fetch_raw([raw].into_iter(), crate::raw::Threads::One, &mut found).unwrap();
            let at = unravel(chunk, &grid);
            for (position, found) in (0..).zip(found.chunks_exact(size)) {
                let inside = unravel(position, &new);
                let place: Vec<usize> =
                    (0..2).map(|axis| (at[axis] * new[axis] + inside[axis]) as usize).collect();
                let expected = match array.get(IxDyn(&place)) {
                    Some(&value) => element(value),
                    // Nothing of anybody's is left in what is outside of the bounds.
                    None => filling.clone(),
                };
                assert_eq!(found, expected, "{name}: {place:?}");
            }
        }
    }
}

fn pair(most: u64) -> impl Strategy<Value = [u64; 2]> {
    [1..=most, 1..=most]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_version_has_its_values_in_chunks_of_another_shape(
        steps in prop::collection::vec(step(), 1..6),
        old in pair(9),
        new in pair(12),
        fills in (prop::sample::select(vec![0.0, 7.0]), prop::option::of(Just(5.0))),
        dtype in prop::option::of(prop::sample::select(vec!["<f4", ">i4", "<c16", "<f8"])),
    ) {
        check(&steps, (old, new), fills, dtype);
    }
}

#[test]
fn chunks_that_a_version_has_from_another_are_stored_once() {
    let steps = vec![
        Step { parent: 0, shape: [20, 20], start: [0, 0], size: [20, 20], value: 1 },
        Step { parent: 0, shape: [20, 20], start: [3, 3], size: [1, 1], value: 2 },
        Step { parent: 0, shape: [20, 20], start: [0, 0], size: [0, 0], value: 2 },
        Step { parent: 1, shape: [21, 20], start: [19, 19], size: [1, 1], value: 2 },
    ];
    check(&steps, ([5, 5], [4, 10]), (0.0, None), None);
}
