//! `HDF5_USE_FILE_LOCKING`, which says whether files are locked at all.

use std::process::Command;
use std::time::Duration;

use crate::process::{Process, Run, program};
use crate::support::Outcome;
use crate::{AT_ONCE, LIMIT, Scratch, roles, stopped};

/// Commits and reads beside a process that has the file locked.
fn works_beside(holder: &mut Process, scratch: &Scratch, word: &str) -> Outcome {
    assert_eq!(holder.says(), "open");
    let ops = scratch.folder.path().join("ops.json");
    std::fs::write(&ops, r#"[{"op": "write", "dataset": "series", "select": "0", "value": 7}]"#)?;
    let run = |command: Command| Run::with(&[("HDF5_USE_FILE_LOCKING", word)], &command);
    let read = run(program("read", &scratch.path, &["series", "-s", ":3", "--format", "csv"]));
    assert_eq!(read.succeeds(), "0\n1\n2\n");
    let commit = run(program("commit", &scratch.path, &["made", "--ops", ops.to_str().unwrap()]));
    assert!(commit.time < AT_ONCE, "{commit}");
    commit.succeeds();
    let read = run(program("read", &scratch.path, &["series", "-s", ":3", "--format", "csv"]));
    assert_eq!(read.succeeds(), "7\n1\n2\n");
    run(program("set-current", &scratch.path, &["r0"])).succeeds();
    assert!(run(program("recover", &scratch.path, &[])).succeeds().contains("nothing to recover"));
    Ok(())
}

#[test]
fn who_is_told_to_go_without_locks_looks_at_none() -> Outcome {
    for word in ["FALSE", "0"] {
        let scratch = Scratch::with_versions(3);
        works_beside(&mut Process::holding(&scratch.path, "r", LIMIT), &scratch, word)?;
        let scratch = Scratch::with_versions(3);
        works_beside(&mut roles::start("holding", &scratch.path, 0), &scratch, word)?;
    }
    Ok(())
}

#[test]
fn other_words_lock() {
    let scratch = Scratch::with_versions(3);
    let mut holder = Process::holding(&scratch.path, "r", LIMIT);
    assert_eq!(holder.says(), "open");
    for word in ["TRUE", "1", "BEST_EFFORT", "no"] {
        let variables = [("HDF5_USE_FILE_LOCKING", word)];
        let command = program("set-current", &scratch.path, &["r0", "--wait", "0.1"]);
        let said = Run::with(&variables, &command).fails();
        assert!(said.contains("readers kept the file open"), "{word}: {said}");
    }
    holder.kill();
    let mut holder = Process::holding(&scratch.path, "r", Duration::ZERO);
    assert_eq!(holder.says(), "open");
}

/// A reader without locks took the journal of a writer at work for that of a stopped one, and applied or removed it.
#[test]
fn who_reads_without_locks_leaves_the_journal_of_a_writer_at_work_alone() -> Outcome {
    let scratch = Scratch::with_versions(4);
    let mut holder = Process::holding(&scratch.path, "r", LIMIT);
    assert_eq!(holder.says(), "open");
    let mut writer = roles::start("committing", &scratch.path, 4);
    stopped::wait_for_wait(&scratch, &mut writer);
    let (before, journal) = (scratch.bytes(), std::fs::read(scratch.journal())?);
    let log = program("log", &scratch.path, &[]);
    Run::with(&[("HDF5_USE_FILE_LOCKING", "FALSE")], &log).succeeds();
    assert!(scratch.bytes() == before && std::fs::read(scratch.journal())? == journal);
    holder.kill();
    writer.ends();
    scratch.holds(5);
    Ok(())
}
