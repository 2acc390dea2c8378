//! Long reads and commits show how far they are to a person, and to nobody else.

use std::path::Path;

use serde_json::json;

use crate::Outcome;
use crate::outputs::{folder, wide_elements};
use crate::program::{Run, on_file, script};

/// Begins every bar of a read; its end depends on the time.
const BAR: &str = "r0 data [";

/// Begins every bar of a commit.
const COMMIT_BAR: &str = "data [";

/// What `read` of a large dataset says on standard error, be that a terminal or a pipe, while its output is not taken.
fn said(stderr: &str, file: &Path, options: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let mut command = script("slow_reader.py")?;
    command.arg(stderr).arg(env!("CARGO_BIN_EXE_h5strata")).arg("read").arg(file).arg("data");
    Ok(Run::of(command.args(options)).succeeds().text())
}

#[test]
fn a_bar_is_drawn_on_a_terminal_and_leaves_no_trace() -> Outcome {
    let file = wide_elements("progress-terminal")?;
    for options in [&["--format", "raw"][..], &["--format", "csv"], &["--full"]] {
        let said = said("terminal", &file, options)?;
        assert!(said.contains(BAR), "{options:?}: {said:?}");
        leaves_no_trace(&said, BAR);
    }
    Ok(())
}

/// Fails unless the last line on the terminal is cleared, and nothing follows.
#[track_caller]
fn leaves_no_trace(said: &str, bar: &str) {
    let (_, last) = said.rsplit_once(bar).unwrap_or_default();
    let (_, after) = last.rsplit_once('\r').unwrap_or(("", last));
    assert_eq!(after, "\x1b[2K", "{said:?}");
}

#[test]
fn no_bar_is_drawn_where_standard_error_is_no_terminal() -> Outcome {
    let file = wide_elements("progress-pipe")?;
    for options in [&["--format", "raw"][..], &["--format", "csv"], &["--full"]] {
        assert_eq!(said("pipe", &file, options)?, "", "{options:?}");
    }
    Ok(())
}

/// The numbers before this one as a `.npy` file.
fn numbers(count: u64) -> Vec<u8> {
    let header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': ({count},)}}");
    // Of 128 bytes, up to a line break, of which the first ten say what and how long it is (NumPy, "NPY format").
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(format!("{header:<117}\n").as_bytes());
    bytes.extend((0..count).flat_map(u64::to_le_bytes));
    bytes
}

/// What `commit --ops` of 64 MiB says on standard error, be that a terminal or a pipe, while it is stopped for a while.
fn said_by_commit(stderr: &str, name: &str) -> Result<String, Box<dyn std::error::Error>> {
    let folder = folder(name)?;
    let (file, operations) = (folder.join("file.h5"), folder.join("operations.json"));
    std::fs::write(folder.join("values.npy"), numbers(8 << 20))?;
    let create =
        json!([{"op": "create", "dataset": "data", "npy": "values.npy", "chunks": [8192]}]);
    std::fs::write(&operations, create.to_string())?;
    on_file("init", &file, &[]).succeeds();
    let mut command = script("slow_writer.py")?;
    command.arg(stderr).arg(&file).arg(env!("CARGO_BIN_EXE_h5strata"));
    command.arg("commit").arg(&file).arg("r0").arg("--ops").arg(operations);
    let said = Run::of(command.args(["--durability", "process"])).succeeds().text();
    let log = on_file("log", &file, &[]).succeeds().text();
    assert!(log.contains("r0"), "{log}");
    std::fs::remove_dir_all(folder)?;
    Ok(said)
}

#[test]
fn a_commit_draws_a_bar_on_a_terminal_and_leaves_no_trace() -> Outcome {
    let said = said_by_commit("terminal", "progress-commit-terminal")?;
    assert!(said.contains(COMMIT_BAR), "{said:?}");
    leaves_no_trace(&said, COMMIT_BAR);
    Ok(())
}

#[test]
fn a_commit_draws_no_bar_where_standard_error_is_no_terminal() -> Outcome {
    assert_eq!(said_by_commit("pipe", "progress-commit-pipe")?, "");
    Ok(())
}
