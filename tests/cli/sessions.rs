//! What commands print, compared with the committed text.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::program::in_shell;
use crate::support::made;

/// What starts a command in a session.
const PROMPT: &str = "$ ";

#[test]
fn commands_print_what_the_sessions_show() -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/sessions");
    let mut sessions: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    sessions.sort();
    assert!(!sessions.is_empty());
    let mut differing = Vec::new();
    for path in sessions {
        let expected = fs::read_to_string(&path)?;
        let commands = expected.lines().filter_map(|line| line.strip_prefix(PROMPT));
        let found: String = commands.map(section).collect::<Result<_, _>>()?;
        if found == expected {
            continue;
        }
        if std::env::var_os("UPDATE_SESSIONS").is_some() {
            fs::write(&path, found)?;
        } else {
            differing.push(difference(&path, &expected, &found));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    Ok(())
}

/// A command, what it prints to standard output and then to standard error, and its exit code if that is not 0.
fn section(command: &str) -> Result<String, Box<dyn std::error::Error>> {
    let run = in_shell(command, &made::folder()?);
    let code = match run.code() {
        0 => String::new(),
        code => format!("[{code}]\n"),
    };
    let printed: String =
        run.text().lines().chain(run.stderr.lines()).map(|line| masked(line) + "\n").collect();
    Ok(format!("{PROMPT}{command}\n{printed}{code}\n"))
}

/// A line without what depends on the libhdf5 that made or reads the file.
fn masked(line: &str) -> String {
    for name in ["size ", "libhdf5 ", "  \"size\": ", "  \"libhdf5\": "] {
        if let Some(rest) = line.strip_prefix(name) {
            let blanks = rest.len() - rest.trim_start().len();
            return format!("{name}{}...", &rest[..blanks]);
        }
    }
    line.to_owned()
}

/// The first lines that differ.
fn difference(path: &Path, expected: &str, found: &str) -> String {
    let lines = expected.lines().zip(found.lines()).enumerate();
    let (number, command, expected, found) = lines
        .scan("", |command, (number, (expected, found))| {
            if found.starts_with(PROMPT) {
                *command = found;
            }
            Some((number + 1, *command, expected, found))
        })
        .find(|(_, _, expected, found)| expected != found)
        .unwrap_or((0, "", "the same lines", "more or fewer lines"));
    let path = path.display();
    format!("{path}, line {number}\n{command}\nexpected: {expected}\nfound:    {found}")
}
