//! Random histories, rewritten, against whole arrays.

use h5strata::codec::{Filter, FilterRequest};
use h5strata::dtype::Cast;
use h5strata::store::{Attribute, AttributeValue, Fill};
use h5strata::{Dtype, RewriteOptions, Selection, StageOptions, VersionedFile};
use ndarray::{ArrayD, IxDyn};

use crate::kinds::{self, Kind};
use crate::support::values::Numbers;
use crate::{Scratch, assert_sound};

/// A version: its name, and its elements as numbers, if it has the dataset.
struct Model {
    name: String,
    elements: Option<ArrayD<u64>>,
    note: i64,
}

const PATH: &str = "group/rewritten";

/// Filters to choose from.
fn requests() -> Vec<FilterRequest> {
    let plain = FilterRequest::default();
    let with = |compression| FilterRequest { compression: Some(compression), ..plain.clone() };
    vec![
        plain.clone(),
        with(Filter::lzf()),
        FilterRequest { shuffle: true, fletcher32: true, ..with(Filter::gzip(1)) },
        with(Filter::zstd(1)),
        FilterRequest { fletcher32: true, ..plain.clone() },
    ]
}

fn note(value: i64) -> Attribute {
    Attribute {
        name: "note".into(),
        dtype: "<i8".parse().unwrap(),
        shape: Vec::new(),
        value: AttributeValue::Bytes(value.to_le_bytes().to_vec()),
    }
}

fn bytes_of(elements: &ArrayD<u64>, element: impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    elements.iter().flat_map(|&number| element(number)).collect()
}

fn axes(array: &ArrayD<u64>) -> Vec<u64> {
    array.shape().iter().map(|&axis| axis as u64).collect()
}

/// Commits versions with branches, other shapes, and versions without the dataset.
fn commit(
    file: &mut VersionedFile,
    kind: &Kind,
    chunk: &[u64],
    numbers: &mut Numbers,
) -> Vec<Model> {
    let mut versions: Vec<Model> = Vec::new();
    let filters = requests()[numbers.below(5) as usize].clone();
    for count in 0..4 + numbers.below(4) {
        let parent = (!versions.is_empty())
            .then(|| versions.len() - 1 - numbers.below(2.min(versions.len() as u64)) as usize);
        let name = format!("r{count}");
        let options = match parent {
            Some(parent) => StageOptions::new().parent(&versions[parent].name),
            None => StageOptions::new().no_parent(),
        };
        let mut stage = options.stage(file, &name).unwrap();
        let before = parent.and_then(|parent| versions[parent].elements.clone());
        let shape: Vec<usize> = chunk.iter().map(|_| numbers.below(17) as usize).collect();
        let elements = if before.is_some() && numbers.below(7) == 0 {
            stage.delete(PATH).unwrap();
            None
        } else {
            let mut elements = match before {
                Some(before) if numbers.below(2) == 0 => before,
                before => ArrayD::from_shape_fn(IxDyn(&shape), |at| {
                    before.as_ref().and_then(|before| before.get(&at)).copied().unwrap_or(0)
                }),
            };
            if parent.and_then(|parent| versions[parent].elements.as_ref()).is_none() {
                let shape: Vec<u64> = vec![1; chunk.len()];
                let dataset = stage.create_dataset(PATH).chunks(chunk).filters(filters.clone());
                let dataset = dataset.fill(&kind.element(0));
                dataset.empty(kind.dtype.clone(), &shape).unwrap();
                elements = ArrayD::zeros(elements.shape());
            }
            let mut dataset = stage.dataset_mut(PATH).unwrap();
            dataset.resize(&axes(&elements)).unwrap();
            for _ in 0..numbers.below(3) {
                write(&mut dataset, &mut elements, kind, numbers);
            }
            stage.set_attribute(PATH, note(count.cast_signed())).unwrap();
            Some(elements)
        };
        if count == 0 {
            let other = ndarray::Array1::from_iter(0..100i64);
            stage.create_dataset("other").chunks(&[16]).gzip(1).data(&other).unwrap();
        }
        stage.commit().unwrap();
        versions.push(Model { name, elements, note: count.cast_signed() });
    }
    versions
}

/// Writes a box of numbers.
fn write(
    dataset: &mut h5strata::StagedDataset<'_>,
    elements: &mut ArrayD<u64>,
    kind: &Kind,
    numbers: &mut Numbers,
) {
    let bounds: Vec<std::ops::Range<usize>> = (elements.shape().iter())
        .map(|&axis| {
            let start = numbers.below(axis as u64 + 1) as usize;
            start..(start + numbers.below(9) as usize).min(axis)
        })
        .collect();
    if bounds.iter().any(std::ops::Range::is_empty) {
        return;
    }
    let mut part = elements
        .slice_each_axis_mut(|axis| ndarray::Slice::from(bounds[axis.axis.index()].clone()));
    let clears = numbers.below(4) == 0;
    part.map_inplace(|element| *element = if clears { 0 } else { numbers.below(8) });
    let part = part.to_owned();
    let text: Vec<String> =
        bounds.iter().map(|axis| format!("{}:{}", axis.start, axis.end)).collect();
    let selection: Selection = text.join(", ").parse().unwrap();
    let bytes = bytes_of(&part, |number| kind.element(number));
    dataset.write_bytes(selection, &bytes, &axes(&part)).unwrap();
}

/// What was asked for.
struct Asked {
    options: RewriteOptions,
    dtype: Dtype,
    chunk: Vec<u64>,
    fill: Vec<u8>,
}

fn ask(kind: &Kind, chunk: &[u64], numbers: &mut Numbers) -> Asked {
    let mut options = RewriteOptions::new();
    let (mut dtype, mut chunk) = (kind.dtype.clone(), chunk.to_vec());
    if numbers.below(3) > 0 {
        chunk = chunk.iter().map(|_| 1 + numbers.below(9)).collect();
        options = options.chunks(&chunk);
    }
    if !kind.casts.is_empty() && numbers.below(2) == 0 {
        dtype = kind.casts[numbers.below(kind.casts.len() as u64) as usize].parse().unwrap();
        options = options.dtype(dtype.clone());
    }
    let cast = Cast::new(&kind.dtype, &dtype).unwrap();
    let mut fill = vec![0; dtype.size().unwrap()];
    cast.apply(&kind.element(0), &mut fill);
    if numbers.below(2) == 0 && !matches!(kind.dtype, Dtype::Enum { .. }) {
        fill = kinds::element(&dtype, 2);
        options = options.fill(&fill);
    }
    if numbers.below(2) == 0 {
        options = options.filters(requests()[numbers.below(5) as usize].clone());
    }
    Asked { options, dtype, chunk, fill }
}

fn check(file: &VersionedFile, kind: &Kind, versions: &[Model], asked: &Asked) {
    let cast = Cast::new(&kind.dtype, &asked.dtype).unwrap();
    let element = |number: u64| {
        let mut element = asked.fill.clone();
        if number > 0 {
            cast.apply(&kind.element(number), &mut element);
        }
        element
    };
    for Model { name, elements, note: value } in versions {
        let version = file.version(name).unwrap();
        let other: ArrayD<i64> = match version.dataset("other") {
            Ok(dataset) => dataset.read(Selection::all()).unwrap(),
            Err(error) => panic!("{error}"),
        };
        assert!(other.iter().copied().eq(0..100));
        let Some(elements) = elements else {
            assert!(version.dataset(PATH).is_err());
            continue;
        };
        let dataset = version.dataset(PATH).unwrap();
        assert_eq!(dataset.shape(), axes(elements));
        assert_eq!(dataset.chunk_shape(), asked.chunk);
        assert_eq!(*dataset.dtype(), asked.dtype);
        assert_eq!(*dataset.fill_value(), Fill::Element(asked.fill.clone()));
        assert_eq!(dataset.attributes().unwrap(), [note(*value)]);
        let (bytes, _) = dataset.read_bytes(&Selection::all()).unwrap();
        assert!(bytes == bytes_of(elements, element), "{name}: {}", asked.dtype);
    }
}

#[test]
fn every_version_has_the_values_that_it_had_in_the_settings_that_were_asked_for() {
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let kinds = Kind::all();
        let kind = &kinds[seed as usize % kinds.len()];
        let chunk: Vec<u64> = (0..1 + numbers.below(3)).map(|_| 1 + numbers.below(7)).collect();
        let scratch = Scratch::new();
        let mut file = scratch.create();
        let versions = commit(&mut file, kind, &chunk, &mut numbers);
        let asked = ask(kind, &chunk, &mut numbers);
        let before: Vec<_> = file.versions().unwrap().to_vec();
        let current = file.current_name().unwrap();
        let report = file.rewrite(&[PATH], &asked.options).unwrap();
        assert_eq!(report.datasets.len(), 1);
        assert_eq!(scratch.files(), ["versions.h5"], "seed {seed}");
        check(&file, kind, &versions, &asked);
        drop(file);
        let mut file = scratch.open();
        assert_eq!(file.versions().unwrap(), before);
        assert_eq!(file.current_name().unwrap(), current);
        check(&file, kind, &versions, &asked);
        assert_sound(&file);
        // The next commit finds the chunks that are there: what it writes are chunks that no version has stored.
        let Some(last) = versions.iter().rfind(|version| version.elements.is_some()) else {
            continue;
        };
        let dataset = file.version(&last.name).unwrap().dataset(PATH).unwrap();
        let missing = dataset.chunk_count() - dataset.chunk_map().unwrap().stored();
        let mut stage = StageOptions::new().parent(&last.name).stage(&mut file, "next").unwrap();
        let mut dataset = stage.dataset_mut(PATH).unwrap();
        let (bytes, shape) = dataset.read_bytes(Selection::all()).unwrap();
        dataset.write_bytes(Selection::all(), &bytes, &shape).unwrap();
        stage.set_attribute("", note(1)).unwrap();
        let report = stage.commit().unwrap();
        assert!(report.chunks_written <= missing, "seed {seed}");
        check(&file, kind, &versions, &asked);
        assert_sound(&file);
    }
}
