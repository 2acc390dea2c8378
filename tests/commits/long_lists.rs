//! Lists of many mappings of which few change are what they would be if they were made anew.

use chrono::DateTime;
use h5strata::{OpenOptions, Selection, StageOptions};
use ndarray::{Array1, Array2, s};

use crate::support::Outcome;
use crate::{Scratch, dataset};

/// What is done to a version of a dataset of 100 x 2 chunks of 2 x 3 elements, 3 of them not stored, to get the next.
type Change = fn(&mut h5strata::StagedDataset<'_>) -> Result<(), h5strata::Error>;

const CHANGES: [(&str, Change); 12] = [
    ("an element", |x| x.write_scalar(s![51, 4], 7_i64)),
    ("the first and the last chunk", |x| {
        x.write_scalar(s![0, 0], 8_i64)?;
        x.write_scalar(s![-1, -1], 9_i64)
    }),
    ("chunks side by side", |x| x.write_scalar(s![60..64, ..], 11_i64)),
    ("what was there", |x| {
        let values = x.read::<i64>(s![20..22, ..])?;
        x.write(s![20..22, ..], &values)
    }),
    ("to nothing but fill", |x| x.write_scalar(s![30..32, ..3], 0_i64)),
    ("from nothing but fill", |x| x.write_scalar(s![12, 0], 5_i64)),
    ("rows behind the last", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows + 4, 6])?;
        x.write_scalar(s![-4.., ..], 3_i64)
    }),
    ("rows behind the last, some of fill, and one in front", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows + 6, 6])?;
        x.write_scalar(s![-2.., ..], 4_i64)?;
        x.write_scalar(s![70, 2], 4_i64)
    }),
    ("less than a chunk behind the last", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows + 1, 6])?;
        x.write_scalar(s![-1, ..], 6_i64)
    }),
    ("behind an edge", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows + 3, 6])?;
        x.write_scalar(s![-1, ..], 6_i64)
    }),
    ("cut off and grown again", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows - 8, 6])?;
        x.resize(&[rows, 6])?;
        x.write_scalar(s![-1, 0], 12_i64)
    }),
    ("wider", |x| {
        let rows = x.shape()[0];
        x.resize(&[rows, 9])?;
        x.write_scalar(s![5, 8], 13_i64)
    }),
];

/// The versions that the changes make, the file opened for each or once for all.
fn make(by_library: bool, reopen: bool) -> Result<Scratch, Box<dyn std::error::Error>> {
    let scratch = Scratch::new();
    let options = OpenOptions::new().library_mappings(by_library);
    let stamped = StageOptions::new().timestamp(DateTime::UNIX_EPOCH);
    let mut file = options.create(&scratch.path)?;
    let mut values =
        Array2::from_shape_fn((200, 6), |(row, column)| (row * 60 + column) as i64 + 1);
    values.slice_mut(s![10..16, ..3]).fill(0);
    let mut stage = stamped.stage(&mut file, "r0")?;
    stage.create_dataset("x").chunks(&[2, 3]).data(&values)?;
    stage.commit()?;
    for ((what, change), version) in CHANGES.iter().zip(1..) {
        if reopen {
            drop(file);
            file = options.open_rw(&scratch.path)?;
        }
        let mut stage = stamped.stage(&mut file, &format!("r{version}"))?;
        change(&mut stage.dataset_mut("x")?)?;
        let report = stage.commit()?;
        let stored = dataset(&file, &format!("r{version}"), "x").chunk_map()?.stored();
        for dataset in report.datasets {
            assert_eq!(dataset.chunks_stored, stored, "{what}");
        }
    }
    Ok(scratch)
}

#[test]
fn a_list_made_from_another_is_the_one_that_libhdf5_writes() -> Outcome {
    let by_library = make(true, true)?;
    for reopen in [false, true] {
        let ours = make(false, reopen)?;
        let (file, expected) =
            (OpenOptions::new().open(&ours.path)?, OpenOptions::new().open(&by_library.path)?);
        for version in 0..=CHANGES.len() {
            let what = version.checked_sub(1).map(|number| CHANGES[number].0);
            let version = format!("r{version}");
            let datasets = (dataset(&file, &version, "x"), dataset(&expected, &version, "x"));
            let maps = (datasets.0.chunk_map()?, datasets.1.chunk_map()?);
            assert!(maps.0.iter().eq(maps.1.iter()), "{what:?}");
            let values = datasets.1.read::<i64>(Selection::all())?;
            assert_eq!(datasets.0.read::<i64>(Selection::all())?, values, "{what:?}");
        }
        let listings = (ours.listing()?, by_library.listing()?);
        let mappings = |listing: &str| -> Result<Vec<serde_json::Value>, serde_json::Error> {
            let all: serde_json::Value = serde_json::from_str(listing)?;
            let of = |version| all[format!("/_version_data/versions/r{version}/x")].clone();
            Ok((0..=CHANGES.len()).map(of).collect())
        };
        let (ours, theirs) = (mappings(&listings.0)?, mappings(&listings.1)?);
        assert!(theirs.iter().all(|dataset| dataset["mappings"].is_array()));
        assert_eq!(ours, theirs);
    }
    Ok(())
}

/// Damage in a list was given on to the next version's, with a checksum that says that all is well.
#[test]
fn a_damaged_list_is_not_taken_over() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let values = Array1::from_iter(1..=4000_i64);
    stage.create_dataset("x").chunks(&[10]).data(&values)?;
    stage.commit()?;
    drop(file);
    let mut bytes = scratch.bytes();
    let name = b"/_version_data/x/raw_data\0";
    let mut entries = bytes.windows(name.len()).enumerate().filter(|(_, window)| window == name);
    // The start of the source in an entry in the middle.
    let (at, _) = entries.nth(250).ok_or("too few entries")?;
    bytes[at + name.len() + 24] ^= 1;
    std::fs::write(&scratch.path, &bytes)?;

    let mut file = OpenOptions::new().open_rw(&scratch.path)?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(s![7], -1_i64)?;
    let error = format!("{:?}", stage.commit().unwrap_err());
    assert!(error.contains("Checksum"), "{error}");
    drop(file);
    assert!(scratch.bytes() == bytes, "a commit that failed has changed the file");
    Ok(())
}
