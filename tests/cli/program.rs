//! Running the program.

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{SupportError, made};

/// A run that has ended. Its `Display` is what a failing test shows.
pub(crate) struct Run {
    command: String,
    status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// The program's path.
const PROGRAM: &str = env!("CARGO_BIN_EXE_h5strata");

/// The program, with nothing from the environment that changes what it prints.
pub(crate) fn h5strata() -> Command {
    plain(PROGRAM)
}

/// A command with nothing from the environment that changes what the program prints.
fn plain(command: &str) -> Command {
    let mut command = Command::new(command);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "HDF5_USE_FILE_LOCKING"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the program with arguments to its end.
pub(crate) fn run<I: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = I>) -> Run {
    Run::of(h5strata().args(arguments))
}

/// Runs `h5strata COMMAND FILE REST...`.
pub(crate) fn on_file(command: &str, file: &Path, rest: &[&str]) -> Run {
    Run::of(h5strata().arg(command).arg(file).args(rest))
}

/// Runs a command line in a folder, as a user types it, with the program first on the path.
pub(crate) fn in_shell(line: &str, folder: &Path) -> Run {
    let mut path = Path::new(PROGRAM).parent().expect("it is in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Run::of(plain("sh").arg("-c").arg(line).current_dir(folder).env("PATH", path))
}

/// One of the Python scripts of this folder.
pub(crate) fn script(name: &str) -> Result<Command, SupportError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(name);
    let mut command = Command::new(made::python()?);
    // No byte code: the scripts' folder is part of the source tree.
    command.arg("-B").arg(path);
    Ok(command)
}

impl Run {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the program starts");
        Self::ended(&format!("{command:?}"), output)
    }

    /// Runs a command, which must come to its end in a time.
    pub(crate) fn within(limit: Duration, command: &mut Command) -> Self {
        let named = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let end = Instant::now() + limit;
        while child.try_wait().expect("it is waited for").is_none() {
            if Instant::now() > end {
                child.kill().expect("it is there");
                panic!("no end after {limit:?}: {named}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Self::ended(&named, child.wait_with_output().expect("it has ended"))
    }

    /// What a command left when it ended.
    pub(crate) fn ended(command: &str, output: Output) -> Self {
        Self {
            command: command.to_owned(),
            status: output.status,
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Its exit code.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("no exit code: {self}"))
    }

    /// Fails unless the exit code is this.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// Fails unless it is done, and without a word on standard error.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        let run = self.exits(0);
        assert_eq!(run.stderr, "", "{run}");
        run
    }

    /// What it printed.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// What it printed, as one JSON document a line.
    #[track_caller]
    pub(crate) fn json_lines<T: serde::de::DeserializeOwned>(&self) -> Vec<T> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"))
        };
        self.text().lines().map(parse).collect()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, status, stderr, .. } = self;
        write!(f, "{command}\n{status}\n--- stdout\n{}\n--- stderr\n{stderr}\n---", self.text())
    }
}
