//! What README tells a user to run is there and runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::Outcome;
use crate::program::in_shell;
use crate::support::made;

const README: &str = include_str!("../../README.md");

/// The lines in README's `sh` blocks.
fn shell_lines() -> impl Iterator<Item = &'static str> {
    let blocks = README.split("```sh\n").skip(1);
    blocks.flat_map(|rest| rest.lines().take_while(|line| *line != "```"))
}

#[test]
fn every_command_in_readme_runs_without_complaint() -> Outcome {
    let folder = tempfile::tempdir()?;
    fs::copy(made::file("prices")?.path, folder.path().join("prices.h5"))?;
    fs::copy(made::file("old-data-version")?.path, folder.path().join("old.h5"))?;
    let operations = README.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
    fs::write(folder.path().join("ops.json"), operations.ok_or("no operations in README")?)?;
    let commands: Vec<&str> = shell_lines().filter(|line| line.starts_with("h5strata ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        in_shell(command, folder.path()).succeeds();
    }
    Ok(())
}

#[test]
fn every_script_in_readme_is_there_to_run() -> Outcome {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let names: Vec<&str> = README
        .split("scripts/")
        .skip(1)
        .filter_map(|rest| rest.split(|c| !is_of_name(c)).next())
        .filter(|name| !name.is_empty())
        .collect();
    assert!(!names.is_empty());
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name);
        let mode = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // Folders have this bit too.
        assert_ne!(mode.permissions().mode() & 0o111, 0, "{} is not executable", path.display());
    }
    Ok(())
}
