//! Damaged versions and lists of mappings.

use h5strata::VersionedFile;
use h5strata::chunk_map::MapError;
use h5strata::store::{DatasetFault, Finding};
use ndarray::{Array1, s};

use crate::{Outcome, Scratch, texts};

/// Three versions in a row, of datasets "a" and "b" with a list of 100 mappings each.
fn three() -> Result<Scratch, h5strata::Error> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    for path in ["a", "b"] {
        stage.create_dataset(path).chunks(&[5]).data(&Array1::from_iter(0..500_i64))?;
    }
    stage.commit()?;
    for version in 1..3 {
        let mut stage = file.stage(&format!("r{version}"))?;
        for path in ["a", "b"] {
            stage.dataset_mut(path)?.write_scalar(s![version * 100], -1_i64)?;
        }
        stage.commit()?;
    }
    Ok(scratch)
}

#[test]
fn versions_that_make_no_history_are_told() -> Outcome {
    let scratch = three()?;
    scratch.alter("parent", &["r1", "r2"])?;
    scratch.alter("time", &["r0", "yesterday"])?;
    scratch.alter("current", &["r9"])?;
    let expected = [
        "damage: version \"r0\": the timestamp \"yesterday\" is not a time",
        "damage: version \"r1\": it is its own ancestor",
        "damage: version \"r2\": it is its own ancestor",
        "damage: /_version_data/versions: the current version \"r9\" does not exist",
    ];
    assert_eq!(scratch.findings(), expected);
    scratch.alter("parent", &["r1", "gone"])?;
    let found = scratch.quick_findings();
    assert_eq!(found[1], "damage: version \"r1\": its parent \"gone\" does not exist");
    assert_eq!((found.len(), &*found[2]), (3, expected[3]));
    // All the same their datasets were looked at.
    assert_eq!(scratch.verify().datasets, 6);
    Ok(())
}

#[test]
fn a_damaged_list_is_told_by_version_and_dataset_and_the_others_are_looked_at() -> Outcome {
    let scratch = three()?;
    let bytes = std::fs::read(&scratch.path)?;
    // Lists name the raw_data that they are of; behind the last of these names is a mapping of some version.
    let name = b"/_version_data/b/raw_data\0";
    let mut places = bytes.windows(name.len()).enumerate().filter(|(_, window)| *window == name);
    let last = places.next_back().ok_or("a list")?.0;
    scratch.flip((last + name.len() + 40) as u64);
    scratch.flip(scratch.address("r1", "a", &[20]));
    let report = scratch.verify();
    let damage: Vec<&Finding> = report.damage().collect();
    let [Finding::Dataset { version, dataset, fault }, Finding::Chunk { uses, .. }] = damage[..]
    else {
        panic!("{:?}", texts(&report))
    };
    assert_eq!((&**dataset, &uses[0].chunk[..]), ("b", &[20][..]));
    assert!(matches!(**fault, DatasetFault::Map(MapError::Block(_))), "{fault}");
    // What that version has of its own is not taken for what nobody uses.
    assert_eq!(report.remarks().count(), 0, "{:?}", texts(&report));
    let file = VersionedFile::open(&scratch.path)?;
    for name in ["r0", "r1", "r2"] {
        let map = file.version(name)?.dataset("b")?.chunk_map().map(drop);
        assert_eq!(map.is_err(), name == &**version, "{name}");
    }
    Ok(())
}
