//! What cannot be is refused with an error that says where and why, and the file stays as it was, byte for byte.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use h5strata::codec::Filter;
use h5strata::store::{Attribute, AttributeValue, StageFault};
use h5strata::{Error, Selection, Stage, StageOptions, VersionedFile};
use ndarray::{Array1, ArrayView2, array, s};

use crate::support::Outcome;
use crate::{Scratch, fault};

/// A file of one version: a dataset of numbers and one of strings in a group, with an attribute each.
fn file() -> Result<Scratch, Box<dyn std::error::Error>> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("g/x").chunks(&[2]).gzip(4).shuffle().data(&array![1_i64, 2, 3])?;
    stage.create_dataset("g/text").chunks(&[2]).strings(&[2], &["a", "b"])?;
    stage.set_attribute("g/x", Attribute::text("units", "m"))?;
    stage.set_attribute("g", Attribute::text("title", "a group"))?;
    stage.commit()?;
    Ok(scratch)
}

/// What a stage of version "r1" refuses.
type Request = fn(&mut Stage<'_>) -> Result<(), Error>;

/// Whether a fault is the one expected.
type Expected = fn(&StageFault) -> bool;

/// Requests, where each is wrong, and how.
#[rustfmt::skip]
const REQUESTS: &[(&str, Request, &str, Expected)] = &[
    ("a path that is taken", |s| s.create_dataset("g/x").data(&array![1_i64]).map(drop), "g/x", |f| matches!(f, StageFault::Exists)),
    ("a group's path that is taken", |s| s.create_group("g"), "g", |f| matches!(f, StageFault::Exists)),
    ("a path below a dataset", |s| s.create_dataset("g/x/y").data(&array![1_i64]).map(drop), "g/x/y", |f| matches!(f, StageFault::BelowDataset { dataset } if dataset == "g/x")),
    ("no name", |s| s.create_group("a//b"), "a//b", |f| matches!(f, StageFault::Name)),
    ("a dot as a name", |s| s.create_group("a/.."), "a/..", |f| matches!(f, StageFault::Name)),
    ("a name of the format", |s| s.create_group("versions"), "versions", |f| matches!(f, StageFault::Reserved { name } if name == "versions")),
    ("what is not there", |s| s.dataset_mut("g/y").map(drop), "g/y", |f| matches!(f, StageFault::Missing { nearest: Some(near) } if near == "g/x")),
    ("deleting what is not there", |s| s.delete("h"), "h", |f| matches!(f, StageFault::Missing { .. })),
    ("renaming what is not there", |s| s.rename("h", "i"), "h", |f| matches!(f, StageFault::Missing { .. })),
    ("renaming to a taken path", |s| s.rename("g/x", "g/text"), "g/text", |f| matches!(f, StageFault::Exists)),
    ("a group into itself", |s| s.copy("g", "g/inner"), "g/inner", |f| matches!(f, StageFault::IntoItself { from } if from == "g")),
    ("a group as a dataset", |s| s.dataset_mut("g").map(drop), "g", |f| matches!(f, StageFault::NoDataset)),
    ("a scalar", |s| s.create_dataset("y").data(&ndarray::arr0(1_i64)).map(drop), "y", |f| matches!(f, StageFault::Scalar)),
    ("a chunk shape of another rank", |s| s.create_dataset("y").chunks(&[2, 2]).data(&array![1_i64]).map(drop), "y", |f| matches!(f, StageFault::Array(_))),
    ("chunks of no element", |s| s.create_dataset("y").chunks(&[0]).data(&array![1_i64]).map(drop), "y", |f| matches!(f, StageFault::Array(_))),
    ("a fill value of another size", |s| s.create_dataset("y").fill(&[1]).data(&array![1_i64]).map(drop), "y", |f| matches!(f, StageFault::FillSize { expected: 8, found: 1 })),
    ("a fill value of strings", |s| s.create_dataset("y").fill(b"x").strings(&[1], &["a"]).map(drop), "y", |f| matches!(f, StageFault::StringFill)),
    ("a filter there is not", |s| s.create_dataset("y").compression(Filter::raw(40_000, vec![])).data(&array![1_i64]).map(drop), "y", |f| matches!(f, StageFault::Filter(_))),
    ("a checksum of strings", |s| s.create_dataset("y").fletcher32().strings(&[1], &["a"]).map(drop), "y", |f| matches!(f, StageFault::Filter(_))),
    ("strings that are too few", |s| s.create_dataset("y").strings(&[3], &["a"]).map(drop), "y", |f| matches!(f, StageFault::StringCount { found: 1, .. })),
    ("a string with a zero byte", |s| s.create_dataset("y").strings(&[2], &["a", "b\0c"]).map(drop), "y", |f| matches!(f, StageFault::ZeroByte { element: 1 })),
    ("bytes that are too few", |s| s.create_dataset("y").bytes("<i8".parse().unwrap(), &[2], vec![0; 15]).map(drop), "y", |f| matches!(f, StageFault::Memory(_))),
    ("another chunk shape than in other versions", |s| { s.delete("g/x")?; s.create_dataset("g/x").chunks(&[3]).data(&array![1_i64]).map(drop) }, "g/x", |f| matches!(f, StageFault::Disagrees { what: "chunk shape", .. })),
    ("another type", |s| { s.delete("g/x")?; s.create_dataset("g/x").data(&array![1_u64]).map(drop) }, "g/x", |f| matches!(f, StageFault::Disagrees { what: "type", stored, asked } if stored == "<i8" && asked == "<u8")),
    ("numbers for strings", |s| { s.delete("g/text")?; s.create_dataset("g/text").data(&array![1_u64]).map(drop) }, "g/text", |f| matches!(f, StageFault::Disagrees { what: "type", .. })),
    ("another fill value", |s| { s.delete("g/x")?; s.create_dataset("g/x").fill(&[1; 8]).data(&array![1_i64]).map(drop) }, "g/x", |f| matches!(f, StageFault::Disagrees { what: "fill value", .. })),
    ("other filters", |s| { s.delete("g/x")?; s.create_dataset("g/x").gzip(5).shuffle().data(&array![1_i64]).map(drop) }, "g/x", |f| matches!(f, StageFault::Disagrees { what: "filters", .. })),
    ("a copy to where other versions have another type", |s| { s.delete("g/text")?; s.copy("g/x", "g/text") }, "g/text", |f| matches!(f, StageFault::Disagrees { what: "type", .. })),
    ("values of another type", |s| s.dataset_mut("g/x")?.write(s![..], &array![1.5, 2.5, 3.5]), "g/x", |f| matches!(f, StageFault::ValueType { .. })),
    ("numbers into strings", |s| s.dataset_mut("g/text")?.write(s![..], &array![1_i64, 2]), "g/text", |f| matches!(f, StageFault::ValueType { .. })),
    ("strings into numbers", |s| s.dataset_mut("g/x")?.write_strings(s![..], &["a", "b", "c"], &[3]), "g/x", |f| matches!(f, StageFault::ValueType { .. })),
    ("values of another shape", |s| s.dataset_mut("g/x")?.write(s![..], &array![1_i64, 2]), "g/x", |f| matches!(f, StageFault::Array(_))),
    ("an element beyond the end", |s| s.dataset_mut("g/x")?.write_scalar(s![3], 1_i64), "g/x", |f| matches!(f, StageFault::Array(_))),
    ("a shape of another rank", |s| s.dataset_mut("g/x")?.resize(&[3, 1]), "g/x", |f| matches!(f, StageFault::Array(_))),
    ("an attribute of the format on a dataset", |s| s.set_attribute("g/x", Attribute::text("raw_data", "y")), "g/x", |f| matches!(f, StageFault::ReservedAttribute { name } if name == "raw_data")),
    ("an attribute of the format on the version", |s| s.set_attribute("", Attribute::text("committed", "y")), "", |f| matches!(f, StageFault::ReservedAttribute { name } if name == "committed")),
    ("no name of an attribute", |s| s.set_attribute("g", Attribute::text("", "y")), "g", |f| matches!(f, StageFault::AttributeName { .. })),
    ("an attribute that is not there", |s| s.delete_attribute("g/x", "unit"), "g/x", |f| matches!(f, StageFault::NoAttribute { name } if name == "unit")),
    ("an attribute of what is not there", |s| s.set_attribute("h", Attribute::number("n", 1_i64)), "h", |f| matches!(f, StageFault::Missing { .. })),
    ("an attribute of other values than its shape", |s| s.set_attribute("g", short_attribute()), "g", |f| matches!(f, StageFault::AttributeValue { .. })),
];

fn short_attribute() -> Attribute {
    let mut attribute = Attribute::array("n", &array![1_i64, 2, 3]);
    attribute.value = AttributeValue::Bytes(vec![0; 16]);
    attribute
}

/// Errors that did not say of what, and half a change that stayed.
#[test]
fn what_a_stage_refuses_is_named_and_changes_no_byte() -> Outcome {
    let scratch = file()?;
    let before = scratch.bytes();
    for &(name, request, path, expected) in REQUESTS {
        let mut versioned = VersionedFile::open_rw(&scratch.path)?;
        let mut stage = versioned.stage("r1")?;
        let error = request(&mut stage).err().unwrap_or_else(|| panic!("{name} is accepted"));
        let said = error.to_string();
        match error {
            Error::Stage { file, version, path: object, fault } => {
                assert_eq!((file.as_path(), version.as_str()), (scratch.path.as_path(), "r1"));
                assert_eq!(object, path, "{name}");
                assert!(expected(&fault), "{name}: {fault:?}");
                for part in ["versions.h5", "\"r1\"", &fault.to_string()] {
                    assert!(said.contains(part), "{name}: {said}");
                }
                assert!(path.is_empty() || said.contains(&format!("{path:?}")), "{name}: {said}");
            }
            other => panic!("{name}: {other}"),
        }
        drop(stage);
        drop(versioned);
        assert!(scratch.bytes() == before, "{name}");
    }
    Ok(())
}

/// A refused request left the stage half changed.
#[test]
fn after_a_refusal_the_stage_goes_on_as_it_was() -> Outcome {
    let scratch = file()?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut stage = file.stage("r1")?;
    for &(name, request, path, _) in REQUESTS {
        // Those that delete first have done so.
        if !request_deletes(name) {
            assert!(request(&mut stage).is_err(), "{name}: {path}");
        }
    }
    assert_eq!(stage.entries().len(), 3);
    let report = stage.commit()?;
    assert_eq!((report.datasets_changed, report.datasets_unchanged), (0, 2));
    let version = file.version("r1")?;
    assert_eq!(version.datasets()?, ["g/text", "g/x"]);
    assert_eq!(version.attributes_of("g/x")?, [Attribute::text("units", "m")]);
    assert_eq!(version.attributes_of("g")?, [Attribute::text("title", "a group")]);
    assert_eq!(crate::read(&file, "r1", "g/x"), array![1_i64, 2, 3].into_dyn());
    Ok(())
}

fn request_deletes(name: &str) -> bool {
    name.starts_with("another ")
        || name.starts_with("other ")
        || ["numbers for strings", "a copy to where other versions have another type"]
            .contains(&name)
}

/// A version under a name that was taken replaced the old one.
#[test]
fn names_and_parents_of_versions_are_checked_and_change_no_byte() -> Outcome {
    let scratch = file()?;
    let before = scratch.bytes();
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    assert!(matches!(fault(file.stage("r0").map(drop)), StageFault::VersionExists));
    for name in ["", ".", "a/b", "a\0b", "__first_version__"] {
        let refused = file.stage(name).map(drop);
        assert!(matches!(fault(refused), StageFault::VersionName), "{name:?}");
    }
    match StageOptions::new().parent("r").stage(&mut file, "r1").map(drop) {
        Err(Error::UnknownVersion { file, version, nearest, known }) => {
            assert_eq!((file, version.as_str()), (scratch.path.clone(), "r"));
            assert_eq!((nearest.as_deref(), known), (Some("r0"), vec!["r0".to_owned()]));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(file.set_current("r9"), Err(Error::UnknownVersion { .. })));
    // A failed attempt holds nothing back.
    drop(file.stage("r1")?);
    drop(file);
    assert!(scratch.bytes() == before);
    Ok(())
}

/// A file opened for reading was written to.
#[test]
fn a_file_opened_for_reading_takes_no_version() -> Outcome {
    let scratch = file()?;
    let before = scratch.bytes();
    let mut file = VersionedFile::open(&scratch.path)?;
    match file.stage("r1").map(drop) {
        Err(Error::ReadOnly { file }) => assert_eq!(file, scratch.path),
        other => panic!("{other:?}"),
    }
    assert!(matches!(file.set_current("r0"), Err(Error::ReadOnly { .. })));
    drop(file);
    assert!(scratch.bytes() == before);
    Ok(())
}

/// A file that may not be written to was opened all the same.
#[test]
fn a_file_without_permission_to_write_is_not_opened_for_it() -> Outcome {
    let scratch = file()?;
    fs::set_permissions(&scratch.path, fs::Permissions::from_mode(0o444))?;
    if fs::OpenOptions::new().write(true).open(&scratch.path).is_ok() {
        // The superuser may write to any file.
        return Ok(());
    }
    let before = scratch.bytes();
    match VersionedFile::open_rw(&scratch.path) {
        Err(Error::Io { file, source }) => {
            assert_eq!(file, scratch.path);
            assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(crate::read(&VersionedFile::open(&scratch.path)?, "r0", "g/x").len(), 3);
    assert!(scratch.bytes() == before);
    Ok(())
}

/// A file there already was overwritten.
#[test]
fn an_existing_file_is_never_created_anew() -> Outcome {
    let scratch = file()?;
    let before = scratch.bytes();
    let exists = |path: &Path| match VersionedFile::create(path) {
        Err(Error::Io { source, .. }) => source.kind() == std::io::ErrorKind::AlreadyExists,
        _ => false,
    };
    assert!(exists(&scratch.path));
    let link = scratch.folder().join("link.h5");
    std::os::unix::fs::symlink("nowhere", &link)?;
    assert!(exists(&link));
    assert!(exists(scratch.folder()));
    assert!(scratch.bytes() == before);
    Ok(())
}

/// Two stages of one file wrote over each other.
#[test]
fn there_is_one_stage_of_a_file_at_a_time() -> Outcome {
    let scratch = file()?;
    let before = scratch.bytes();
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let mut clone = file.clone();
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("g/x")?.write_scalar(s![0], 9_i64)?;
    match clone.stage("r2").map(drop) {
        Err(Error::StageOpen { file }) => assert_eq!(file, scratch.path),
        other => panic!("{other:?}"),
    }
    assert!(matches!(clone.set_current("r0"), Err(Error::StageOpen { .. })));
    drop(stage);
    drop(clone.stage("r2")?);
    drop((file, clone));
    assert!(scratch.bytes() == before);
    Ok(())
}

/// Values that lie otherwise in memory than in C order were stored in the order of memory.
#[test]
fn arrays_are_stored_in_c_order_however_they_lie_in_memory() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let memory: Vec<i64> = (0..12).collect();
    let rows = ArrayView2::from_shape((3, 4), &memory)?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("columns").chunks(&[2, 2]).data(&rows.t())?;
    stage.create_dataset("steps").chunks(&[2, 2]).data(&rows.slice(s![..;-1, 1..;2]))?;
    stage.create_dataset("given").chunks(&[2, 2]).owned_data(rows.to_owned().reversed_axes())?;
    let mut x = stage.create_dataset("x").chunks(&[5]).data(&Array1::<i64>::zeros(6))?;
    x.write(Selection::all(), &Array1::from_iter(0..6_i64).slice(s![..;-1]))?;
    stage.commit()?;
    assert_eq!(crate::read(&file, "r0", "columns"), rows.t().to_owned().into_dyn());
    assert_eq!(crate::read(&file, "r0", "given"), rows.t().to_owned().into_dyn());
    let steps = rows.slice(s![..;-1, 1..;2]).to_owned().into_dyn();
    assert_eq!(crate::read(&file, "r0", "steps"), steps);
    assert_eq!(crate::read(&file, "r0", "x"), array![5_i64, 4, 3, 2, 1, 0].into_dyn());
    Ok(())
}
