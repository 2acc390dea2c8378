//! No byte is left of what only deleted versions had.

use std::path::Path;

use h5strata::store::Attribute;
use h5strata::{Selection, VersionedFile};
use ndarray::{Array1, Array2, ArrayD, array, s};

use crate::picture::check_sound;
use crate::support::Outcome;
use crate::{Scratch, delete};

fn has(path: &Path, wanted: &[u8]) -> bool {
    memchr::memmem::find(&std::fs::read(path).unwrap(), wanted).is_some()
}

#[test]
fn values_strings_attributes_and_names_are_gone() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let secret = 0x5ec2_e75e_c2e7_5ec2_i64;
    let mut stage = file.stage("kept-first")?;
    stage.create_dataset("x").chunks(&[4]).data(&Array1::from_iter(0..10i64))?;
    stage.create_dataset("grp/names").chunks(&[4]).strings(&[3], &["open", "ajar", "shut"])?;
    stage.commit()?;
    let mut stage = file.stage("version-of-secrets")?;
    stage.set_attribute("", Attribute::text("remark", "secret-of-the-version"))?;
    stage.set_attribute("grp", Attribute::text("remark", "secret-of-the-group"))?;
    stage.set_attribute("x", Attribute::text("remark", "secret-of-the-dataset"))?;
    stage.dataset_mut("x")?.write_scalar(s![5], secret)?;
    stage.dataset_mut("grp/names")?.write_strings(s![1], &["secret-string"], &[1])?;
    stage.create_dataset("secret-dataset").data(&array![secret])?;
    stage.create_dataset("secret-names").strings(&[1], &["secret-of-its-own"])?;
    stage.commit()?;
    let mut stage = file.stage("kept-last")?;
    for name in ["secret-dataset", "secret-names"] {
        stage.delete(name)?;
    }
    for path in ["grp", "x"] {
        stage.delete_attribute(path, "remark")?;
    }
    stage.dataset_mut("x")?.write_scalar(s![5], 6i64)?;
    stage.dataset_mut("grp/names")?.write_strings(s![1], &["wide"], &[1])?;
    stage.commit()?;

    let number = secret.to_le_bytes();
    assert!(has(&scratch.path, b"secret") && has(&scratch.path, &number));
    delete(&mut file, &["version-of-secrets"])?;
    assert!(!has(&scratch.path, b"secret") && !has(&scratch.path, &number));
    check_sound(&file);
    let x: ArrayD<i64> = file.current()?.dataset("x")?.read(s![4..7])?;
    assert_eq!(x, array![4, 6, 6].into_dyn());
    let names = file.version("kept-first")?.dataset("grp/names")?.read_strings(Selection::all())?;
    assert_eq!(names.into_raw_vec_and_offset().0, ["open", "ajar", "shut"]);
    Ok(())
}

/// Old versions of versioned-hdf5 left in the padding of a chunk what the chunk that was there before had.
#[test]
fn padding_that_holds_old_values_is_cleared() -> Outcome {
    for filters in [&[][..], &["gzip"], &["gzip", "shuffle"]] {
        let scratch = Scratch::new();
        let mut file = scratch.create();
        let mut stage = file.stage("r0")?;
        let mut builder = stage.create_dataset("x").chunks(&[2, 2]).fill(&7i64.to_le_bytes());
        for filter in filters {
            builder = if *filter == "gzip" { builder.gzip(4) } else { builder.shuffle() };
        }
        builder.data(&array![[1i64, 2], [3, 4]])?;
        stage.commit()?;
        let mut stage = file.stage("r1")?;
        let mut x = stage.dataset_mut("x")?;
        x.resize(&[3, 3])?;
        x.write_scalar(s![2, 2], 5i64)?;
        stage.commit()?;
        drop(file);
        scratch.python("fill-padding")?;
        let mut file = VersionedFile::open_rw(&scratch.path)?;
        let before: ArrayD<i64> = file.version("r1")?.dataset("x")?.read(Selection::all())?;
        delete(&mut file, &["r0"])?;
        check_sound(&file);
        let x = file.version("r1")?.dataset("x")?;
        assert_eq!(x.read::<i64>(Selection::all())?, before);
        drop(file);
        scratch.python("check-padding")?;
    }
    Ok(())
}

#[test]
fn the_file_shrinks_by_what_is_deleted_and_does_not_grow_by_cycles() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("base")?;
    stage.create_dataset("x").chunks(&[1000]).data(&Array1::from_iter(0..1000i64))?;
    stage.commit()?;
    let size = || std::fs::metadata(&scratch.path).map(|file| file.len());
    delete(&mut file, &[])?;
    let mut sizes = Vec::new();
    for cycle in 0..5 {
        let name = format!("temporary {cycle}");
        let mut stage = file.stage(&name)?;
        let values = Array2::from_shape_fn((100, 100), |(row, column)| (row * column) as i64);
        stage.create_dataset("large").chunks(&[10, 100]).data(&values)?;
        stage.commit()?;
        assert!(size()? > 80_000);
        delete(&mut file, &[&name])?;
        sizes.push(size()?);
    }
    assert!(sizes.iter().all(|&size| size == sizes[0]) && sizes[0] < 40_000, "{sizes:?}");
    Ok(())
}
