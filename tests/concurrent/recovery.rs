//! What a stopped writer has left, and `h5strata recover`.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use h5strata::{StatsOptions, VersionedFile};
use serde_json::{Value, json};

use crate::process::{Process, Run, program};
use crate::stopped::Stopped;
use crate::support::Outcome;
use crate::{LIMIT, Scratch, series, writing};

/// The report of `recover --json`.
fn recovered(path: &Path, rest: &[&str]) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&Run::of("recover", path, &[&["--json"], rest].concat()).succeeds())
}

fn nothing() -> Value {
    json!({"journal": "none", "pages": 0, "bytes": 0, "tail_bytes": 0})
}

#[test]
fn a_sound_file_has_nothing_to_recover() -> Outcome {
    let scratch = Scratch::with_versions(3);
    let before = scratch.bytes();
    let text = Run::of("recover", &scratch.path, &[]).succeeds();
    assert_eq!(text, format!("{}: nothing to recover\n", scratch.path.display()));
    assert_eq!(recovered(&scratch.path, &[])?, nothing());
    assert_eq!(recovered(&scratch.path, &["--moved"])?, nothing());
    assert!(scratch.bytes() == before);
    Ok(())
}

#[test]
fn a_commit_whose_journal_is_complete_is_finished_and_reported() -> Outcome {
    let stopped = Stopped::new(4);
    let journal = fs::metadata(stopped.scratch.journal())?.len();
    let report = recovered(&stopped.scratch.path, &[])?;
    assert_eq!(report["journal"], "applied", "{report}");
    let (pages, bytes) = (report["pages"].as_u64().unwrap(), report["bytes"].as_u64().unwrap());
    assert!(pages > 0 && bytes <= pages * 4096 && bytes <= journal, "{report} of {journal} bytes");
    stopped.scratch.holds(5);
    assert_eq!(recovered(&stopped.scratch.path, &[])?, nothing());

    let stopped = Stopped::new(4);
    let text = Run::of("recover", &stopped.scratch.path, &[]).succeeds();
    let name = stopped.scratch.path.display();
    assert!(
        text.starts_with(&format!("{name}: the commit that was being applied is finished")),
        "{text}"
    );
    assert!(text.contains(" pages, ") && text.lines().count() == 1, "{text}");
    stopped.scratch.holds(5);
    Ok(())
}

/// Killed while the journal was applied, at some of its pages.
#[test]
fn a_commit_that_was_half_applied_is_finished() -> Outcome {
    let stopped = Stopped::new(4);
    let new = stopped.copied();
    recovered(&new.path, &["--moved"])?;
    let (new, now) = (new.bytes(), stopped.scratch.bytes());
    let changed: Vec<usize> = (0..stopped.old.len().div_ceil(4096))
        .filter(|page| page_of(&new, *page) != page_of(&now, *page))
        .collect();
    assert!(changed.len() > 1, "{changed:?}");
    let file = fs::OpenOptions::new().write(true).open(&stopped.scratch.path)?;
    for &page in changed.iter().step_by(2) {
        file.write_all_at(page_of(&new, page), page as u64 * 4096)?;
    }
    // While another program has the file open nobody can finish it, and the new version is read all the same.
    let mut reader = Process::holding(&stopped.scratch.path, "r", LIMIT);
    assert_eq!(reader.says(), "open");
    let file = VersionedFile::open(&stopped.scratch.path)?;
    crate::holds(&file, 5);
    // Its bytes are those of the file as it will be.
    let counted = file.stats(&StatsOptions::new())?;
    drop(file);
    // So it is by who opened the file before the commit.
    for version in 0..5 {
        series::check(&stopped.reader.version(&series::name(version))?);
    }
    assert!(stopped.scratch.journal().exists());
    reader.kill();

    let report = recovered(&stopped.scratch.path, &[])?;
    assert_eq!(report["journal"], "applied", "{report}");
    assert!(stopped.scratch.bytes() == new);
    let stats = VersionedFile::open(&stopped.scratch.path)?.stats(&StatsOptions::new())?;
    assert_eq!((counted.versions, counted.datasets), (stats.versions, stats.datasets));
    assert_eq!((counted.size, counted.outside), (stats.size, stats.outside));
    stopped.scratch.holds(5);
    crate::holds(&stopped.reader, 5);
    Ok(())
}

fn page_of(bytes: &[u8], page: usize) -> &[u8] {
    let start = (page * 4096).min(bytes.len());
    &bytes[start..(start + 4096).min(bytes.len())]
}

#[test]
fn opening_a_file_recovers_it_whoever_opens_it() -> Outcome {
    let stopped = Stopped::new(4);
    Run::of("log", &stopped.scratch.path, &[]).succeeds();
    assert!(!stopped.scratch.journal().exists());
    stopped.scratch.holds(5);

    let stopped = Stopped::new(4);
    let mut file = writing().open_rw(&stopped.scratch.path)?;
    assert!(!stopped.scratch.journal().exists());
    series::commit(&mut file, 5)?;
    drop(file);
    stopped.scratch.holds(6);
    Ok(())
}

#[test]
fn a_commit_whose_journal_is_not_complete_is_taken_back() -> Outcome {
    for kept in [0, 1, 100, 5000] {
        let stopped = Stopped::new(4);
        let tail = stopped.scratch.bytes().len() - stopped.old.len();
        assert!(tail > 0);
        fs::OpenOptions::new().write(true).open(stopped.scratch.journal())?.set_len(kept)?;
        if kept == 100 {
            let text = Run::of("recover", &stopped.scratch.path, &[]).succeeds();
            let name = stopped.scratch.path.display();
            let expected = format!(
                "{name}: a commit that was not complete is taken back\n{name}: {tail} bytes behind its end are cut off\n"
            );
            assert_eq!(text, expected);
        } else {
            let report = recovered(&stopped.scratch.path, &[])?;
            let expected =
                json!({"journal": "discarded", "pages": 0, "bytes": 0, "tail_bytes": tail});
            assert_eq!(report, expected, "{kept} bytes of a journal");
        }
        assert!(stopped.scratch.bytes() == stopped.old);
        stopped.scratch.holds(stopped.count);
    }
    Ok(())
}

#[test]
fn a_tail_without_a_journal_is_cut_off() -> Outcome {
    for json in [true, false] {
        let stopped = Stopped::new(4);
        let tail = stopped.scratch.bytes().len() - stopped.old.len();
        fs::remove_file(stopped.scratch.journal())?;
        // Nobody but a writer minds it.
        crate::holds(&VersionedFile::open(&stopped.scratch.path)?, 4);
        if json {
            let expected = json!({"journal": "none", "pages": 0, "bytes": 0, "tail_bytes": tail});
            assert_eq!(recovered(&stopped.scratch.path, &[])?, expected);
        } else {
            let name = stopped.scratch.path.display();
            let text = Run::of("recover", &stopped.scratch.path, &[]).succeeds();
            assert_eq!(text, format!("{name}: {tail} bytes behind its end are cut off\n"));
        }
        assert!(stopped.scratch.bytes() == stopped.old);
    }
    Ok(())
}

#[test]
fn what_is_no_versioned_file_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("missing.h5");
    let said = Run::of("recover", &path, &[]).fails();
    assert!(said.contains("missing.h5"), "{said}");
    fs::write(&path, b"text, and more than a superblock has of it: ".repeat(50))?;
    let said = Run::of("recover", &path, &[]).fails();
    assert!(said.contains("missing.h5"), "{said}");
    assert_eq!(fs::read(&path)?, b"text, and more than a superblock has of it: ".repeat(50));
    Ok(())
}

/// Who may not write reads what the next writer will make of the file.
#[test]
fn without_the_right_to_write_the_new_version_is_read_through_the_journal() -> Outcome {
    let stopped = Stopped::new(4);
    let (path, journal) = (&stopped.scratch.path, stopped.scratch.journal());
    for (name, mode) in [
        (path.as_path(), 0o444),
        (journal.as_path(), 0o444),
        (stopped.scratch.folder.path(), 0o555),
    ] {
        fs::set_permissions(name, fs::Permissions::from_mode(mode))?;
    }
    let (before, of_journal) = (stopped.scratch.bytes(), fs::read(&journal)?);
    let harmless = |command: Command| -> Option<Run> {
        if fs::OpenOptions::new().write(true).open(path).is_err() {
            return Some(Run::with(&[], &command));
        }
        // Permissions bind root where it has given up its powers.
        const POWERS: &str = "-dac_override,-dac_read_search,-fowner";
        let mut without = Command::new("setpriv");
        without.args([format!("--bounding-set={POWERS}"), format!("--inh-caps={POWERS}")]);
        let available = without.arg("true").status().is_ok_and(|status| status.success());
        let mut without = Command::new("setpriv");
        without.args([format!("--bounding-set={POWERS}"), format!("--inh-caps={POWERS}")]);
        without.arg(command.get_program()).args(command.get_args());
        available.then(|| Run::with(&[], &without))
    };
    let Some(log) = harmless(program("log", path, &["--json"])) else {
        eprintln!("skipped: no setpriv, and permissions do not bind root");
        return Ok(());
    };
    let versions: Vec<Value> = serde_json::from_str(&log.succeeds())?;
    let names: Vec<&str> =
        versions.iter().filter_map(|version| version["version"].as_str()).collect();
    assert_eq!(names, ["r4", "r3", "r2", "r1", "r0"]);
    let digests = harmless(program("digest", path, &["--json"])).unwrap().succeeds();
    let said = harmless(program("recover", path, &[])).unwrap().fails();
    assert!(said.contains("versions.h5") && said.contains("ermission denied"), "{said}");
    assert!(stopped.scratch.bytes() == before && fs::read(&journal)? == of_journal);

    fs::set_permissions(stopped.scratch.folder.path(), fs::Permissions::from_mode(0o755))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
    Run::of("recover", path, &[]).succeeds();
    assert_eq!(Run::of("digest", path, &["--json"]).succeeds(), digests);
    stopped.scratch.holds(5);
    Ok(())
}
