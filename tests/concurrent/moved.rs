//! Journals that were written for another file, or for this one in another place.

use std::fs;
use std::path::Path;

use h5strata::VersionedFile;

use crate::process::Run;
use crate::stopped::Stopped;
use crate::support::Outcome;
use crate::{Scratch, series, writing};

/// What all commands say that write.
fn refused(path: &Path, rest: &[&str]) -> Vec<String> {
    vec![Run::of("recover", path, rest).fails(), Run::of("set-current", path, &["r0"]).fails()]
}

#[test]
fn a_file_that_took_the_place_of_another_is_read_and_not_written_before_the_journal_is_gone()
-> Outcome {
    let stopped = Stopped::new(4);
    let (path, journal) = (&stopped.scratch.path, stopped.scratch.journal());
    let other = Scratch::with_versions(2);
    fs::copy(&other.path, stopped.scratch.folder.path().join("other.h5"))?;
    fs::rename(stopped.scratch.folder.path().join("other.h5"), path)?;
    let of_journal = fs::read(&journal)?;

    for rest in [&[][..], &["--moved"], &["--json"]] {
        for said in refused(path, rest) {
            assert!(
                said.contains("versions.h5") && said.contains("belongs to another file"),
                "{said}"
            );
            assert!(
                said.contains("remove the journal") && said.contains(".h5strata-journal"),
                "{said}"
            );
        }
    }
    assert!(writing().open_rw(path).is_err());
    assert!(stopped.scratch.bytes() == other.bytes() && fs::read(&journal)? == of_journal);
    crate::holds(&VersionedFile::open(path)?, 2);
    Run::of("log", path, &[]).succeeds();

    fs::remove_file(&journal)?;
    series::commit(&mut writing().open_rw(path)?, 2)?;
    stopped.scratch.holds(3);
    Ok(())
}

#[test]
fn a_pair_that_was_copied_together_is_recovered_when_it_is_said_so() -> Outcome {
    let stopped = Stopped::new(4);
    let copy = stopped.copied();
    let (before, of_journal) = (copy.bytes(), fs::read(copy.journal())?);
    for said in refused(&copy.path, &[]) {
        assert!(said.contains("versions.h5") && said.contains("recover --moved"), "{said}");
    }
    // It may be half applied, so it is not read as it is.
    let said = Run::of("log", &copy.path, &[]).fails();
    assert!(said.contains("versions.h5") && said.contains("written for another copy"), "{said}");
    assert!(said.contains("recover --moved"), "{said}");
    assert!(copy.bytes() == before && fs::read(copy.journal())? == of_journal);

    let text = Run::of("recover", &copy.path, &["--moved"]).succeeds();
    assert!(text.contains("is finished"), "{text}");
    copy.holds(5);
    series::commit(&mut writing().open_rw(&copy.path)?, 5)?;
    copy.holds(6);

    // The original is as it was, and comes to the same.
    Run::of("recover", &stopped.scratch.path, &[]).succeeds();
    stopped.scratch.holds(5);
    Ok(())
}

/// A name is no part of what a journal knows its file by.
#[test]
fn a_pair_that_was_renamed_together_is_recovered() -> Outcome {
    let stopped = Stopped::new(4);
    let renamed = stopped.scratch.folder.path().join("renamed.h5");
    fs::rename(&stopped.scratch.path, &renamed)?;
    fs::rename(stopped.scratch.journal(), crate::journal_of(&renamed))?;
    Run::of("recover", &renamed, &[]).succeeds();
    crate::holds(&VersionedFile::open(&renamed)?, 5);
    Ok(())
}

/// A copy of the file alone is the old one.
#[test]
fn a_file_that_was_copied_without_its_journal_has_the_old_versions() -> Outcome {
    let stopped = Stopped::new(4);
    let copy = stopped.copied();
    fs::remove_file(copy.journal())?;
    series::commit(&mut writing().open_rw(&copy.path)?, 4)?;
    copy.holds(5);
    Ok(())
}

/// The journal lies beside the file itself, whatever link it is opened by.
#[test]
fn a_file_is_recovered_through_a_symbolic_link() -> Outcome {
    let stopped = Stopped::new(4);
    let elsewhere = tempfile::tempdir()?;
    let link = elsewhere.path().join("link.h5");
    std::os::unix::fs::symlink(&stopped.scratch.path, &link)?;
    Run::of("recover", &link, &[]).succeeds();
    stopped.scratch.holds(5);
    Ok(())
}
