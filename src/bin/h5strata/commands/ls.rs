//! `h5strata ls`: groups and datasets of a version.

use std::io::Write;

use anstyle::AnsiColor;
use h5strata::store::{Entry, EntryKind};
use h5strata::{Error, Version};
use serde::Serialize;

use super::dataset_row::DatasetRow;
use crate::args::{Global, Ls};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Cell, JsonArray, STRONG, Table};

/// A row of the listing. What a group has not, or what cannot be read, is `None`.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    kind: &'static str,
    #[serde(flatten)]
    dataset: DatasetRow,
}

pub(crate) fn run(args: &Ls, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let version = lookup::version(&file, &args.version)?;
    let entries = entries(&version, args.path.as_deref())?;
    let rows = entries.into_iter().map(|entry| row(&version, entry, reporter));
    let mut out = output::screen();
    if args.json {
        let mut array = JsonArray::default();
        for row in rows {
            array.push(&mut out, &row)?;
        }
        array.finish(&mut out)?;
    } else {
        let table = table(rows, args.path.as_deref().unwrap_or_default());
        let is_current = file.current_name().is_ok_and(|current| current == version.name());
        let mark = if is_current { " (current)" } else { "" };
        let name = output::visible(version.name());
        writeln!(out, "version {STRONG}{name}{STRONG:#}{mark}")?;
        table.write(&mut out, 0)?;
        out.flush()?;
    }
    Ok(())
}

/// The dataset at a path, or the group with all that is in it.
fn entries(version: &Version, path: Option<&str>) -> Result<Vec<Entry>, Error> {
    let path = path.unwrap_or_default().trim_matches('/');
    if path.is_empty() {
        return version.entries();
    }
    let kind = version.kind(path)?;
    let mut entries = vec![Entry { path: path.to_owned(), kind }];
    if kind == EntryKind::Group {
        entries.extend(version.entries_below(path)?);
    }
    Ok(entries)
}

fn row(version: &Version, entry: Entry, reporter: &mut Reporter) -> Row {
    match entry.kind {
        EntryKind::Group => Row { path: entry.path, kind: "group", dataset: DatasetRow::default() },
        EntryKind::Other => {
            if let Err(error) = version.kind(&entry.path) {
                reporter.error(&error.into());
            }
            Row { path: entry.path, kind: "other", dataset: DatasetRow::default() }
        }
        EntryKind::Dataset => {
            let dataset = DatasetRow::new(version, &entry.path, reporter);
            Row { path: entry.path, kind: "dataset", dataset }
        }
    }
}

/// Names indented below their group; the paths of a part of the tree start at `top`.
fn table(rows: impl Iterator<Item = Row>, top: &str) -> Table {
    let depth = |path: &str| path.matches('/').count();
    let top = depth(top.trim_matches('/'));
    let group = AnsiColor::Blue.on_default().bold();
    let header: Vec<&str> = ["name"].into_iter().chain(DatasetRow::HEADER).collect();
    let mut table = Table::with_header(&header);
    for Row { path, kind, dataset } in rows {
        let indent = "  ".repeat(depth(&path).saturating_sub(top));
        let name = path.rsplit('/').next().unwrap_or(&path);
        if kind == "group" {
            table.push([Cell::styled(&format!("{indent}{name}/"), group)]);
            continue;
        }
        let name = Cell::new(&format!("{indent}{name}"));
        table.push([name].into_iter().chain(dataset.cells()));
    }
    table
}
