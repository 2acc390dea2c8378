//! Lists of mappings are decoded to what libhdf5 says is in them, for every virtual dataset of every file at hand.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::path::Path;

use h5strata::dims::{ravel, unravel};
use h5strata::selection::AxisSelection;
use h5strata::{Dataset, OpenOptions, RawPath, Selection, VersionedFile};
use h5strata_ffi::h5s::Selection as Selected;
use h5strata_ffi::id::File;
use h5strata_ffi::{h5d, h5f, h5p};

mod support;

use support::values::{Numbers, Values};
use support::{Outcome, made, shared};

/// Start and extent of a selection that is one block.
fn block(selection: &Selected) -> (Vec<u64>, Vec<u64>) {
    let Selected::Regular(slab) = selection else { panic!("{selection:?}") };
    let extent = slab.stride.iter().zip(&*slab.count).zip(&*slab.block).map(
        |((&stride, &count), &block)| {
            assert!(count == 1 || stride == block, "{selection:?}");
            count * block
        },
    );
    (slab.start.to_vec(), extent.collect())
}

/// (chunk, raw chunk) of every mapping as `H5Pget_virtual_vspace` and its kin tell it, in order of chunks.
fn pairs_of_library(file: &File, path: &str, dataset: &Dataset) -> Vec<(u64, u64)> {
    let lock = h5strata_ffi::lock();
    let creation = h5d::creation(&lock, &h5d::open(&lock, file, path).unwrap()).unwrap();
    if h5p::layout(&lock, &creation).unwrap() != h5p::Layout::Virtual {
        return Vec::new();
    }
    let (grid, chunk) = (dataset.chunk_grid(), dataset.chunk_shape());
    let pair = |number| {
        let mapping = h5p::mapping(&lock, &creation, number).unwrap();
        let (start, extent) = block(&mapping.target);
        let (source, source_extent) = block(&mapping.source);
        let names = (mapping.source_file.as_str(), mapping.source_dataset.as_str());
        assert_eq!(names, (".", dataset.raw_data().0));
        assert_eq!(extent, source_extent);
        assert!(start.iter().zip(chunk).all(|(start, chunk)| start % chunk == 0), "{start:?}");
        let index: Vec<u64> = start.iter().zip(chunk).map(|(start, chunk)| start / chunk).collect();
        (ravel(&index, grid).unwrap(), source[0] / chunk[0])
    };
    let count = h5p::mapping_count(&lock, &creation).unwrap();
    let mut pairs: Vec<_> = (0..count).map(pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Calls `visit` with every dataset of every version of every file, except those that are known to be damaged.
fn for_every_dataset(mut visit: impl FnMut(&Path, &VersionedFile, &str, &str)) -> Outcome {
    let mut paths: Vec<_> = made::files()?.into_iter().map(|made| made.path).collect();
    for folder in [shared::suite()?, shared::data()?].into_iter().flatten() {
        paths.extend(shared::hdf5_files(&folder)?);
    }
    for path in paths {
        let file = OpenOptions::new().accept_wrong_hashes(true).open(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        for version in file.versions()? {
            for dataset in file.version(&version.name)?.datasets()? {
                let place = (&*name, &*version.name, &*dataset);
                if !shared::SUITE_OUT_OF_RANGE.contains(&place) {
                    visit(&path, &file, &version.name, &dataset);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn every_list_is_decoded_to_what_libhdf5_says() -> Outcome {
    let (mut datasets, mut mappings) = (0, 0);
    let mut open: Option<(std::path::PathBuf, File)> = None;
    for_every_dataset(|path, file, version, name| {
        if open.as_ref().is_none_or(|(opened, _)| opened != path) {
            let plain = h5f::open_read_only(&h5strata_ffi::lock(), path, None).unwrap();
            open = Some((path.to_owned(), plain));
        }
        let Some((_, plain)) = &open else { return };
        let dataset = file.version(version).unwrap().dataset(name).unwrap();
        let map = dataset.chunk_map().unwrap();
        let found: Vec<_> = map.iter().map(|(chunk, raw)| (chunk.0, raw.0)).collect();
        let full_name = format!("/_version_data/versions/{version}/{name}");
        let expected = pairs_of_library(plain, &full_name, &dataset);
        assert_eq!(found, expected, "{}: {version}, {name}", path.display());
        datasets += 1;
        mappings += found.len();
    })?;
    assert!(datasets > 500 && mappings > 10_000, "{datasets} datasets, {mappings} mappings");
    Ok(())
}

#[test]
fn every_chunk_is_found_where_libhdf5_says() -> Outcome {
    let mut chunks = 0;
    for_every_dataset(|path, file, version, name| {
        let by_library = OpenOptions::new().accept_wrong_hashes(true).raw_path(RawPath::Library);
        let by_library = by_library.open(path).unwrap().version(version).unwrap();
        let expected = by_library.dataset(name).unwrap().stored_chunks().unwrap();
        let found = file.version(version).unwrap().dataset(name).unwrap().stored_chunks().unwrap();
        assert_eq!(found, expected, "{}: {version}, {name}", path.display());
        chunks += found.len();
    })?;
    assert!(chunks > 10_000, "{chunks} chunks");
    Ok(())
}

/// A list shorter than this is always decoded as a whole.
const LONG: u64 = 32;

#[test]
fn a_mapping_that_is_looked_up_alone_is_that_of_the_whole_list() -> Outcome {
    let mut datasets = 0;
    let mut numbers = Numbers(7);
    for_every_dataset(|path, file, version, name| {
        let version = file.version(version).unwrap();
        let dataset = version.dataset(name).unwrap();
        if dataset.chunk_count() < LONG {
            return;
        }
        let Ok(whole) = Values::whole(&dataset) else { return };
        datasets += 1;
        for _ in 0..12 {
            let position = numbers.below(whole.shape.iter().product());
            let element = unravel(position, &whole.shape);
            let axes = element.iter().map(|&index| AxisSelection::Index(index as i64));
            // Opened anew: no list is decoded yet.
            let alone = version.dataset(name).unwrap();
            let found = Values::read(&alone, &Selection::axes(axes)).unwrap();
            let place = format!("{}: {}, {name}: {element:?}", path.display(), version.name());
            assert_eq!(found.element(0), whole.element(position as usize), "{place}");
        }
    })?;
    assert!(datasets > 40, "{datasets} datasets");
    Ok(())
}
