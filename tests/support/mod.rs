//! What integration tests share: versioned files made on the fly with the right answers, and the shared real files.
//!
//! A helper that cannot do its work returns an error, which fails the test that asked. Only files that are not part of
//! the repository may be missing: then the helper says so on standard error and returns `None`.
#![allow(dead_code, reason = "compiled into every test binary, and each of them uses a part")]

pub(crate) mod answers;
pub(crate) mod cost;
pub(crate) mod made;
pub(crate) mod scratch;
pub(crate) mod shared;
pub(crate) mod values;

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// What a test comes to: any error fails it.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Why test files could not be provided.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SupportError {
    /// The Python environment that makes the files is not there.
    #[error(
        "no Python at {python}: run scripts/setup, or set H5STRATA_PYTHON to an interpreter with versioned-hdf5"
    )]
    NoPython { python: PathBuf },
    /// A command ran and failed.
    #[error("{command} failed ({status}): {stderr}")]
    CommandFailed { command: String, status: std::process::ExitStatus, stderr: String },
    /// `H5STRATA_SHARED` is set and does not hold what was asked for.
    #[error("H5STRATA_SHARED is set, but there is no {path}")]
    NoShared { path: PathBuf },
    /// A file or folder could not be used.
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    /// A file of answers could not be parsed.
    #[error("{path}, line {line}: {source}")]
    Answers { path: PathBuf, line: usize, source: serde_json::Error },
}

/// A test that returns an error shows it in this form, so it is the message.
impl fmt::Debug for SupportError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl SupportError {
    /// Names the path of an I/O error, for use with `map_err`.
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// The folder for test files, in Cargo's target directory: kept from run to run, ignored by Git.
fn test_files() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch).join("test-files")
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// [`SupportError::Io`] when it cannot start, [`SupportError::CommandFailed`] when it fails.
fn run(command: &mut std::process::Command) -> Result<String, SupportError> {
    let program = PathBuf::from(command.get_program());
    let output =
        start(command).and_then(Child::wait_with_output).map_err(SupportError::io(&program))?;
    if !output.status.success() {
        return Err(SupportError::CommandFailed {
            command: format!("{command:?}"),
            status: output.status,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Starts a command with its outputs as pipes, without the descriptors of the files that other tests have open: it
/// would hold the locks of these files to its own end.
///
/// # Errors
/// Those of starting a shell; of the command the shell tells.
pub(crate) fn start(command: &std::process::Command) -> io::Result<Child> {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "echo && exec \"$0\" \"$@\""]).arg(command.get_program());
    shell.args(command.get_args());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // While it opens a file and has not said yet that programs shall not inherit it, libhdf5 holds this lock. The
    // system closes such files a moment after the program has come to life: it has when there is a line of it.
    let _lock = h5strata_ffi::lock();
    let mut child = shell.spawn()?;
    if let Some(output) = &mut child.stdout {
        output.read_exact(&mut [0])?;
    }
    Ok(child)
}
