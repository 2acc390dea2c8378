//! Who waits for whom, who is refused, and what they are told.

use std::path::Path;
use std::time::Duration;

use h5strata::atomic::LockError;
use h5strata::{Error, VersionedFile};

use crate::process::{Process, Run};
use crate::support::Outcome;
use crate::{AT_ONCE, LIMIT, Scratch, roles, series, writing};

/// Makes the next version by the program.
fn commit(scratch: &Scratch, options: &[&str]) -> Run {
    let ops = scratch.folder.path().join("ops.json");
    std::fs::write(&ops, r#"[{"op": "write", "dataset": "series", "select": "0", "value": 7}]"#)
        .unwrap();
    let start = ["made", "--ops", ops.to_str().unwrap(), "--durability", "process"];
    Run::of("commit", &scratch.path, &[&start, options].concat())
}

/// Whether what [`commit`] makes is there and right.
fn is_committed(path: &Path) -> Result<bool, Error> {
    let file = VersionedFile::open(path)?;
    if !file.has_version("made")? {
        return Ok(false);
    }
    let values = file.version("made")?.dataset("series")?.read::<i64>(ndarray::s![..3])?;
    assert_eq!(values.into_raw_vec_and_offset().0, [7, 1, 2]);
    Ok(true)
}

#[test]
fn a_commit_gives_up_after_its_wait_for_h5py_and_leaves_every_byte_as_it_was() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let before = scratch.bytes();
    let mut reader = Process::holding(&scratch.path, "r", LIMIT);
    assert_eq!(reader.says(), "open");

    let run = commit(&scratch, &["--wait", "0.4"]);
    let wait = Duration::from_millis(400);
    assert!(run.time >= wait && run.time < wait + AT_ONCE, "{run}");
    let said = run.fails();
    assert!(said.contains("versions.h5") && said.contains("readers kept the file open"), "{said}");
    assert!(scratch.bytes() == before);
    assert!(!scratch.journal().exists());
    let without = commit(&scratch, &["--wait", "0"]).fails();
    assert!(without.contains("readers kept the file open"), "{without}");
    assert!(scratch.bytes() == before);

    reader.kill();
    commit(&scratch, &["--wait", "0"]).succeeds();
    assert!(is_committed(&scratch.path)?);
    Ok(())
}

#[test]
fn a_commit_goes_on_as_soon_as_h5py_has_closed_the_file() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let mut reader = Process::holding(&scratch.path, "r", Duration::from_secs(1));
    assert_eq!(reader.says(), "open");
    let run = commit(&scratch, &["--wait", "200"]);
    assert!(run.time < Duration::from_secs(100), "{run}");
    run.succeeds();
    assert!(is_committed(&scratch.path)?);
    reader.ends();
    Ok(())
}

/// What a handle has staged is not lost to a reader that stays too long.
#[test]
fn a_handle_whose_wait_was_in_vain_commits_when_the_reader_is_gone() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let mut file = writing().commit_patience(Duration::from_millis(50)).open_rw(&scratch.path)?;
    let before = scratch.bytes();
    let mut reader = Process::holding(&scratch.path, "r", LIMIT);
    assert_eq!(reader.says(), "open");
    for _ in 0..2 {
        let refused = series::commit(&mut file, 3);
        assert!(matches!(refused, Err(Error::Lock(LockError::Timeout { .. }))), "{refused:?}");
        assert!(scratch.bytes() == before);
        crate::holds(&file, 3);
    }
    let refused = file.set_current("r0");
    assert!(matches!(refused, Err(Error::Lock(LockError::Timeout { .. }))), "{refused:?}");
    assert_eq!(file.current_name()?, "r2");
    reader.kill();
    series::commit(&mut file, 3)?;
    drop(file);
    scratch.holds(4);
    Ok(())
}

#[test]
fn h5py_may_read_but_not_write_a_file_that_is_open_for_writing_here() {
    let scratch = Scratch::with_versions(3);
    let mut writer = roles::start("holding", &scratch.path, 0);
    assert_eq!(writer.says(), "open");
    let mut refused = Process::holding(&scratch.path, "r+", Duration::ZERO);
    let said = refused.says();
    assert!(said.contains("unable to lock file"), "{said}");
    let mut reading = Process::holding(&scratch.path, "r", Duration::ZERO);
    assert_eq!(reading.says(), "open");
    writer.kill();
    let mut writing = Process::holding(&scratch.path, "r+", Duration::ZERO);
    assert_eq!(writing.says(), "open");
}

#[test]
fn a_file_that_h5py_has_open_for_writing_is_refused_at_once() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let mut other = Process::holding(&scratch.path, "r+", LIMIT);
    assert_eq!(other.says(), "open");
    for run in [
        commit(&scratch, &["--wait", "200"]),
        Run::of("set-current", &scratch.path, &["r0", "--wait", "200"]),
        Run::of("recover", &scratch.path, &[]),
    ] {
        assert!(run.time < AT_ONCE, "{run}");
        let said = run.fails();
        let is_told = said.contains("versions.h5") && said.contains("open for writing");
        assert!(is_told && said.contains("HDF5_USE_FILE_LOCKING"), "{said}");
    }
    other.kill();
    commit(&scratch, &[]).succeeds();
    assert!(is_committed(&scratch.path)?);
    Ok(())
}

#[test]
fn a_second_writer_is_refused_at_once_and_readers_are_not() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let mut writer = roles::start("holding", &scratch.path, 0);
    assert_eq!(writer.says(), "open");
    for run in [
        commit(&scratch, &["--wait", "200"]),
        Run::of("set-current", &scratch.path, &["r0", "--wait", "200"]),
        Run::of("recover", &scratch.path, &[]),
    ] {
        assert!(run.time < AT_ONCE, "{run}");
        let said = run.fails();
        assert!(said.contains("versions.h5") && said.contains("another h5strata writer"), "{said}");
    }
    scratch.holds(3);
    writer.kill();
    commit(&scratch, &[]).succeeds();
    assert!(is_committed(&scratch.path)?);
    Ok(())
}
