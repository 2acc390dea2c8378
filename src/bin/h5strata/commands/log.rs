//! `h5strata log`: the versions of a file.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use anstyle::{AnsiColor, Style};
use h5strata::store::VersionInfo;
use h5strata::{Error, VersionedFile};
use serde::Serialize;

use crate::args::{Global, Log};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Cell, Graph, JsonArray, Table};

/// How names of versions are shown.
const NAME: Style = AnsiColor::Yellow.on_default();

/// How the current version is marked.
const CURRENT: Style = AnsiColor::Green.on_default().bold();

/// A row of the listing.
#[derive(Debug, Serialize)]
struct Row<'v> {
    version: &'v str,
    parent: Option<&'v str>,
    timestamp: String,
    current: bool,
    /// `None` if the version cannot be listed.
    datasets: Option<usize>,
}

pub(crate) fn run(args: &Log, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let versions = newest_first(file.versions()?);
    let current = match file.current_name() {
        Ok(name) => Some(name),
        Err(Error::NoVersions { .. }) => None,
        Err(error) => {
            reporter.error(&error.into());
            None
        }
    };
    let rows = versions.into_iter().map(|version| Row {
        version: &version.name,
        parent: version.parent.as_deref(),
        timestamp: output::time(&version.timestamp),
        current: current.as_ref() == Some(&version.name),
        datasets: datasets(&file, &version.name, reporter),
    });
    let mut out = output::screen();
    if args.json {
        let mut array = JsonArray::default();
        for row in rows {
            array.push(&mut out, &row)?;
        }
        array.finish(&mut out)?;
    } else {
        table(rows).write(&mut out, 0)?;
        out.flush()?;
    }
    Ok(())
}

fn datasets(file: &VersionedFile, version: &str, reporter: &mut Reporter) -> Option<usize> {
    match file.version(version).and_then(|version| version.datasets()) {
        Ok(datasets) => Some(datasets.len()),
        Err(error) => {
            reporter.error(&error.into());
            None
        }
    }
}

fn table<'v>(rows: impl Iterator<Item = Row<'v>>) -> Table {
    let mut table = Table::with_header(&["version", "parent", "timestamp", "datasets", ""]);
    let mut graph = Graph::default();
    for row in rows {
        let (joins, line) = graph.node(row.version, row.parent);
        for join in joins {
            table.push([Cell::new(&join)]);
        }
        let style = if row.current { CURRENT } else { NAME };
        table.push([
            Cell::styled(&format!("{line} {}", row.version), style),
            Cell::new(row.parent.unwrap_or("-")),
            Cell::new(&row.timestamp),
            Cell::new(&row.datasets.map_or_else(|| "?".to_owned(), |count| count.to_string())),
            Cell::styled(if row.current { "(current)" } else { "" }, CURRENT),
        ]);
    }
    table
}

/// The versions, newest first, but none before its children: times given by hand may contradict the history.
fn newest_first(versions: &[VersionInfo]) -> Vec<&VersionInfo> {
    let positions: HashMap<&str, usize> =
        versions.iter().enumerate().map(|(at, version)| (version.name.as_str(), at)).collect();
    let parent = |at: usize| {
        versions[at].parent.as_deref().and_then(|parent| positions.get(parent).copied())
    };
    let mut children = vec![0usize; versions.len()];
    for at in (0..versions.len()).filter_map(parent) {
        children[at] += 1;
    }
    // Versions whose children have all been listed; the library gives them in order of time.
    let mut ready: BTreeSet<usize> = (0..versions.len()).filter(|&at| children[at] == 0).collect();
    let mut listed = Vec::with_capacity(versions.len());
    while let Some(at) = ready.pop_last() {
        listed.push(&versions[at]);
        if let Some(parent) = parent(at) {
            children[parent] -= 1;
            if children[parent] == 0 {
                ready.insert(parent);
            }
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_come_first_whatever_their_time() {
        let version = |name: &str, parent: Option<&str>, second| VersionInfo {
            name: name.to_owned(),
            parent: parent.map(str::to_owned),
            timestamp: chrono::DateTime::from_timestamp(second, 0).unwrap(),
        };
        let versions = [
            version("early child", Some("root"), 1),
            version("root", None, 2),
            version("late child", Some("root"), 3),
        ];
        let names: Vec<&str> = newest_first(&versions).iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["late child", "early child", "root"]);
    }
}
