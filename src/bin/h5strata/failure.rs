//! What can end a command, and the one place that writes to standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use h5strata::store::{DataVersionReason, Error};

use crate::ops::OpsError;
use crate::output::visible;

/// Exit code of a command that has found a difference or damage.
const DIFFERENCE: u8 = 1;

/// Exit code of a command that could not do all it was asked for.
const ERROR: u8 = 2;

/// Why a command ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The library refused.
    #[error(transparent)]
    Store(#[from] Error),
    /// Something could not be counted.
    #[error(transparent)]
    Stats(#[from] h5strata::store::StatsFault),
    /// The selection is no selection.
    #[error(transparent)]
    Selection(#[from] h5strata::selection::ParseError),
    /// The operations of a new version cannot be applied.
    #[error(transparent)]
    Operations(#[from] OpsError),
    /// There is no file to commit to.
    #[error("{}: no such file: make it with `h5strata init`", .file.display())]
    NoFile { file: PathBuf },
    /// The content of a file for a version of its own.
    #[error("{}: this is the file that is committed to: give another one to take the content of", .file.display())]
    SnapshotIsFile { file: PathBuf },
    /// The output cannot be written.
    #[error("{}: {source}", .target.display())]
    Output { target: PathBuf, source: io::Error },
    /// Nobody reads the output any more.
    #[error("standard output was closed")]
    ClosedPipe,
    /// The output's name does not tell its format.
    #[error(
        "{}: the ending does not tell the format: use .npy, .csv, .txt, .raw or .bin, or give --format",
        .target.display()
    )]
    UnknownEnding { target: PathBuf },
    /// The output is the file that is read.
    #[error("{}: this is the file that is read: give another name for the output", .target.display())]
    OutputIsInput { target: PathBuf },
    /// Bytes for a terminal.
    #[error("{format} is not for a terminal: give -o FILE, or redirect the output")]
    BytesToTerminal { format: &'static str },
    /// A type without a counterpart in a format.
    #[error(
        "dataset {dataset:?}: elements of type {dtype} cannot be written as {format}: try {instead}"
    )]
    NoCounterpart { dataset: String, dtype: String, format: &'static str, instead: &'static str },
    /// Strings that are not text, where text is needed.
    #[error(
        "dataset {dataset:?}: a string is not UTF-8 and cannot be written as .npy: try --format raw"
    )]
    NotUtf8 { dataset: String },
    /// Strings that would take far more room at a fixed length.
    #[error(
        "dataset {dataset:?}: as .npy every string would take the {longest} characters of the longest, \
         {bytes} bytes in all: try --format csv or --format raw"
    )]
    Swollen { dataset: String, longest: u64, bytes: u64 },
}

impl Failure {
    /// Names the target of a failed write; a closed pipe is a failure of its own kind.
    pub(crate) fn output(target: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let target = target.into();
        move |source| match source.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Output { target, source },
        }
    }

    /// What else a user can do, where the command line has an option for it.
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Store(Error::DataVersion { reason: DataVersionReason::WrongHashes, .. }) => Some(
                "give --accept-wrong-hashes to read it all the same, or make its hash tables anew with \
                     `h5strata upgrade FILE --rebuild-hashes`",
            ),
            _ => None,
        }
    }
}

/// A failed write to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::output("standard output")(error)
    }
}

/// Tells the user of errors, one line each, and remembers that there were some.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    failed: bool,
    different: bool,
}

impl Reporter {
    /// An error that the command survives; its exit code will tell.
    pub(crate) fn error(&mut self, failure: &Failure) {
        self.failed = true;
        let style = AnsiColor::Red.on_default().bold();
        match failure.advice() {
            Some(advice) => say(style, "error", &format_args!("{failure}: {advice}")),
            None => say(style, "error", failure),
        }
    }

    /// A difference, or damage, that the exit code will tell of.
    pub(crate) fn difference(&mut self) {
        self.different = true;
    }

    /// Something the user must know to trust the result.
    pub(crate) fn warning(&self, warning: &dyn Display) {
        say(AnsiColor::Yellow.on_default().bold(), "warning", warning);
    }

    /// Something that was done besides what was asked for.
    pub(crate) fn note(&self, note: &dyn Display) {
        say(AnsiColor::Cyan.on_default().bold(), "note", note);
    }

    /// The exit code of a command that has ended.
    pub(crate) fn finish(mut self, outcome: Result<(), Failure>) -> ExitCode {
        match outcome {
            // Whoever closed the pipe has seen enough.
            Ok(()) | Err(Failure::ClosedPipe) => {}
            Err(failure) => self.error(&failure),
        }
        match self {
            Self { failed: true, .. } => ExitCode::from(ERROR),
            Self { different: true, .. } => ExitCode::from(DIFFERENCE),
            Self { .. } => ExitCode::SUCCESS,
        }
    }
}

fn say(style: Style, what: &str, message: &dyn Display) {
    let message = message.to_string();
    let line = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    // There is nowhere to tell that standard error cannot be written to.
    drop(writeln!(anstream::stderr(), "{style}{what}:{style:#} {}", visible(&line)));
}
