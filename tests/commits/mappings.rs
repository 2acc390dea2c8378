//! Lists of mappings are the same to every reader, whoever has written them.

use std::collections::BTreeMap;

use chrono::DateTime;
use h5strata::{OpenOptions, RawPath, StageOptions, VersionedFile};
use ndarray::{Array2, s};

use crate::support::Outcome;
use crate::{Scratch, dataset};

/// Versions of one dataset that is changed and one that is not, with so many chunks that their lists are no small ones.
fn make(by_library: bool) -> Result<Scratch, Box<dyn std::error::Error>> {
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().library_mappings(by_library).create(&scratch.path)?;
    let values = Array2::from_shape_fn((45, 60), |(row, column)| (row * 60 + column) as i64);
    let options = StageOptions::new().timestamp(DateTime::UNIX_EPOCH);
    let mut stage = options.stage(&mut file, "r0")?;
    stage.create_dataset("changed").chunks(&[4, 7]).data(&values)?;
    stage.create_dataset("kept").chunks(&[7, 4]).data(&values)?;
    stage.commit()?;
    for version in 1..4_u64 {
        let mut stage = options.stage(&mut file, &format!("r{version}"))?;
        let mut changed = stage.dataset_mut("changed")?;
        changed.resize(&[45 + version, 60 - version])?;
        changed.write_scalar(s![20..23, ..;9], version as i64)?;
        stage.commit()?;
    }
    Ok(scratch)
}

/// What libhdf5 reads through a list of ours was not what it reads through its own, or a list of the parent version was
/// copied wrongly.
#[test]
fn a_file_whose_lists_libhdf5_has_written_is_the_same_to_every_reader() -> Outcome {
    let (ours, theirs) = (make(false)?, make(true)?);
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let open = |scratch: &Scratch| -> Result<VersionedFile, h5strata::Error> {
            OpenOptions::new().raw_path(raw_path).open(&scratch.path)
        };
        let files = (open(&ours)?, open(&theirs)?);
        for version in 0..4 {
            for path in ["changed", "kept"] {
                let name = format!("r{version}");
                let datasets = (dataset(&files.0, &name, path), dataset(&files.1, &name, path));
                let maps = (datasets.0.chunk_map()?, datasets.1.chunk_map()?);
                assert!(maps.0.iter().eq(maps.1.iter()), "{name}, {path}");
                assert_eq!(
                    datasets.0.read::<i64>(s![.., ..])?,
                    datasets.1.read::<i64>(s![.., ..])?,
                    "{name}, {path}"
                );
            }
        }
    }
    // All that h5py finds, the mappings among it; but when the file was made.
    let listing = |scratch: &Scratch| -> Result<_, Box<dyn std::error::Error>> {
        let mut all: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(&scratch.listing()?)?;
        all.remove("/_version_data/versions/__first_version__");
        Ok(all)
    };
    let (ours, theirs) = (listing(&ours)?, listing(&theirs)?);
    assert!(ours["/_version_data/versions/r3/kept"]["mappings"].as_array().is_some());
    assert_eq!(ours, theirs);
    Ok(())
}
