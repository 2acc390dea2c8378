//! Processes of their own that read one file at once get the right answer, beside h5py readers and, if asked to, writers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

mod support;

use support::answers::Digest;
use support::{Outcome, made};

/// Opens the file of its first argument in the mode of its second, says so, and keeps it open until its input ends.
const HOLD: &str = r#"
import sys, h5py
with h5py.File(sys.argv[1], sys.argv[2]) as file:
    print(len(file["_version_data/versions"]), flush=True)
    sys.stdin.read()
"#;

/// An h5py process that has a file open.
struct Holder {
    child: Child,
}

impl Holder {
    /// Returns once the file is open.
    fn start(path: &Path, mode: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let mut child = Command::new(made::python()?)
            .args(["-c", HOLD])
            .arg(path)
            .arg(mode)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut said = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut said)?;
        assert!(said.trim().parse::<u64>().is_ok_and(|versions| versions > 1), "{said:?}");
        Ok(Self { child })
    }

    /// Lets the process close the file; fails if it had ended before.
    fn end(mut self) -> Outcome {
        let mut input = self.child.stdin.take().ok_or("no input")?;
        input.write_all(b"\n")?;
        drop(input);
        assert!(self.child.wait()?.success());
        Ok(())
    }
}

/// The program about to print all digests of a file.
fn digest(path: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_h5strata"));
    command.arg("digest").arg(path).arg("--json");
    command.env_remove("HDF5_USE_FILE_LOCKING").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a run printed, in order of versions and datasets.
fn digests(output: &Output) -> Vec<Digest> {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let mut rows: Vec<Digest> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by(|a, b| (&a.version, &a.dataset).cmp(&(&b.version, &b.dataset)));
    rows
}

/// Has many processes read a file at the same time, each of them all of it.
fn read_by_many(name: &str) -> Outcome {
    const PROCESSES: usize = 12;
    let made = made::file(name)?;
    let children: Vec<Child> =
        (0..PROCESSES).map(|_| digest(&made.path).spawn()).collect::<Result<_, _>>()?;
    let expected = made.digests()?;
    for child in children {
        assert_eq!(digests(&child.wait_with_output()?), expected, "{name}");
    }
    Ok(())
}

#[test]
fn many_processes_read_one_file_at_once() -> Outcome {
    for name in ["random-3d", "libver-latest", "dtype-strings"] {
        read_by_many(name)?;
    }
    Ok(())
}

#[test]
fn processes_read_a_file_that_h5py_has_open_for_reading() -> Outcome {
    for name in ["random-2d", "libver-latest"] {
        let holders = [(); 2].map(|()| Holder::start(&made::file(name)?.path, "r"));
        read_by_many(name)?;
        for holder in holders {
            holder?.end()?;
        }
    }
    Ok(())
}

#[test]
fn a_file_that_is_open_for_writing_is_refused_unless_locking_is_off() -> Outcome {
    let made = made::file("libver-earliest")?;
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("held-for-writing-{}.h5", std::process::id()));
    std::fs::copy(&made.path, &copy)?;
    let holder = Holder::start(&copy, "r+")?;

    let refused = digest(&copy).output()?;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{}", refused.status);
    assert!(said.contains(&*copy.to_string_lossy()) && said.contains("lock"), "{said}");

    let unlocked = digest(&copy).env("HDF5_USE_FILE_LOCKING", "FALSE").output()?;
    assert_eq!(digests(&unlocked), made.digests()?);
    holder.end()?;

    assert_eq!(digests(&digest(&copy).output()?), made.digests()?);
    std::fs::remove_file(&copy)?;
    Ok(())
}
