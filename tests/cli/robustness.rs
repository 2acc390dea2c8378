//! Damaged files, closed pipes, terminals.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::Outcome;
use crate::program::{h5strata, on_file, run};
use crate::support::answers::{Call, Digest};
use crate::support::made;

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
