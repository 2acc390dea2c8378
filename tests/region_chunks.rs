//! The stored chunks of a region are those of the whole dataset that hold a selected element, and cost no more to find
//! than their own mappings and addresses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use h5strata::raw::IoCounts;
use h5strata::selection::AxisSelection;
use h5strata::store::{DatasetChunk, DatasetFault};
use h5strata::{Dataset, Error, OpenOptions, RawPath, Selection, VersionedFile};

mod support;

use support::made;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Elements of each axis, by their share of it in tenths: some chunks, one, and none.
const PICKS: [&[u64]; 4] = [&[0, 9], &[4, 6, 5, 4], &[7], &[]];

/// The elements of an axis that stand at these tenths of it.
fn elements(picks: &[u64], size: u64) -> Vec<u64> {
    picks.iter().filter(|_| size > 0).map(|tenth| tenth * size / 10).collect()
}

/// The chunks among `stored` that hold one of the chosen elements, the hard way.
fn touched(stored: &[DatasetChunk], chosen: &[Vec<u64>], edges: &[u64]) -> Vec<DatasetChunk> {
    let holds = |chunk: &&DatasetChunk| {
        let mut axes = chunk.coordinate.iter().zip(chosen).zip(edges);
        axes.all(|((at, chosen), edge)| chosen.iter().any(|element| element / edge == *at))
    };
    stored.iter().filter(holds).cloned().collect()
}

/// Compares regions of a dataset, opened anew for each, with what is chosen from all its stored chunks.
fn check(file: &VersionedFile, dataset: &Dataset) -> Result<usize, Box<dyn std::error::Error>> {
    let stored = dataset.stored_chunks()?;
    assert_eq!(dataset.stored_chunks_in(Selection::all())?, stored);
    let mut found = 0;
    for first in 0..PICKS.len() {
        let picks = (first..).map(|at| PICKS[at % PICKS.len()]);
        let chosen: Vec<Vec<u64>> =
            picks.zip(dataset.shape()).map(|(picks, &size)| elements(picks, size)).collect();
        let axes = chosen.iter().map(|chosen| -> AxisSelection {
            AxisSelection::Indices(chosen.iter().map(|&at| at.cast_signed()).collect())
        });
        let fresh = file.version(dataset.version())?.dataset(dataset.path())?;
        let region = fresh.stored_chunks_in(Selection::axes(axes))?;
        let expected = touched(&stored, &chosen, dataset.chunk_shape());
        assert_eq!(region, expected, "{dataset:?} {chosen:?}");
        found += region.len();
    }
    Ok(found)
}

#[test]
fn a_region_has_the_stored_chunks_that_hold_its_elements() -> Outcome {
    for path in [RawPath::Auto, RawPath::Library] {
        let mut found = 0;
        for made in made::files()? {
            let options = OpenOptions::new().accept_wrong_hashes(true).raw_path(path);
            let file = options.open(&made.path)?;
            for info in file.versions()? {
                let version = file.version(&info.name)?;
                for name in version.datasets()? {
                    found += check(&file, &version.dataset(&name)?)?;
                }
            }
        }
        assert!(found > 1_000, "{found} chunks");
    }
    Ok(())
}

#[test]
fn no_element_is_read_and_of_many_mappings_only_those_of_the_region() -> Outcome {
    let made = made::file("ten-thousand-mappings-handmade")?;
    let file = OpenOptions::new().threads(1).open(made.path)?;
    let dataset = file.version("r0")?.dataset("data")?;
    let before = file.io_counts();
    let region = dataset.stored_chunks_in("5000".parse::<Selection>()?)?;
    let after = file.io_counts();
    assert_eq!(region.len(), 1);
    // One entry of the list and two nodes of the chunk index.
    let (preads, bytes) = (after.preads - before.preads, after.bytes - before.bytes);
    assert!(preads <= 5 && bytes <= 8 << 10, "{preads} reads of {bytes} bytes");
    assert_eq!(after.library_reads, 0);

    let file = OpenOptions::new().threads(1).open(made::file("report-strided")?.path)?;
    let dataset = file.version("r0")?.dataset("data")?;
    let stored = dataset.stored_chunks()?;
    let before: IoCounts = file.io_counts();
    assert_eq!(dataset.stored_chunks_in("::10".parse::<Selection>()?)?, stored);
    assert_eq!(file.io_counts(), before, "all was known");
    Ok(())
}

#[test]
fn a_region_outside_the_dataset_is_refused() -> Outcome {
    let file = VersionedFile::open(made::file("report-strided")?.path)?;
    let dataset = file.current()?.dataset("data")?;
    for text in ["100000000", "0, 0"] {
        let error = dataset.stored_chunks_in(text.parse::<Selection>()?).unwrap_err();
        let Error::Dataset { fault, .. } = error else { panic!("{error}") };
        assert!(matches!(*fault, DatasetFault::Plan(_)), "{fault}");
    }
    assert_eq!(dataset.stored_chunks_in("3:3".parse::<Selection>()?)?, []);
    Ok(())
}
