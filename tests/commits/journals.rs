//! What becomes of a file and its handles when the journal of a commit cannot be written.

use std::fs;

use h5strata::{Error, VersionedFile};
use ndarray::s;

use crate::support::Outcome;
use crate::{Scratch, read};

/// A file of one version.
fn file() -> Result<(Scratch, VersionedFile), Error> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4]).data(&ndarray::Array1::<i64>::zeros(10))?;
    stage.commit()?;
    Ok((scratch, file))
}

fn commit(file: &mut VersionedFile, name: &str) -> Result<(), Error> {
    let mut stage = file.stage(name)?;
    stage.dataset_mut("x")?.write_scalar(s![3..5], 7_i64)?;
    stage.commit().map(|_| ())
}

/// A handle went on after a commit of which it could not write the journal.
#[test]
fn after_a_failed_write_every_handle_refuses_until_the_file_is_opened_anew() -> Outcome {
    let (scratch, mut file) = file()?;
    let mut clone = file.clone();
    let before = scratch.bytes();
    // Nothing can be written where a folder is.
    let journal = scratch.path.with_file_name("versions.h5.h5strata-journal");
    fs::create_dir(&journal)?;
    let failed = commit(&mut file, "r1");
    assert!(matches!(failed, Err(Error::Journal(_))), "{failed:?}");
    assert!(scratch.bytes() == before, "the file is not the old one to the byte");
    fs::remove_dir(&journal)?;
    for handle in [&mut file, &mut clone] {
        let refused = commit(handle, "r1");
        assert!(matches!(refused, Err(Error::Broken { .. })), "{refused:?}");
        let refused = handle.set_current("r0");
        assert!(matches!(refused, Err(Error::Broken { .. })), "{refused:?}");
        assert_eq!(read(handle, "r0", "x").sum(), 0, "it goes on reading");
    }
    let refused = VersionedFile::open_rw(&scratch.path);
    assert!(matches!(refused, Err(Error::Lock(_))), "a handle that is broken is still the writer");
    drop((file, clone));
    let mut again = VersionedFile::open_rw(&scratch.path)?;
    commit(&mut again, "r1")?;
    assert_eq!(read(&again, "r1", "x").sum(), 14);
    Ok(())
}

/// A fault of what was staged made the handle useless, as one of the medium does.
#[test]
fn other_faults_leave_the_handle_its_right_to_write() -> Outcome {
    let (scratch, mut file) = file()?;
    let before = scratch.bytes();
    assert!(file.stage("r0").is_err(), "there is one of this name");
    let mut stage = file.stage("r1")?;
    assert!(stage.dataset_mut("x")?.write_scalar(s![99], 1_i64).is_err());
    drop(stage);
    assert!(file.set_current("zzz").is_err());
    assert!(scratch.bytes() == before, "nothing was committed");
    commit(&mut file, "r1")?;
    assert_eq!(read(&file, "r1", "x").sum(), 14);
    Ok(())
}
