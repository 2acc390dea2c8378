//! Versions are staged and committed, and read back.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::path::PathBuf;

use h5strata::store::{Attribute, AttributeValue, StageFault};
use h5strata::{Dtype, Error, Selection, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, ArrayD, array, s};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A new versioned file in a folder of its own, which goes when it is dropped.
struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.h5");
        Self { _folder: folder, path }
    }

    fn create(&self) -> VersionedFile {
        VersionedFile::create(&self.path).unwrap()
    }
}

fn read(file: &VersionedFile, version: &str, dataset: &str) -> ArrayD<i64> {
    file.version(version).unwrap().dataset(dataset).unwrap().read(Selection::all()).unwrap()
}

/// Why something could not be staged.
fn fault<T>(outcome: Result<T, Error>) -> StageFault {
    match outcome.err().unwrap() {
        Error::Stage { fault, .. } => *fault,
        error => panic!("{error}"),
    }
}

#[test]
fn a_version_reads_back_as_it_was_staged() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let first = Array2::from_shape_fn((5, 7), |(row, column)| (row * 10 + column) as i64);
    let mut stage = file.stage("r0")?;
    stage.create_dataset("equity/close").chunks(&[2, 3]).gzip(4).shuffle().data(&first)?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_filled), (9, 0));

    let mut stage = file.stage("r1")?;
    let mut close = stage.dataset_mut("equity/close")?;
    close.resize(&[6, 7])?;
    close.write(s![5, ..], &Array1::from_elem(7, -1i64))?;
    assert_eq!(close.read::<i64>(s![4.., 0])?, array![40, -1].into_dyn());
    let report = stage.commit()?;
    assert_eq!(report.chunks_written, 3);

    for file in [file, VersionedFile::open(&scratch.path)?] {
        assert_eq!(read(&file, "r0", "equity/close"), first.clone().into_dyn());
        let second = read(&file, "r1", "equity/close");
        assert_eq!(second.slice(s![..5, ..]), first);
        assert_eq!(second.slice(s![5, ..]), Array1::from_elem(7, -1i64));
        assert_eq!(file.current_name()?, "r1");
        assert_eq!(file.version("r1")?.parent()?.as_deref(), Some("r0"));
    }
    Ok(())
}

#[test]
fn a_dropped_stage_leaves_every_byte() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").data(&array![1i64, 2, 3])?;
    stage.commit()?;
    drop(file);
    let before = std::fs::read(&scratch.path)?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(Selection::all(), 9i64)?;
    stage.create_dataset("y").data(&array![1.5f64])?;
    drop(stage);
    drop(file);
    assert!(std::fs::read(&scratch.path)? == before);
    Ok(())
}

#[test]
fn strings_of_variable_length_are_versioned() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("names").chunks(&[10_000]).gzip(4).strings(&[2], &["ab", "c"])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("names")?.write_strings(Selection::all(), &["a", "bc"], &[2])?;
    assert_eq!(stage.commit()?.chunks_written, 1);
    for (version, expected) in [("r0", ["ab", "c"]), ("r1", ["a", "bc"])] {
        let strings = file.version(version)?.dataset("names")?.read_strings(Selection::all())?;
        assert_eq!(strings.into_raw_vec_and_offset().0, expected);
    }
    Ok(())
}

#[test]
fn an_unchanged_dataset_is_taken_over_with_its_attributes() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").data(&array![1i64, 2, 3])?;
    stage.set_attribute("x", text("units", "m"))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write(Selection::all(), &array![1i64, 2, 3])?;
    let report = stage.commit()?;
    assert_eq!((report.datasets_changed, report.datasets_unchanged), (0, 1));
    assert_eq!(report.chunks_written, 0);
    assert_eq!(read(&file, "r1", "x"), array![1, 2, 3].into_dyn());
    let attributes = file.version("r1")?.dataset("x")?.attributes()?;
    assert_eq!(attributes, [text("units", "m")]);
    Ok(())
}

fn text(name: &str, value: &str) -> Attribute {
    Attribute {
        name: name.to_owned(),
        dtype: "str".parse().unwrap(),
        shape: Vec::new(),
        value: AttributeValue::Strings(vec![value.as_bytes().to_vec()]),
    }
}

#[test]
fn names_that_are_taken_or_the_formats_own_are_refused() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    file.stage("r0")?.commit()?;
    for name in ["r0", "", "a/b", "__first_version__"] {
        assert!(matches!(file.stage(name), Err(Error::Stage { .. })), "{name:?}");
    }
    let unknown = StageOptions::new().parent("r9").stage(&mut file, "r1");
    assert!(matches!(unknown, Err(Error::UnknownVersion { .. })));
    let mut stage = file.stage("r1")?;
    for path in ["versions", "versions/x", "a/raw_data", "a//b", "", "."] {
        let outcome = stage.create_dataset(path).data(&array![1i64]);
        assert!(matches!(outcome, Err(Error::Stage { .. })), "{path:?}");
    }
    let scalar = stage.create_dataset("x").data(&ndarray::arr0(1i64));
    assert!(matches!(fault(scalar), StageFault::Scalar));
    Ok(())
}

#[test]
fn settings_must_be_those_of_the_first_version() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[2]).gzip(4).data(&array![1i64, 2, 3])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.delete("x")?;
    let other = stage.create_dataset("x").chunks(&[3]).data(&array![1i64]);
    assert!(matches!(fault(other), StageFault::Disagrees { what: "chunk shape", .. }));
    let other = stage.create_dataset("x").data(&array![1i32]);
    assert!(matches!(fault(other), StageFault::Disagrees { what: "type", .. }));
    let other = stage.create_dataset("x").gzip(5).data(&array![1i64]);
    assert!(matches!(fault(other), StageFault::Disagrees { what: "filters", .. }));
    stage.create_dataset("x").data(&array![3i64])?;
    stage.commit()?;
    assert_eq!(read(&file, "r1", "x"), array![3].into_dyn());
    assert_eq!(file.version("r1")?.dataset("x")?.chunk_shape(), [2]);
    Ok(())
}

#[test]
fn datasets_are_renamed_and_copied_with_all_they_have() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("g/x").chunks(&[2]).data(&array![1i64, 2, 3])?;
    stage.create_dataset("g/names").strings(&[2], &["one", "two"])?;
    stage.set_attribute("g/x", text("units", "m"))?;
    stage.set_attribute("g", text("title", "a group"))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.rename("g", "h")?;
    stage.copy("h/x", "y")?;
    stage.dataset_mut("y")?.write_scalar(s![0], 7i64)?;
    stage.commit()?;
    let version = file.version("r1")?;
    assert_eq!(version.datasets()?, ["h/names", "h/x", "y"]);
    assert_eq!(read(&file, "r1", "h/x"), array![1, 2, 3].into_dyn());
    assert_eq!(read(&file, "r1", "y"), array![7, 2, 3].into_dyn());
    assert_eq!(version.attributes_of("h")?, [text("title", "a group")]);
    assert_eq!(version.attributes_of("y")?, [text("units", "m")]);
    let names = version.dataset("h/names")?.read_strings(Selection::all())?;
    assert_eq!(names.into_raw_vec_and_offset().0, ["one", "two"]);
    assert_eq!(file.version("r0")?.datasets()?, ["g/names", "g/x"]);
    Ok(())
}

#[test]
fn empty_and_filled_datasets_store_nothing() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let f64s: Dtype = "<f8".parse()?;
    stage.create_dataset("none").chunks(&[10]).empty(f64s.clone(), &[0])?;
    stage.create_dataset("nan").chunks(&[4]).fill(&f64::NAN.to_le_bytes()).empty(f64s, &[9])?;
    let report = stage.commit()?;
    assert_eq!(report.chunks_written, 0);
    let version = file.version("r0")?;
    assert_eq!(version.dataset("none")?.shape(), [0]);
    let nan: ArrayD<f64> = version.dataset("nan")?.read(Selection::all())?;
    assert!(nan.iter().all(|value| value.is_nan()) && nan.len() == 9);
    drop(file);
    assert!(std::fs::metadata(&scratch.path)?.len() <= 16 << 10);
    Ok(())
}
