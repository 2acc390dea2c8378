//! What stopped writers and rebuilt hash tables leave in a file is never used, and nothing of a version is lost to it.

use std::collections::BTreeMap;

use h5strata::codec::Filter;
use h5strata::{Selection, VersionedFile};
use ndarray::{Array1, ArrayD, s};

use crate::support::values::Values;
use crate::support::{Outcome, shared};
use crate::{Scratch, dataset, read, read_as};

/// What the rows of a stopped writer say that its chunks hold.
const PROMISED: i64 = 3;

/// A file of one version with ten chunks.
fn file(filter: Option<Filter>) -> Result<Scratch, h5strata::Error> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let mut builder = stage.create_dataset("x").chunks(&[10]);
    if let Some(filter) = filter {
        builder = builder.compression(filter);
    }
    builder.data(&Array1::from_iter(0..100_i64))?;
    stage.commit()?;
    Ok(scratch)
}

/// A commit after one that was stopped took its chunks for stored ones, or stored beyond them.
#[test]
fn what_a_stopped_writer_left_is_overwritten() -> Outcome {
    // Chunks of other filters than the dataset's, with and without rows that say something false of them.
    for (filter, rows) in [None, Some(Filter::gzip(4)), Some(Filter::lzf())]
        .into_iter()
        .flat_map(|f| [(f.clone(), 0), (f, 5)])
    {
        for new in [4_usize, 6] {
            let name = format!("{filter:?}, {rows} rows, {new} chunks");
            let scratch = file(filter.clone())?;
            scratch.alter("junk", &["x", "5", &rows.to_string(), &PROMISED.to_string()])?;
            let mut values: Vec<i64> = (0..100).collect();
            for (at, value) in values[..new * 10].iter_mut().enumerate() {
                // The first chunk is what the rows promise.
                *value = if at < 10 { PROMISED } else { -(at as i64) };
            }
            let values = Array1::from_vec(values);
            let mut file = VersionedFile::open_rw(&scratch.path)?;
            assert_eq!(read(&file, "r0", "x"), Array1::from_iter(0..100_i64).into_dyn());
            let mut stage = file.stage("r1")?;
            stage.dataset_mut("x")?.write(Selection::all(), &values)?;
            let report = stage.commit()?;
            assert_eq!(
                (report.chunks_written, report.chunks_reused),
                (new as u64, 10 - new as u64),
                "{name}"
            );
            for file in [file, VersionedFile::open(&scratch.path)?] {
                assert_eq!(read(&file, "r1", "x"), values.clone().into_dyn(), "{name}");
                assert_eq!(read(&file, "r0", "x"), Array1::from_iter(0..100_i64).into_dyn());
                assert_eq!(dataset(&file, "r1", "x").raw_data().1, 10 + new as u64, "{name}");
            }
            scratch.alter("agrees", &[])?;
        }
    }
    Ok(())
}

/// A version that was never committed stood in the way of one of its name, or became a parent.
#[test]
fn a_version_whose_writer_stopped_gives_way() -> Outcome {
    let scratch = file(None)?;
    scratch.alter("uncommitted", &["r1"])?;
    scratch.alter("uncommitted", &["r2"])?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    assert_eq!(file.versions()?.len(), 1);
    let mut stage = file.stage("r1")?;
    assert_eq!(stage.parent(), Some("r0"));
    stage.dataset_mut("x")?.write_scalar(s![0], 9_i64)?;
    stage.commit()?;
    assert_eq!(read(&file, "r1", "x")[[0]], 9);
    assert_eq!(file.version("r1")?.parent()?.as_deref(), Some("r0"));
    assert_eq!(file.versions()?.len(), 2);
    Ok(())
}

/// The digests of all datasets of all versions.
fn digests(
    file: &VersionedFile,
) -> Result<BTreeMap<(String, String), String>, Box<dyn std::error::Error>> {
    let mut digests = BTreeMap::new();
    for version in file.versions()? {
        let opened = file.version(&version.name)?;
        for path in opened.datasets()? {
            let values = Values::whole(&opened.dataset(&path)?)?;
            digests.insert((version.name.clone(), path), values.sha256());
        }
    }
    Ok(digests)
}

/// Objects of the listing below the versions of `of`, with their values.
fn values_of(
    listing: &str,
    of: &[String],
) -> Result<BTreeMap<String, serde_json::Value>, serde_json::Error> {
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(listing)?;
    let below = |path: &str| {
        of.iter().any(|version| path.starts_with(&format!("/_version_data/versions/{version}/")))
    };
    Ok(all
        .into_iter()
        .filter(|(path, _)| below(path))
        .map(|(path, entry)| (path, entry["values"].clone()))
        .collect())
}

/// A table that versioned-hdf5 has rebuilt lacks the rows of chunks that versions map; the next writer took these
/// chunks for garbage.
#[test]
fn files_with_rebuilt_tables_are_continued_without_a_loss() -> Outcome {
    let Some(folder) = shared::suite()? else { return Ok(()) };
    let mut continued = 0;
    for path in shared::hdf5_files(&folder)? {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !("0082".."0092").contains(&&name[..4]) {
            continue;
        }
        let scratch = Scratch::copy_of(&path);
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        let before = digests(&file)?;
        let versions: Vec<String> = file.versions()?.iter().map(|v| v.name.clone()).collect();
        drop(file);
        let listed = values_of(&scratch.listing()?, &versions)?;
        assert!(!listed.is_empty(), "{name}");

        file = VersionedFile::open_rw(&scratch.path)?;
        for round in 0..3 {
            let mut stage = file.stage(&format!("ours{round}"))?;
            for path in stage.entries().into_iter().map(|entry| entry.path).collect::<Vec<_>>() {
                if stage.kind(&path) != Some(h5strata::store::EntryKind::Dataset) {
                    continue;
                }
                let mut dataset = stage.dataset_mut(&path)?;
                if dataset.dtype().is_variable_string() && !dataset.shape().contains(&0) {
                    let new = [format!("{name}, round {round}")];
                    dataset.write_strings(Selection::all(), &new, &[])?;
                }
            }
            assert!(stage.commit()?.chunks_written > 0, "{name}");
        }
        for file in [file, VersionedFile::open(&scratch.path)?] {
            let after = digests(&file)?;
            assert!(before.iter().all(|(at, digest)| after.get(at) == Some(digest)), "{name}");
            assert!(after.len() > before.len());
        }
        assert_eq!(values_of(&scratch.listing()?, &versions)?, listed, "{name}");
        continued += 1;
    }
    assert_eq!(continued, 10);
    Ok(())
}

/// An empty dataset has rows of storage neither before nor after.
#[test]
fn an_empty_dataset_is_continued() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[10]).empty("<f8".parse()?, &[0])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    let mut x = stage.dataset_mut("x")?;
    x.resize(&[3])?;
    x.write_scalar(Selection::all(), 1.5)?;
    assert_eq!(stage.commit()?.chunks_written, 1);
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[0])?;
    assert_eq!(stage.commit()?.chunks_written, 0);
    for (version, length) in [("r0", 0), ("r1", 3), ("r2", 0)] {
        let expected = ArrayD::from_elem(vec![length], 1.5);
        assert_eq!(read_as::<f64>(&file, version, "x"), expected, "{version}");
    }
    Ok(())
}
