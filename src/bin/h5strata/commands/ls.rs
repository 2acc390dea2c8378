//! `h5strata ls`: groups and datasets of a version.

use std::io::Write;

use anstyle::AnsiColor;
use h5strata::store::{Entry, EntryKind, Fill};
use h5strata::{Dataset, Error, Version};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Global, Ls};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Cell, JsonArray, STRONG, Table, tuple};
use crate::values::json;

/// A row of the listing. What a group has not, or what cannot be read, is `None`.
#[derive(Debug, Serialize)]
struct Row {
    path: String,
    kind: &'static str,
    #[serde(flatten)]
    dataset: DatasetRow,
}

/// What is known of a dataset.
#[derive(Debug, Default, Serialize)]
struct DatasetRow {
    shape: Option<Vec<u64>>,
    dtype: Option<String>,
    chunks: Option<Vec<u64>>,
    fill: Option<Value>,
    filters: Option<Vec<String>>,
    stored_chunks: Option<u64>,
    total_chunks: Option<u64>,
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
            let dataset = match version.dataset(&entry.path) {
                Ok(dataset) => describe(&dataset, reporter),
                Err(error) => {
                    reporter.error(&error.into());
                    DatasetRow::default()
                }
            };
            Row { path: entry.path, kind: "dataset", dataset }
        }
    }
}

fn describe(dataset: &Dataset, reporter: &mut Reporter) -> DatasetRow {
    let stored = dataset.stored_chunks().map(|chunks| chunks.len() as u64);
    DatasetRow {
        shape: Some(dataset.shape().to_vec()),
        dtype: Some(dataset.dtype().to_string()),
        chunks: Some(dataset.chunk_shape().to_vec()),
        fill: Some(match dataset.fill_value() {
            Fill::Element(bytes) | Fill::String(bytes) => json(dataset.dtype(), bytes),
        }),
        filters: Some(dataset.filters().iter().map(|f| f.display_name().to_string()).collect()),
        stored_chunks: stored.map_err(|error| reporter.error(&error.into())).ok(),
        total_chunks: Some(dataset.chunk_count()),
    }
}

/// Names indented below their group; the paths of a part of the tree start at `top`.
fn table(rows: impl Iterator<Item = Row>, top: &str) -> Table {
    let depth = |path: &str| path.matches('/').count();
    let top = depth(top.trim_matches('/'));
    let group = AnsiColor::Blue.on_default().bold();
    let mut table = Table::with_header(&["name", "shape", "type", "chunks", "filters", "stored"]);
    for Row { path, kind, dataset } in rows {
        let indent = "  ".repeat(depth(&path).saturating_sub(top));
        let name = path.rsplit('/').next().unwrap_or(&path);
        if kind == "group" {
            table.push([Cell::styled(&format!("{indent}{name}/"), group)]);
            continue;
        }
        let number = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let shape =
            |shape: &Option<Vec<u64>>| shape.as_deref().map_or_else(|| "?".to_owned(), tuple);
        table.push([
            Cell::new(&format!("{indent}{name}")),
            Cell::new(&shape(&dataset.shape)),
            Cell::new(dataset.dtype.as_deref().unwrap_or("?")),
            Cell::new(&shape(&dataset.chunks)),
            Cell::new(&match &dataset.filters {
                Some(filters) if filters.is_empty() => "-".to_owned(),
                Some(filters) => filters.join(", "),
                None => "?".to_owned(),
            }),
            Cell::new(&format!(
                "{}/{}",
                number(dataset.stored_chunks),
                number(dataset.total_chunks)
            )),
        ]);
    }
    table
}
