//! What is counted, as tables with bars.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use h5strata::Stats;
use h5strata::store::{DatasetStats, VersionStats};
use indicatif::HumanBytes;

use crate::output::{Cell, STRONG, Table, add_bars, visible};

/// Rows of a table that shows the largest only.
const MOST_ROWS: usize = 12;

/// Spaces in front of tables.
const INDENT: usize = 2;

const PARTS: Style = AnsiColor::Cyan.on_default();
const DATASETS: Style = AnsiColor::Green.on_default();
const VERSIONS: Style = AnsiColor::Yellow.on_default();

pub(super) fn write(out: &mut impl Write, file: &Path, stats: &Stats, all: bool) -> io::Result<()> {
    let name = file.display().to_string();
    let (versions, datasets) = (stats.versions.len(), stats.datasets.len());
    writeln!(
        out,
        "{STRONG}{}{STRONG:#}: {}, {}, {}, which show {}",
        visible(&name),
        HumanBytes(stats.size),
        counted(versions as u64, "version"),
        counted(datasets as u64, "dataset"),
        HumanBytes(stats.logical()),
    )?;
    writeln!(out)?;
    write_parts(out, stats)?;
    write_orphans(out, stats)?;
    write_datasets(out, stats, all)?;
    write_versions(out, stats, all)
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A number of bytes at a glance.
fn bytes(count: u64) -> String {
    HumanBytes(count).to_string()
}

fn write_parts(out: &mut impl Write, stats: &Stats) -> io::Result<()> {
    let parts = [
        ("chunks", stats.chunks().bytes),
        ("strings", stats.strings()),
        ("lists of mappings", stats.lists()),
        ("hash tables", stats.hash_tables()),
        ("not versioned", stats.outside),
        ("structures and free space", stats.rest()),
    ];
    // Most files have neither strings nor anything else but versions.
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|(name, bytes)| *bytes > 0 || !matches!(*name, "strings" | "not versioned"))
        .collect();
    let mut table = Table::with_header(&["where", "bytes", "share"]);
    for (name, count) in &parts {
        let share = percent(Some(share(*count, stats.size)));
        table.push([Cell::new(name), Cell::new(&bytes(*count)), Cell::new(&share)]);
    }
    let lengths: Vec<u64> = parts.iter().map(|(_, bytes)| *bytes).collect();
    add_bars(&mut table, &lengths, stats.size, INDENT, PARTS);
    table.write(out, INDENT)
}

fn write_orphans(out: &mut impl Write, stats: &Stats) -> io::Result<()> {
    let orphans = stats.orphans();
    if orphans.chunks == 0 {
        return Ok(());
    }
    let (count, bytes) = (counted(orphans.chunks, "chunk"), HumanBytes(orphans.bytes));
    writeln!(out, "\n{STRONG}{bytes}{STRONG:#} of it in {count} that no version has")
}

fn write_datasets(out: &mut impl Write, stats: &Stats, all: bool) -> io::Result<()> {
    let (rows, left_out) = largest(&stats.datasets, all, DatasetStats::stored_bytes);
    if rows.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::with_header(&["dataset", "versions", "shown", "stored", "ratio", "sharing"]);
    for row in &rows {
        table.push([
            Cell::new(&row.dataset),
            Cell::new(&row.versions.to_string()),
            Cell::new(&bytes(row.logical)),
            Cell::new(&bytes(row.stored_bytes())),
            Cell::new(&times(row.ratio())),
            Cell::new(&times(row.sharing())),
        ]);
    }
    let lengths: Vec<u64> = rows.iter().map(|row| row.stored_bytes()).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    add_bars(&mut table, &lengths, longest, INDENT, DATASETS);
    writeln!(out)?;
    table.write(out, INDENT)?;
    write_left_out(out, left_out, "dataset")
}

fn write_versions(out: &mut impl Write, stats: &Stats, all: bool) -> io::Result<()> {
    let (rows, left_out) = largest(&stats.versions, all, VersionStats::frees);
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::with_header(&["version", "shown", "stored", "shared", "frees"]);
    for row in &rows {
        table.push([
            Cell::new(&row.version),
            Cell::new(&bytes(row.logical)),
            Cell::new(&bytes(row.mapped.bytes)),
            Cell::new(&percent(row.shared())),
            Cell::new(&bytes(row.frees())),
        ]);
    }
    let lengths: Vec<u64> = rows.iter().map(|row| row.frees()).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    add_bars(&mut table, &lengths, longest, INDENT, VERSIONS);
    writeln!(out)?;
    table.write(out, INDENT)?;
    write_left_out(out, left_out, "version")
}

/// The rows that are shown, in their order, and how many are not.
fn largest<T>(rows: &[T], all: bool, size: impl Fn(&T) -> u64) -> (Vec<&T>, usize) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if !all && rows.len() > MOST_ROWS {
        order.sort_by_key(|&at| std::cmp::Reverse(size(&rows[at])));
        order.truncate(MOST_ROWS);
        order.sort_unstable();
    }
    let left_out = rows.len() - order.len();
    (order.into_iter().map(|at| &rows[at]).collect(), left_out)
}

fn write_left_out(out: &mut impl Write, left_out: usize, what: &str) -> io::Result<()> {
    if left_out == 0 {
        return Ok(());
    }
    let left_out = counted(left_out as u64, &format!("smaller {what}"));
    writeln!(out, "{:INDENT$}and {left_out}: --all lists all", "")
}

#[expect(clippy::cast_precision_loss, reason = "a share is rounded anyway")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Rounded down: what is not all of it is less than 100 %.
fn percent(share: Option<f64>) -> String {
    share
        .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", (share * 1000.0).floor() / 10.0))
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_rows_the_largest_are_shown_in_their_order() {
        let rows: Vec<u64> = (0..20).map(|at| (at * 7) % 20).collect();
        let (shown, left_out) = largest(&rows, false, |&size| size);
        let expected: Vec<&u64> = rows.iter().filter(|&&size| size >= 8).collect();
        assert_eq!((shown, left_out), (expected, 8));
        assert_eq!(largest(&rows, true, |&size| size).0.len(), 20);
        assert_eq!(largest(&rows[..12], false, |&size| size).1, 0);
    }

    #[test]
    fn only_all_of_it_is_a_hundred_percent() {
        let texts = [None, Some(0.9999), Some(1.0), Some(0.55)].map(percent);
        assert_eq!(texts, ["-", "99.9 %", "100.0 %", "55.0 %"]);
    }
}
