//! What commands print, compared with the committed text. Those that change files have a folder of their own, with copies
//! of some.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::program::in_shell;
use crate::support::made;

/// The folders of sessions that change files, and the files.
const CHANGED: [(&str, &[&str]); 2] = [
    ("changes", &["prices.h5"]),
    (
        "repairs",
        &[
            "prices.h5",
            "old-data-version.h5",
            "report-fewer-rows-than-chunks.h5",
            "report-junk-raw-chunks.h5",
            "broken/data-version-3.h5",
            "broken/fletcher32-wrong.h5",
            "broken/cyclic-parents.h5",
        ],
    ),
];

/// What starts a command in a session.
const PROMPT: &str = "$ ";

#[test]
fn commands_print_what_the_sessions_show() -> Outcome {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/sessions");
    let mut differing = Vec::new();
    let made = made::folder()?;
    for path in texts(&sessions)? {
        differing.extend(differences(&path, &made)?);
    }
    for (folder, files) in CHANGED {
        for path in texts(&sessions.join(folder))? {
            let own = tempfile::tempdir()?;
            for file in files {
                let file = made.join(file);
                fs::copy(&file, own.path().join(file.file_name().ok_or("a name")?))?;
            }
            differing.extend(differences(&path, own.path())?);
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    Ok(())
}

/// The sessions in a folder, in order.
fn texts(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    Ok(paths)
}

/// Runs the commands of one session; tells what differs.
fn differences(path: &Path, folder: &Path) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let expected = fs::read_to_string(path)?;
    let commands = expected.lines().filter_map(|line| line.strip_prefix(PROMPT));
    let found: String =
        commands.map(|command| section(command, folder)).collect::<Result<_, _>>()?;
    if found == expected {
        return Ok(None);
    }
    if std::env::var_os("UPDATE_SESSIONS").is_some() {
        fs::write(path, found)?;
        return Ok(None);
    }
    Ok(Some(difference(path, &expected, &found)))
}

/// A command, what it prints to standard output and then to standard error, and its exit code if that is not 0.
fn section(command: &str, folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let run = in_shell(command, folder);
    let code = match run.code() {
        0 => String::new(),
        code => format!("[{code}]\n"),
    };
    let (out, err) = (run.text(), &run.stderr);
    let lines = out.lines().chain(err.lines());
    let before = std::iter::once("").chain(lines.clone());
    let printed: String =
        lines.zip(before).map(|(line, before)| masked(line, before) + "\n").collect();
    // A journal is told by its full name.
    let printed = printed.replace(&format!("{}/", folder.canonicalize()?.display()), "/.../");
    Ok(format!("{PROMPT}{command}\n{printed}{code}\n"))
}

/// A line without the numbers that depend on the libhdf5 that made or reads the file: its version, and the size of a file,
/// which stands below the file's path. Nor does it have how long was waited.
fn masked(line: &str, before: &str) -> String {
    const WAITED: &str = "readers kept the file open for ";
    if let Some((file, waited)) = line.split_once(WAITED) {
        let outcome = waited.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        return format!("{file}{WAITED}...{outcome}");
    }
    let is_below_path = before.trim_end_matches(['"', ',']).ends_with(".h5");
    let mut names: &[&str] = &["libhdf5 ", "  \"libhdf5\": "];
    if is_below_path {
        names = &["size ", "  \"size\": "];
    }
    let rest = names.iter().find_map(|name| line.strip_prefix(*name));
    let Some(rest) = rest else { return line.to_owned() };
    let mut masked = line[..line.len() - rest.len()].to_owned();
    for character in rest.chars() {
        if !character.is_ascii_digit() && character != '.' {
            masked.push(character);
        } else if !masked.ends_with("...") {
            masked.push_str("...");
        }
    }
    masked
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
