//! Other processes, each with a limit to its time.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::{limit, support};

/// What stands before a line that a process says to the test.
pub(crate) const SAYS: &str = "child: ";

/// A process that says lines; killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    name: String,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    end: Instant,
}

impl Process {
    /// Starts a command with these variables in its environment.
    pub(crate) fn start(name: &str, variables: &[(&str, &str)], command: &Command) -> Self {
        let mut child = support::start(&with_variables(variables, command)).unwrap();
        let (output, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some((_, said)) = line.split_once(SAYS) {
                    let _ = sender.send(said.to_owned());
                }
            }
        });
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let (name, end) = (name.to_owned(), Instant::now() + limit());
        Self { child, name, lines, errors: Some(errors), end }
    }

    /// h5py, which opens the file, says `open` or why it is refused, and keeps it open for a time.
    pub(crate) fn holding(path: &Path, mode: &str, time: Duration) -> Self {
        let mut command = python();
        command.arg("hold").arg(path).arg(mode).arg(time.as_secs_f64().to_string());
        Self::start(&format!("h5py {mode}"), &[("HDF5_USE_FILE_LOCKING", "TRUE")], &command)
    }

    /// The next line that it says.
    pub(crate) fn says(&mut self) -> String {
        let left = self.end.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left).unwrap_or_else(|_| self.fail("says nothing"))
    }

    /// The last line that it says once it has come to a good end.
    pub(crate) fn ends(&mut self) -> String {
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() < self.end => thread::sleep(Duration::from_millis(5)),
                None => self.fail("does not end"),
            }
        };
        if !status.success() {
            self.fail(&status.to_string());
        }
        self.lines.iter().last().unwrap_or_default()
    }

    /// The most bytes that it had in memory at once so far.
    pub(crate) fn peak_memory(&self) -> u64 {
        peak_memory(&self.child.id().to_string())
    }

    fn fail(&mut self, what: &str) -> ! {
        let errors = self.kill();
        panic!("{}: {what}: {errors}", self.name)
    }

    /// Kills it, if it has not ended; what it has written to standard error.
    pub(crate) fn kill(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The most bytes that a process had in memory at once so far (proc(5), "status").
pub(crate) fn peak_memory(process: &str) -> u64 {
    let said = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let most = said.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    most.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

/// The script of this folder's readers by h5py.
pub(crate) fn python() -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/concurrent_reader.py");
    let mut command = Command::new(support::made::python().unwrap());
    // No byte code: the scripts' folder is part of the source tree.
    command.arg("-B").arg(script);
    command
}

/// A run of the program `h5strata` that has ended.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) error: String,
    pub(crate) time: Duration,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, out, error, time } = self;
        write!(f, "exit code {code:?} after {time:?}\n--- stdout\n{out}\n--- stderr\n{error}")
    }
}

impl Run {
    /// Runs `h5strata COMMAND FILE REST...`.
    pub(crate) fn of(command: &str, file: &Path, rest: &[&str]) -> Self {
        Self::with(&[], &program(command, file, rest))
    }

    /// Runs a command with these variables in its environment.
    pub(crate) fn with(variables: &[(&str, &str)], command: &Command) -> Self {
        let start = Instant::now();
        let output = support::start(&with_variables(variables, command))
            .unwrap()
            .wait_with_output()
            .unwrap();
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            error: String::from_utf8_lossy(&output.stderr).into_owned(),
            time: start.elapsed(),
        }
    }

    /// What it prints, having done what it was asked for without a word on standard error.
    #[track_caller]
    pub(crate) fn succeeds(self) -> String {
        assert!(self.code == Some(0) && self.error.is_empty(), "{self}");
        self.out
    }

    /// Its one line of error, having refused to do anything.
    #[track_caller]
    pub(crate) fn fails(self) -> String {
        assert!(self.code == Some(2) && self.out.is_empty(), "{self}");
        assert!(self.error.starts_with("error: ") && self.error.lines().count() == 1, "{self}");
        self.error
    }
}

/// `h5strata COMMAND FILE REST...`.
pub(crate) fn program(command: &str, file: &Path, rest: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_h5strata"));
    program.arg(command).arg(file).args(rest);
    program
}

/// What the tests themselves run with says nothing about locks, and nothing about colours, to processes.
fn with_variables(variables: &[(&str, &str)], command: &Command) -> Command {
    let mut changed = Command::new("env");
    for unset in ["HDF5_USE_FILE_LOCKING", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        changed.args(["-u", unset]);
    }
    changed.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
    changed.arg(command.get_program()).args(command.get_args());
    changed
}
