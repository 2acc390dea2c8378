//! Every file at hand reads as plain h5py reads it, whichever way its chunks are read and on however many threads.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by a panic, and its numbers are small"
)]

use h5strata::chunk_map::{MapError, MappingFault};
use h5strata::selection::AxisSelection;
use h5strata::store::{Attribute, AttributeValue, DatasetFault, EntryKind, parse_time};
use h5strata::{Dataset, Error, OpenOptions, RawPath, Selection, VersionedFile};

mod support;

use support::answers::{self, AttributeRow, Axis, DatasetRow, Digest};
use support::values::{self, Numbers, Values};
use support::{Outcome, made, shared};

/// Filters that cannot be undone yet, by the words of the error; reading what needs them must say so.
const WITHOUT_CODEC: [(u16, &str); 1] = [(32026, "filter 32026 (blosc2)")];

/// Both ways to read chunks, on one thread and on two.
fn ways() -> Vec<(String, OpenOptions)> {
    let mut ways = Vec::new();
    for path in [RawPath::Auto, RawPath::Library] {
        for threads in [1, 2] {
            let options =
                OpenOptions::new().raw_path(path).threads(threads).accept_wrong_hashes(true);
            ways.push((format!("{path:?}, {threads} threads"), options));
        }
    }
    ways
}

/// Reads a selection, or `None` where a filter is used that cannot be undone yet and the error says so.
fn read_if_decodable(
    dataset: &Dataset,
    selection: &Selection,
) -> Result<Option<Values>, Box<dyn std::error::Error>> {
    let outcome = Values::read(dataset, selection);
    let missing = WITHOUT_CODEC
        .iter()
        .find(|(id, _)| dataset.filters().iter().any(|filter| filter.id == *id));
    match (outcome, missing) {
        (Err(error), Some((_, says))) => {
            assert!(error.to_string().contains(says), "{error}");
            Ok(None)
        }
        (outcome, _) => Ok(Some(outcome?)),
    }
}

/// Opens a file in every way and has `check` look at it; a failure names file and way.
fn in_every_way(
    name: &str,
    path: &std::path::Path,
    check: impl Fn(&VersionedFile) -> Result<(), Box<dyn std::error::Error>>,
) {
    for (way, options) in ways() {
        let opened = options.open(path).map_err(Into::into);
        if let Err(error) = opened.and_then(|file| check(&file)) {
            panic!("{name} ({way}): {error}");
        }
    }
}

fn has_digests(file: &VersionedFile, digests: &[Digest]) -> Outcome {
    for expected in digests {
        let dataset = file.version(&expected.version)?.dataset(&expected.dataset)?;
        assert_eq!(dataset.shape(), expected.shape, "{expected:?}");
        assert_eq!(dataset.dtype().short_name(), expected.dtype, "{expected:?}");
        if let Some(values) = read_if_decodable(&dataset, &Selection::all())? {
            assert_eq!(values.sha256(), expected.sha256, "{expected:?}");
        }
    }
    Ok(())
}

#[test]
fn every_made_file_reads_as_h5py_reads_it() -> Outcome {
    for made in made::files()? {
        let digests = made.digests()?;
        in_every_way(&made.name, &made.path, |file| has_digests(file, &digests));
    }
    Ok(())
}

#[test]
fn every_suite_file_reads_as_h5py_reads_it() -> Outcome {
    let Some(folder) = shared::suite()? else { return Ok(()) };
    for path in shared::hdf5_files(&folder)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut digests: Vec<Digest> = answers::read_lines(&path.with_extension("jsonl"))?;
        digests.retain(|row| {
            !shared::SUITE_OUT_OF_RANGE.contains(&(&*name, &*row.version, &*row.dataset))
        });
        in_every_way(&name, &path, |file| has_digests(file, &digests));
    }
    Ok(())
}

#[test]
fn every_shared_file_reads_as_h5py_reads_it() -> Outcome {
    let Some(folder) = shared::data()? else { return Ok(()) };
    let files = made::described(&shared::hdf5_files(&folder)?)?;
    assert!(!files.is_empty());
    for made in files {
        let (digests, reads) = (made.digests()?, made.reads()?);
        in_every_way(&made.name, &made.path, |file| {
            has_digests(file, &digests)?;
            gives_reads(file, &reads)
        });
        has_metadata(&made.name, &made.path, &made.metadata()?)?;
    }
    Ok(())
}

#[test]
fn mappings_out_of_range_in_the_suite_are_errors() -> Outcome {
    let Some(folder) = shared::suite()? else { return Ok(()) };
    for (name, version, path) in shared::SUITE_OUT_OF_RANGE {
        in_every_way(name, &folder.join(format!("{name}.h5")), |file| {
            let read = Values::whole(&file.version(version)?.dataset(path)?);
            let out_of_range = match &read {
                Err(Error::Dataset { fault, .. }) => matches!(
                    **fault,
                    DatasetFault::Map(MapError::Mapping {
                        fault: MappingFault::SourceRange { .. },
                        ..
                    })
                ),
                _ => false,
            };
            assert!(out_of_range, "{read:?}");
            Ok(())
        });
    }
    Ok(())
}

fn gives_reads(file: &VersionedFile, reads: &[answers::Read]) -> Outcome {
    for expected in reads {
        let dataset = file.version(&expected.version)?.dataset(&expected.dataset)?;
        let selection: Selection = expected.selection.parse()?;
        let built = Selection::axes(expected.axes.iter().map(axis));
        assert_eq!(selection, built, "{}", expected.selection);
        if let Some(values) = read_if_decodable(&dataset, &selection)? {
            assert_eq!(values.shape, expected.shape, "{expected:?}");
            assert_eq!(values.sha256(), expected.sha256, "{expected:?}");
        }
    }
    Ok(())
}

fn axis(axis: &Axis) -> AxisSelection {
    match axis {
        Axis::Int(index) => AxisSelection::Index(*index),
        Axis::Slice(start, stop, step) => {
            AxisSelection::Slice { start: *start, stop: *stop, step: step.unwrap_or(1) }
        }
        Axis::Index(indices) => AxisSelection::Indices(indices.clone()),
        // Without elements a mask is written as an index array is.
        Axis::Mask(mask) if mask.is_empty() => AxisSelection::Indices(Vec::new()),
        Axis::Mask(mask) => AxisSelection::Mask(mask.clone()),
        Axis::Ellipsis(_) => AxisSelection::Ellipsis,
    }
}

#[test]
fn every_selection_gives_what_numpy_gives() -> Outcome {
    for made in made::files()? {
        let reads = made.reads()?;
        in_every_way(&made.name, &made.path, |file| gives_reads(file, &reads));
    }
    Ok(())
}

#[test]
fn points_and_masks_over_all_axes_pick_from_the_whole() -> Outcome {
    for made in made::files()? {
        let digests = made.digests()?;
        in_every_way(&made.name, &made.path, |file| {
            for (row, seed) in digests.iter().zip(0..) {
                let dataset = file.version(&row.version)?.dataset(&row.dataset)?;
                if let Some(whole) = read_if_decodable(&dataset, &Selection::all())? {
                    picks_points(&dataset, &whole, &mut Numbers(seed))?;
                    picks_masked(&dataset, &whole, &mut Numbers(seed))?;
                }
            }
            Ok(())
        });
    }
    Ok(())
}

fn picks_points(dataset: &Dataset, whole: &Values, numbers: &mut Numbers) -> Outcome {
    let count: u64 = whole.shape.iter().product();
    let (mut coordinates, mut positions) = (Vec::new(), Vec::new());
    for _ in 0..if count == 0 { 0 } else { 20 } {
        let position = numbers.below(count);
        positions.push(position as usize);
        let point = h5strata::dims::unravel(position, &whole.shape);
        let from_end = numbers.below(2) == 1;
        coordinates.extend(point.iter().zip(&whole.shape).map(|(&index, &size)| {
            if from_end { index as i64 - size as i64 } else { index as i64 }
        }));
    }
    let selection = Selection::points(whole.shape.len(), coordinates)?;
    let found = Values::read(dataset, &selection)?;
    assert_eq!(found, whole.gather(vec![positions.len() as u64], &positions));
    Ok(())
}

fn picks_masked(dataset: &Dataset, whole: &Values, numbers: &mut Numbers) -> Outcome {
    let count: u64 = whole.shape.iter().product();
    let rarity = 1 + numbers.below(5);
    let mask: Vec<bool> = (0..count).map(|_| numbers.below(rarity) == 0).collect();
    let positions: Vec<usize> = (0..mask.len()).filter(|&position| mask[position]).collect();
    let found = Values::read(dataset, &Selection::mask(&whole.shape, mask)?)?;
    assert_eq!(found, whole.gather(vec![positions.len() as u64], &positions));
    Ok(())
}

#[test]
fn every_made_file_lists_what_h5py_lists() -> Outcome {
    for made in made::files()? {
        has_metadata(&made.name, &made.path, &made.metadata()?)?;
    }
    Ok(())
}

fn has_metadata(name: &str, path: &std::path::Path, expected: &answers::Metadata) -> Outcome {
    let file = VersionedFile::open(path)?;
    assert_eq!(file.data_version(), expected.data_version, "{name}");
    match &expected.current {
        Some(current) => assert_eq!(file.current()?.name(), current, "{name}"),
        None => assert!(matches!(file.current(), Err(Error::NoVersions { .. })), "{name}"),
    }
    assert_eq!(file.versions()?.len(), expected.versions.len(), "{name}");
    for row in &expected.versions {
        let version = file.version(&row.version)?;
        let at = format!("{name}, {}", row.version);
        assert_eq!(version.parent()?, row.parent, "{at}");
        assert_eq!(Some(version.timestamp()?), parse_time(&row.timestamp), "{at}");
        let info = file.versions()?.iter().find(|info| info.name == row.version);
        let info = info.ok_or_else(|| format!("{at}: not listed"))?;
        assert_eq!((&info.parent, info.timestamp), (&row.parent, version.timestamp()?), "{at}");
        assert_eq!(row.current, expected.current.as_ref() == Some(&row.version), "{at}");
        assert_eq!(version.datasets()?.len(), row.datasets, "{at}");
        let entries = version.entries()?.into_iter();
        let groups: Vec<String> =
            entries.filter(|e| e.kind == EntryKind::Group).map(|e| e.path).collect();
        let mut sorted = groups.clone();
        sorted.sort();
        assert_eq!(sorted, row.groups.keys().cloned().collect::<Vec<_>>(), "{at}");
        assert_eq!(attribute_rows(&version.attributes()?), row.attributes, "{at}");
        for (path, attributes) in &row.groups {
            assert_eq!(attribute_rows(&version.attributes_of(path)?), *attributes, "{at}/{path}");
        }
        for child in file.children(&row.version)? {
            assert_eq!(file.version(child)?.parent()?.as_deref(), Some(&*row.version), "{at}");
        }
    }
    for row in &expected.datasets {
        has_dataset(&file, row).map_err(|error| format!("{name}: {row:?}: {error}"))?;
    }
    Ok(())
}

fn has_dataset(file: &VersionedFile, row: &DatasetRow) -> Outcome {
    let dataset = file.version(&row.version)?.dataset(&row.path)?;
    assert_eq!(dataset.shape(), row.shape, "{row:?}");
    assert_eq!(dataset.dtype().short_name(), row.dtype, "{row:?}");
    assert_eq!(dataset.chunk_shape(), row.chunks, "{row:?}");
    assert_eq!(dataset.chunk_count(), row.total_chunks, "{row:?}");
    assert_eq!(dataset.chunk_map()?.stored(), row.stored_chunks, "{row:?}");
    assert_eq!(dataset.stored_chunks()?.len() as u64, row.written_chunks, "{row:?}");
    let found: Vec<_> = dataset
        .filters()
        .iter()
        .map(|filter| (i32::from(filter.id), filter.optional, filter.params.clone()))
        .collect();
    let filters: Vec<_> = row
        .filters
        .iter()
        .map(|filter| (filter.id, filter.flags & 1 == 1, filter.values.clone()))
        .collect();
    assert_eq!(found, filters, "{row:?}");
    assert_eq!(attribute_rows(&dataset.attributes()?), row.attributes, "{row:?}");
    Ok(())
}

fn attribute_rows(attributes: &[Attribute]) -> Vec<AttributeRow> {
    let row = |attribute: &Attribute| {
        let sha256 = match &attribute.value {
            AttributeValue::Bytes(bytes) => Some(values::sha256(bytes)),
            AttributeValue::Strings(strings) => Some(values::sha256_of_strings(strings)),
            _ => None,
        };
        AttributeRow {
            name: attribute.name.clone(),
            dtype: attribute.dtype.short_name(),
            shape: sha256.is_some().then(|| attribute.shape.clone()),
            sha256,
        }
    };
    let mut rows: Vec<AttributeRow> = attributes.iter().map(row).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}
