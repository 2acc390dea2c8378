//! Files are repacked: the same versions, and nothing else.

use std::collections::HashSet;

use h5strata::{Error, RepackOptions, Selection, VersionedFile};
use ndarray::{Array1, ArrayD, array, s};

use crate::Scratch;
use crate::picture::{Picture, check_sound};
use crate::support::Outcome;

/// Versions that change chunks in turn, so that those of the last one lie all over the file.
fn scattered(scratch: &Scratch) -> VersionedFile {
    let mut file = scratch.create();
    let mut stage = file.stage("r0").unwrap();
    let first = Array1::from_iter(0..640i64);
    stage.create_dataset("x").chunks(&[10]).data(&first).unwrap();
    stage.create_dataset("names").strings(&[2], &["a", "b"]).unwrap();
    stage.commit().unwrap();
    for number in 1..20 {
        let mut stage = file.stage(&format!("r{number}")).unwrap();
        let at = (number * 370) % 640;
        stage.dataset_mut("x").unwrap().write_scalar(s![at], -(number as i64)).unwrap();
        stage.commit().unwrap();
    }
    file
}

#[test]
fn a_repacked_file_shows_the_same() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scattered(&scratch);
    let expected = Picture::of(&file);
    let out = scratch.folder().join("out.h5");
    let report = file.repack(&out, &RepackOptions::new())?;
    assert_eq!((report.versions, report.datasets), (20, 2));
    let repacked = VersionedFile::open(&out)?;
    assert_eq!(Picture::of(&repacked), expected);
    check_sound(&repacked);
    file.repack_in_place(&RepackOptions::new())?;
    for file in [&file, &VersionedFile::open(&scratch.path)?] {
        assert_eq!(Picture::of(file), expected);
    }
    assert_eq!(scratch.files(), ["out.h5", "versions.h5"]);
    Ok(())
}

#[test]
fn chunks_lie_as_the_current_version_reads_them() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scattered(&scratch);
    let addresses = |file: &VersionedFile| -> Vec<u64> {
        let x = file.current().unwrap().dataset("x").unwrap();
        x.stored_chunks().unwrap().iter().map(|chunk| chunk.address).collect()
    };
    assert!(!addresses(&file).is_sorted());
    file.repack_in_place(&RepackOptions::new())?;
    assert!(addresses(&file).is_sorted());
    Ok(())
}

#[test]
fn a_file_that_is_there_is_left_alone_unless_it_is_to_be_replaced() -> Outcome {
    let scratch = Scratch::new();
    let file = scattered(&scratch);
    let out = scratch.folder().join("out.h5");
    std::fs::write(&out, "not a file of versions")?;
    let refused = file.repack(&out, &RepackOptions::new());
    assert!(matches!(refused, Err(Error::Io { file, .. }) if file == out));
    assert_eq!(std::fs::read(&out)?, b"not a file of versions");
    file.repack(&out, &RepackOptions::new().overwrite(true))?;
    assert_eq!(Picture::of(&VersionedFile::open(&out)?), Picture::of(&file));

    let writer = VersionedFile::open_rw(&out)?;
    let refused = file.repack(&out, &RepackOptions::new().overwrite(true));
    assert!(matches!(refused, Err(Error::Lock(_))), "{refused:?}");
    drop(writer);
    assert_eq!(scratch.files(), ["out.h5", "versions.h5"]);
    Ok(())
}

#[test]
fn what_lies_beside_the_versions_is_copied() -> Outcome {
    let scratch = Scratch::new();
    drop(scattered(&scratch));
    scratch.python("add-beside")?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let expected = Picture::of(&file);
    file.repack_in_place(&RepackOptions::new())?;
    assert_eq!(Picture::of(&file), expected);
    drop(file);
    scratch.python("check-beside")?;
    Ok(())
}

#[test]
fn references_to_objects_are_refused_before_anything_changes() -> Outcome {
    let scratch = Scratch::new();
    drop(scattered(&scratch));
    scratch.python("add-reference")?;
    let before = std::fs::read(&scratch.path)?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let refused = file.repack_in_place(&RepackOptions::new());
    assert!(matches!(refused, Err(Error::NotCarried { .. })), "{refused:?}");
    assert!(std::fs::read(&scratch.path)? == before);
    // The handle goes on as if nothing had been asked of it.
    let mut stage = file.stage("next")?;
    stage.dataset_mut("x")?.write_scalar(s![0], 99i64)?;
    stage.commit()?;
    let x: ArrayD<i64> = file.current()?.dataset("x")?.read(s![..2])?;
    assert_eq!(x, array![99, 1].into_dyn());
    Ok(())
}

#[test]
fn chunks_that_no_version_has_are_left_out() -> Outcome {
    let scratch = Scratch::new();
    drop(scattered(&scratch));
    scratch.python("leave-behind")?;
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let expected = Picture::of(&file);
    file.repack_in_place(&RepackOptions::new())?;
    assert_eq!(Picture::of(&file), expected);
    check_sound(&file);
    assert!(!file.has_version("left")?);
    let x = file.current()?.dataset("x")?;
    let mut raws = HashSet::new();
    for version in file.versions()? {
        let x = file.version(&version.name)?.dataset("x")?;
        raws.extend(x.chunk_map()?.iter().map(|(_, raw)| raw));
    }
    assert_eq!(x.raw_data().1, raws.len() as u64);
    assert!(x.read::<i64>(Selection::all())?.iter().all(|&value| value != 123_456_789));
    Ok(())
}

#[test]
fn a_user_block_stays() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scattered(&scratch);
    let expected = Picture::of(&file);
    drop(file);
    scratch.python("add-user-block")?;
    file = VersionedFile::open_rw(&scratch.path)?;
    file.repack_in_place(&RepackOptions::new())?;
    let bytes = std::fs::read(&scratch.path)?;
    assert!(bytes[..1024].iter().eq([b"a user's block, ".as_slice(); 64].concat().iter()));
    assert_eq!(Picture::of(&file), expected);
    check_sound(&file);
    let mut stage = file.stage("next")?;
    stage.dataset_mut("x")?.write_scalar(s![0], 99i64)?;
    stage.commit()?;
    check_sound(&VersionedFile::open(&scratch.path)?);
    Ok(())
}
