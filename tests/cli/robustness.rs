//! Damaged files, closed pipes, terminals.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Outcome;
use crate::program::{Run, h5strata, on_file, run};
use crate::support::answers::{Call, Digest};
use crate::support::made;
use crate::support::scratch::Scratch;

#[test]
fn damaged_files_give_one_line_errors() -> Outcome {
    for (path, row) in made::broken_files()? {
        for command in ["log", "ls", "info", "digest"] {
            let run = on_file(command, &path, &[]);
            assert!([0, 2].contains(&run.code()), "{run}");
            assert_eq!(run.code() == 2, !run.stderr.is_empty(), "{run}");
            for line in run.stderr.lines() {
                assert!(line.starts_with("error: "), "{run}");
            }
        }
        if row.call == Call::Open {
            let run = on_file("log", &path, &["--json"]).exits(2);
            for text in &row.says {
                assert!(run.stderr.to_lowercase().contains(&text.to_lowercase()), "{run}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_damaged_dataset_does_not_hide_the_others() -> Outcome {
    for (path, row) in made::broken_files()? {
        if row.call != Call::Read {
            continue;
        }
        let run = on_file("digest", &path, &[]);
        let digests: Vec<Digest> = run.json_lines();
        assert!(digests.iter().any(|digest| digest.dataset == "intact"), "{run}");
        if run.code() == 2 {
            let bad = |digest: &Digest| {
                Some(&digest.version) == row.version.as_ref()
                    && Some(&digest.dataset) == row.dataset.as_ref()
            };
            assert!(!digests.iter().any(bad), "{run}");
            assert!(run.stderr.contains("data"), "{run}");
        }
    }
    Ok(())
}

/// Makes the first object of each heap (HDF5 File Format Specification III.E) of a file one that takes no room.
fn damage_heaps(path: &Path) -> Outcome {
    const HEADER: usize = 16;
    let mut bytes = std::fs::read(path)?;
    let heaps = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"GCOL"));
    let heaps: Vec<usize> = heaps.collect();
    assert!(!heaps.is_empty());
    for heap in heaps {
        bytes[heap + HEADER..heap + 2 * HEADER].fill(0);
    }
    Ok(std::fs::write(path, bytes)?)
}

/// One command takes a few milliseconds, or, if libhdf5 goes round in a heap, for ever.
const LONGEST: Duration = Duration::from_secs(30);

#[test]
fn a_damaged_heap_ends_in_an_error_that_names_the_attribute() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4]).data(&ndarray::Array1::from_iter(0..10_i64))?;
    stage.commit()?;
    drop(file);
    damage_heaps(&scratch.path)?;
    for command in ["log", "ls", "info", "digest", "stats", "repack"] {
        let run = Run::within(LONGEST, h5strata().arg(command).arg(&scratch.path)).exits(2);
        assert!(run.stderr.contains("attribute \""), "{run}");
        assert!(run.stderr.contains("global heap object at byte"), "{run}");
    }
    Run::within(LONGEST, h5strata().args(["verify", "--quick"]).arg(&scratch.path)).exits(1);
    Ok(())
}

#[test]
fn a_damaged_heap_ends_in_an_error_where_only_libhdf5_reads_the_attribute() -> Outcome {
    // So many attributes are stored densely.
    const MAKE: &str = "import sys, h5py
with h5py.File(sys.argv[1], 'w', libver='latest') as file:
    for number in range(12):
        file.attrs[f'note {number}'] = f'text {number}'";
    let scratch = Scratch::new();
    drop(scratch.create());
    let plain = scratch.folder().join("plain.h5");
    assert!(Command::new(made::python()?).args(["-c", MAKE]).arg(&plain).status()?.success());
    let commit = |version: &str| {
        let mut command = h5strata();
        command.arg("commit").arg(&scratch.path).args([version, "--from"]).arg(&plain);
        Run::within(LONGEST, &mut command)
    };
    commit("sound").succeeds();
    damage_heaps(&plain)?;
    let run = commit("damaged").exits(2);
    assert!(run.stderr.contains("/: attribute \"note 0\": global heap object at byte"), "{run}");
    Ok(())
}

#[test]
fn a_closed_pipe_is_no_error() -> Outcome {
    // More than a pipe holds, so that the program still writes when the pipe is closed.
    let file = made::file("report-strided")?;
    let mut child = h5strata()
        .arg("read")
        .arg(&file.path)
        .args(["data", "--full"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first)?;
    let output = child.wait_with_output()?;
    assert!(first.starts_with('['), "{first}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    Ok(())
}

#[test]
fn colours_are_for_terminals_that_want_them() -> Outcome {
    let file = made::file("branches")?;
    let escapes = |variables: &[(&str, &str)]| {
        let output = h5strata()
            .arg("log")
            .arg(&file.path)
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        output.stdout.contains(&b'\x1b')
    };
    assert!(!escapes(&[]));
    assert!(escapes(&[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&[("NO_COLOR", "1")]));
    Ok(())
}

#[test]
fn every_command_has_help_with_examples() {
    for command in
        ["log", "ls", "info", "read", "digest", "init", "commit", "set-current", "export"]
    {
        let run = run([command, "--help"]).succeeds();
        let (_, examples) = run.text().split_once("Examples:").map_or_else(
            || panic!("no examples: {run}"),
            |(front, back)| (front.to_owned(), back.to_owned()),
        );
        assert!(examples.contains(&format!("h5strata {command} ")), "{run}");
    }
}
