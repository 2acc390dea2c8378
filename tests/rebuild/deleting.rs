//! Versions are deleted, and the others are what they were.

use chrono::{DateTime, TimeDelta, Utc};
use h5strata::store::Attribute;
use h5strata::{DeleteOptions, DeleteSelection, Error, Selection, StageOptions, VersionedFile};
use ndarray::{Array1, Array2, ArrayD, array, s};

use crate::picture::{Picture, check_sound};
use crate::support::Outcome;
use crate::{Scratch, delete};

/// Time of version number `number`.
fn time(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + number)
}

/// Versions r0, r1, ... of a dataset that grows, each with an attribute.
fn growing(scratch: &Scratch, count: i64) -> VersionedFile {
    let mut file = scratch.create();
    for number in 0..count {
        let options = StageOptions::new().timestamp(time(number));
        let mut stage = options.stage(&mut file, &format!("r{number}")).unwrap();
        stage.set_attribute("", Attribute::number("number", number)).unwrap();
        let size = number + 3;
        if number == 0 {
            let first = Array1::from_iter(0..size);
            stage.create_dataset("data/bar").chunks(&[4]).gzip(4).shuffle().data(&first).unwrap();
        } else {
            let mut bar = stage.dataset_mut("data/bar").unwrap();
            bar.resize(&[size.cast_unsigned()]).unwrap();
            bar.write_scalar(s![-1], -number).unwrap();
        }
        stage.commit().unwrap();
    }
    file
}

#[test]
fn parents_current_version_and_attributes_follow() -> Outcome {
    for (deleted, current) in [
        (&["r2", "r4", "r6", "r8", "r10"][..], "r9"),
        (&["r1", "r5", "r8"], "r10"),
        (&["r0"], "r10"),
        (&["r9", "r10"], "r8"),
    ] {
        let scratch = Scratch::new();
        let mut file = growing(&scratch, 11);
        let expected = Picture::of(&file).without(deleted);
        let report = delete(&mut file, deleted)?;
        assert_eq!(report.deleted.len(), deleted.len());
        assert_eq!(report.current.as_deref(), Some(current));
        let moved: Vec<String> = report.moved.iter().map(|(name, _)| name.clone()).collect();
        for (name, version) in &expected.versions {
            let before = format!("r{}", name[1..].parse::<i64>()? - 1);
            let is_moved = version.parent.as_deref() != Some(&before) && name != "r0";
            assert_eq!(moved.contains(name), is_moved, "{name}");
        }
        for file in [file, VersionedFile::open(&scratch.path)?] {
            assert_eq!(Picture::of(&file), expected);
            assert_eq!(file.current_name()?, current);
            check_sound(&file);
            for &name in deleted {
                assert!(matches!(file.version(name), Err(Error::UnknownVersion { .. })));
            }
        }
        assert_eq!(scratch.files(), ["versions.h5"]);
    }
    Ok(())
}

#[test]
fn all_versions_can_be_deleted_and_new_ones_made() -> Outcome {
    let scratch = Scratch::new();
    let mut file = growing(&scratch, 3);
    let report = delete(&mut file, &["r0", "r1", "r2"])?;
    assert_eq!(report.current, None);
    assert!(matches!(file.current_name(), Err(Error::NoVersions { .. })));
    assert!(file.versions()?.is_empty());
    check_sound(&file);
    let mut stage = file.stage("anew")?;
    stage.create_dataset("data/bar").chunks(&[2]).data(&array![1.5f64, 2.5, 3.5])?;
    stage.commit()?;
    let read: ArrayD<f64> = file.current()?.dataset("data/bar")?.read(Selection::all())?;
    assert_eq!(read, array![1.5, 2.5, 3.5].into_dyn());
    Ok(())
}

#[test]
fn selections_are_made_by_name_number_and_time() -> Outcome {
    let scratch = Scratch::new();
    let mut file = growing(&scratch, 10);
    let of = |selection: DeleteSelection| -> Vec<String> { selection.of(&file).unwrap() };
    let new = DeleteSelection::new;
    assert_eq!(of(new()), [""; 0]);
    assert_eq!(of(new().keep_last(8)), ["r0", "r1"]);
    assert_eq!(of(new().before(time(3))), ["r0", "r1", "r2"]);
    assert_eq!(of(new().keep_every(3)), ["r1", "r2", "r4", "r5", "r7", "r8"]);
    assert_eq!(of(new().keep_last(8).names(["r5"])), ["r0", "r1", "r5"]);
    // The current version stays unless it is named.
    assert_eq!(of(new().keep_last(0)).len(), 9);
    assert_eq!(of(new().keep_every(4)), ["r1", "r2", "r3", "r5", "r6", "r7"]);
    assert_eq!(of(new().names(["r9"])), ["r9"]);
    assert!(matches!(new().names(["r99"]).of(&file), Err(Error::UnknownVersion { .. })));

    let before = std::fs::read(&scratch.path)?;
    let selection = new().keep_last(2);
    let planned = file.delete_versions(&selection, &DeleteOptions::new().dry_run(true))?;
    assert_eq!(planned.deleted.len(), 8);
    assert!(planned.file.is_none() && std::fs::read(&scratch.path)? == before);
    let nothing = file.delete_versions(&new(), &DeleteOptions::new())?;
    assert!(nothing.file.is_none() && std::fs::read(&scratch.path)? == before);
    let done = file.delete_versions(&selection, &DeleteOptions::new())?;
    assert_eq!((&done.deleted, &done.moved), (&planned.deleted, &planned.moved));
    let report = done.file.ok_or("nothing was written")?;
    assert_eq!((report.versions, report.old_bytes), (2, before.len() as u64));
    assert_eq!(report.new_bytes, std::fs::metadata(&scratch.path)?.len());
    Ok(())
}

#[test]
fn shapes_without_elements_stay() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[10_000]).gzip(1).data(&array![1.0f64, 2.0, 3.0])?;
    stage.create_dataset("empty").chunks(&[100, 3]).data(&Array2::<i16>::zeros((0, 7)))?;
    stage
        .create_dataset("filled")
        .chunks(&[2])
        .fill(&5i64.to_le_bytes())
        .data(&array![5i64, 5, 5])?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[0])?;
    stage.commit()?;
    let expected = Picture::of(&file).without(&["r0"]);
    delete(&mut file, &["r0"])?;
    assert_eq!(Picture::of(&file), expected);
    check_sound(&file);
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[0])?;
    stage.commit()?;
    assert_eq!(file.current()?.dataset("x")?.shape(), [0]);
    assert_eq!(file.current()?.dataset("empty")?.shape(), [0, 7]);
    let filled: ArrayD<i64> = file.current()?.dataset("filled")?.read(Selection::all())?;
    assert_eq!(filled, array![5, 5, 5].into_dyn());
    Ok(())
}

#[test]
fn edge_chunks_that_grow_and_shrink_stay_apart() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[10]).data(&Array1::from_iter(0..15i64))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    let mut x = stage.dataset_mut("x")?;
    x.resize(&[26])?;
    x.write(Selection::all(), &Array1::from_iter(0..26i64))?;
    stage.commit()?;
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[17])?;
    stage.commit()?;
    delete(&mut file, &["r0"])?;
    check_sound(&file);
    for (version, size) in [("r1", 26), ("r2", 17)] {
        let read: ArrayD<i64> = file.version(version)?.dataset("x")?.read(Selection::all())?;
        assert_eq!(read, Array1::from_iter(0..size).into_dyn());
    }
    Ok(())
}

#[test]
fn what_is_left_is_used_again_by_the_next_version() -> Outcome {
    let scratch = Scratch::new();
    let mut file = growing(&scratch, 6);
    delete(&mut file, &["r0", "r1", "r2"])?;
    let chunks = file.current()?.dataset("data/bar")?.raw_data().1;
    let mut stage = file.stage("back")?;
    let values: ArrayD<i64> = file_values(&scratch, "r4")?;
    let mut bar = stage.dataset_mut("data/bar")?;
    bar.resize(&[values.len() as u64])?;
    bar.write(Selection::all(), &values)?;
    let report = stage.commit()?;
    assert_eq!(report.chunks_written, 0);
    assert_eq!(file.current()?.dataset("data/bar")?.raw_data().1, chunks);
    check_sound(&file);
    Ok(())
}

fn file_values(scratch: &Scratch, version: &str) -> Result<ArrayD<i64>, Error> {
    VersionedFile::open(&scratch.path)?
        .version(version)?
        .dataset("data/bar")?
        .read(Selection::all())
}
