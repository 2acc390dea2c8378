//! Long reads show how far they are to a person, and to nobody else.

use std::path::Path;

use crate::Outcome;
use crate::outputs::wide_elements;
use crate::program::{Run, script};

/// Begins every bar; its end depends on the time.
const BAR: &str = "r0 data [";

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
        // The last line on the terminal is cleared, and nothing follows.
        let (_, last) = said.rsplit_once(BAR).unwrap_or_default();
        let (_, after) = last.rsplit_once('\r').unwrap_or(("", last));
        assert_eq!(after, "\x1b[2K", "{options:?}: {said:?}");
    }
    Ok(())
}

#[test]
fn no_bar_is_drawn_where_standard_error_is_no_terminal() -> Outcome {
    let file = wide_elements("progress-pipe")?;
    for options in [&["--format", "raw"][..], &["--format", "csv"], &["--full"]] {
        assert_eq!(said("pipe", &file, options)?, "", "{options:?}");
    }
    Ok(())
}
