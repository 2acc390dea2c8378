//! Hundreds of commits, and readers of all kinds meanwhile.

use h5strata::{OpenOptions, RawPath};

use crate::process::{Process, python};
use crate::support::Outcome;
use crate::{Scratch, commits, limit, roles, writing};

/// What a reader says at its end.
#[derive(Debug)]
struct Seen {
    newest: u64,
    rounds: u64,
    states: u64,
}

impl Seen {
    fn parse(said: &str) -> Self {
        let numbers: Vec<u64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [newest, rounds, states] = numbers[..] else { panic!("{said:?}") };
        Self { newest, rounds, states }
    }
}

#[test]
fn every_read_beside_hundreds_of_commits_is_of_a_committed_version() -> Outcome {
    let commits = commits();
    let scratch = Scratch::with_versions(1);
    let done = roles::done_beside(&scratch.path);
    let mut readers: Vec<Process> = ["kept", "kept-library", "anew"]
        .iter()
        .map(|role| roles::start(role, &scratch.path, 0))
        .collect();
    let mut command = python();
    command.arg("watch").arg(&scratch.path).arg(&done).arg(limit().as_secs().to_string());
    readers.push(Process::start("h5py", &[("HDF5_USE_FILE_LOCKING", "TRUE")], &command));
    for reader in &mut readers {
        assert_eq!(reader.says(), "ready");
    }
    let mut writer = roles::start("writer", &scratch.path, commits);
    assert_eq!(writer.ends(), "committed");
    std::fs::write(&done, [])?;
    for reader in &mut readers {
        let seen = Seen::parse(&reader.ends());
        assert_eq!(seen.newest, commits);
        // More than before and after: they did read while versions were committed.
        assert!(seen.rounds > 5 && seen.states > 2.min(commits), "{seen:?}");
    }
    scratch.holds(commits + 1);
    Ok(())
}

/// Commits that change neither the size nor the superblock of a file, sooner after each other than its times tell.
#[test]
fn a_reader_sees_each_of_many_commits_that_follow_each_other_at_once() -> Outcome {
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let scratch = Scratch::with_versions(3);
        let mut writer = writing().open_rw(&scratch.path)?;
        let reader = OpenOptions::new().raw_path(raw_path).open(&scratch.path)?;
        for round in 0..300 {
            let name = ["r0", "r1", "r2"][round % 3];
            writer.set_current(name)?;
            assert_eq!(reader.current_name()?, name, "round {round}");
            assert_eq!(reader.current()?.name(), name, "round {round}");
        }
    }
    Ok(())
}

#[test]
fn writers_that_take_turns_lose_no_version_of_each_other() {
    const LAST: u64 = 40;
    let scratch = Scratch::with_versions(1);
    let mut writers: Vec<Process> =
        (0..3).map(|_| roles::start("contending", &scratch.path, LAST)).collect();
    let said: Vec<String> = writers.iter_mut().map(Process::ends).collect();
    let made: u64 =
        said.iter().map(|said| said.split(' ').nth(1).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(made, LAST, "{said:?}");
    scratch.holds(LAST + 1);
}
