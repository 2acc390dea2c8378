//! Handles that are held while a file is made anew, and what stopped processes have left.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use h5strata::store::Attribute;
use h5strata::{Error, RepackOptions, Selection, VersionedFile};
use ndarray::{Array1, ArrayD, array};

use crate::picture::Picture;
use crate::support::Outcome;
use crate::{Scratch, delete};

fn three(scratch: &Scratch) -> VersionedFile {
    let mut file = scratch.create();
    for number in 0..3i64 {
        let mut stage = file.stage(&format!("r{number}")).unwrap();
        let values = Array1::from_iter((0..20).map(|at| at * 100 + number));
        if number == 0 {
            stage.create_dataset("x").chunks(&[4]).data(&values).unwrap();
        } else {
            stage.dataset_mut("x").unwrap().write(Selection::all(), &values).unwrap();
        }
        stage.commit().unwrap();
    }
    file
}

#[test]
fn who_has_the_file_open_reads_on_in_the_old_one() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch);
    let (reader, clone) = (VersionedFile::open(&scratch.path)?, file.clone());
    let opened = reader.version("r0")?.dataset("x")?;
    let expected = Picture::of(&reader);
    let values: ArrayD<i64> = opened.read(Selection::all())?;
    delete(&mut file, &["r0"])?;
    assert_eq!(opened.read::<i64>(Selection::all())?, values);
    for old in [&reader, &clone] {
        assert_eq!(Picture::of(old), expected);
        assert!(old.has_version("r0")?);
    }
    assert_eq!(Picture::of(&file), expected.without(&["r0"]));
    assert!(!VersionedFile::open(&scratch.path)?.has_version("r0")?);
    Ok(())
}

#[test]
fn clones_of_the_old_handle_take_no_more_commits() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch);
    let mut clone = file.clone();
    file.repack_in_place(&RepackOptions::new())?;
    assert!(matches!(clone.stage("r3"), Err(Error::Replaced { .. })));
    assert!(matches!(clone.set_current("r0"), Err(Error::Replaced { .. })));
    assert!(matches!(delete(&mut clone, &["r0"]), Err(Error::Replaced { .. })));
    // The new handle is the writer, and the only one, whether the old ones are still there or not.
    for _ in 0..2 {
        assert!(matches!(VersionedFile::open_rw(&scratch.path), Err(Error::Lock(_))));
        drop(clone);
        clone = VersionedFile::open(&scratch.path)?;
    }
    let mut stage = file.stage("r3")?;
    stage.set_attribute("x", Attribute::text("unit", "EUR"))?;
    stage.commit()?;
    assert_eq!(clone.version("r3")?.name(), "r3");
    drop(file);
    let file = VersionedFile::open_rw(&scratch.path)?;
    assert_eq!(file.current_name()?, "r3");
    Ok(())
}

#[test]
fn a_stage_or_another_writer_is_in_the_way() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch);
    let mut clone = file.clone();
    let stage = clone.stage("r3")?;
    assert!(matches!(delete(&mut file, &["r0"]), Err(Error::StageOpen { .. })));
    drop(stage);
    let mut reader = VersionedFile::open(&scratch.path)?;
    assert!(matches!(delete(&mut reader, &["r0"]), Err(Error::ReadOnly { .. })));
    delete(&mut file, &["r0"])?;
    Ok(())
}

#[test]
fn a_clones_commits_are_in_the_new_file() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch);
    let mut clone = file.clone();
    file.versions()?;
    let mut stage = clone.stage("r3")?;
    stage.dataset_mut("x")?.write(Selection::all(), &Array1::from_elem(20, 7i64))?;
    stage.commit()?;
    delete(&mut file, &["r1"])?;
    let read: ArrayD<i64> = file.current()?.dataset("x")?.read(Selection::all())?;
    assert_eq!(read, Array1::from_elem(20, 7).into_dyn());
    assert_eq!(file.version("r2")?.parent()?.as_deref(), Some("r0"));
    Ok(())
}

#[test]
fn permissions_links_and_the_folder_are_as_before() -> Outcome {
    let scratch = Scratch::new();
    drop(three(&scratch));
    let elsewhere = tempfile::tempdir()?;
    let link = elsewhere.path().join("link.h5");
    std::os::unix::fs::symlink(&scratch.path, &link)?;
    std::fs::set_permissions(&scratch.path, std::fs::Permissions::from_mode(0o640))?;
    let before = std::fs::metadata(&scratch.path)?;
    let mut file = VersionedFile::open_rw(&link)?;
    delete(&mut file, &["r0"])?;
    let after = std::fs::metadata(&scratch.path)?;
    assert_eq!(
        (after.mode(), after.uid(), after.gid()),
        (before.mode(), before.uid(), before.gid())
    );
    assert_ne!(after.ino(), before.ino());
    assert!(std::fs::symlink_metadata(&link)?.is_symlink());
    assert_eq!(scratch.files(), ["versions.h5"]);
    assert_eq!(VersionedFile::open(&link)?.versions()?.len(), 2);
    Ok(())
}

#[test]
fn what_a_stopped_process_has_left_is_removed_by_the_next_one() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch);
    let folder = scratch.folder();
    for name in [".versions.h5.h5strata-new-abcdef", ".other.h5.h5strata-new-abcdef"] {
        std::fs::write(folder.join(name), [0x5e; 100])?;
    }
    delete(&mut file, &["r0"])?;
    assert_eq!(scratch.files(), [".other.h5.h5strata-new-abcdef", "versions.h5"]);
    let read: ArrayD<i64> = file.version("r1")?.dataset("x")?.read(ndarray::s![..2])?;
    assert_eq!(read, array![1, 101].into_dyn());
    Ok(())
}
