//! Differences as text: a line each, and a sum below.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::row::{Row, ValuesRow};
use crate::output::{Cell, Table, block, tuple};

/// What is listed so far.
#[derive(Debug)]
pub(super) struct Listing {
    table: Table,
    values: bool,
    /// Numbers of rows by kind and change.
    counts: BTreeMap<(&'static str, &'static str), u64>,
    chunks: u64,
}

impl Listing {
    /// `values`: whether there is a column for them.
    pub(super) fn new(values: bool) -> Self {
        let header = ["", "name", "chunks", "elements", "what"];
        let header: Vec<&str> =
            header.into_iter().filter(|name| values || *name != "elements").collect();
        let (table, counts) = (Table::with_header(&header), BTreeMap::new());
        Self { table, values, counts, chunks: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(super) fn push(&mut self, row: &Row) {
        *self.counts.entry((row.kind, row.change)).or_default() += 1;
        self.chunks = self.chunks.saturating_add(row.chunks_changed.unwrap_or(0));
        let (mark, style) = mark(row.change);
        let name = match row.kind {
            "version" => "(version)".to_owned(),
            "group" => format!("{}/", row.path),
            _ => row.path.clone(),
        };
        let chunks = match (row.chunks_changed, row.total_chunks) {
            (Some(changed), Some(total)) => format!("{changed}/{total}"),
            _ => "-".to_owned(),
        };
        let elements = row.values.as_ref().map_or_else(|| "-".to_owned(), elements);
        let elements = self.values.then(|| Cell::new(&elements));
        let cells = [Cell::styled(mark, style), Cell::new(&name), Cell::new(&chunks)];
        let what = Cell::new(&what(row));
        self.table.push(cells.into_iter().chain(elements).chain([what]));
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.table.write(out, 0)?;
        let mut parts = Vec::new();
        for (kind, plural) in [("dataset", "datasets"), ("group", "groups")] {
            let counts: Vec<String> = ["changed", "added", "removed"]
                .into_iter()
                .filter_map(|change| Some((self.counts.get(&(kind, change))?, change)))
                .map(|(count, change)| format!("{count} {change}"))
                .collect();
            if !counts.is_empty() {
                parts.push(format!("{plural}: {}", counts.join(", ")));
            }
        }
        if self.chunks > 0 {
            parts.push(format!("chunks: {}", self.chunks));
        }
        if parts.is_empty() { Ok(()) } else { writeln!(out, "{}", parts.join("; ")) }
    }
}

fn mark(change: &str) -> (&'static str, Style) {
    match change {
        "added" => ("A", AnsiColor::Green.on_default()),
        "removed" => ("D", AnsiColor::Red.on_default()),
        _ => ("M", AnsiColor::Yellow.on_default()),
    }
}

/// What is different apart from values.
fn what(row: &Row) -> String {
    let mut parts = Vec::new();
    match (&row.old_shape, &row.new_shape) {
        (Some(old), Some(new)) if old != new => {
            parts.push(format!("shape {} -> {}", tuple(old), tuple(new)));
        }
        (Some(_), Some(_)) | (None, None) => {}
        (old, new) => {
            let shape = new.as_ref().or(old.as_ref()).map(|shape| tuple(shape));
            let dtype = row.new_dtype.clone().or_else(|| row.old_dtype.clone());
            let words: Vec<String> = shape.into_iter().chain(dtype).collect();
            parts.push(words.join(" "));
        }
    }
    if let (Some(old), Some(new)) = (&row.old_dtype, &row.new_dtype)
        && old != new
    {
        parts.push(format!("type {old} -> {new}"));
    }
    if let Some((old, new)) = &row.rechunked {
        parts.push(format!("chunk shape {} -> {}", tuple(old), tuple(new)));
    }
    if !row.attributes.is_empty() {
        let names: Vec<&str> = row.attributes.iter().map(|row| row.name.as_str()).collect();
        parts.push(format!("attributes {}", names.join(", ")));
    }
    parts.join("; ")
}

/// How many elements differ, and where.
fn elements(values: &ValuesRow) -> String {
    let mut parts = Vec::new();
    if let (Some(start), Some(stop)) = (&values.start, &values.stop) {
        parts.push(format!("{} changed in {}", values.changed, block(start, stop)));
    }
    for (count, what) in [(values.added, "added"), (values.removed, "removed")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}
