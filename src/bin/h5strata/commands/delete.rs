//! `h5strata delete`: versions that are deleted for good.

use std::io::Write;

use h5strata::{DeleteOptions, DeleteReport, DeleteSelection, VersionedFile};
use serde::Serialize;

use super::rebuilt::Rebuilt;
use crate::args::{Delete, Global, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, STRONG, Steps, visible};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'r> {
    dry_run: bool,
    deleted: &'r [String],
    moved: Vec<Moved<'r>>,
    current: Option<&'r str>,
    file: Option<Rebuilt>,
}

/// A version that has another parent.
#[derive(Debug, Serialize)]
struct Moved<'r> {
    version: &'r str,
    parent: Option<&'r str>,
}

pub(crate) fn run(args: &Delete, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let steps = Steps::default();
    let options = DeleteOptions::new().dry_run(args.dry_run).on_progress(steps.listener());
    let mut file = match args.dry_run {
        true => lookup::open(&args.file, global, reporter)?,
        false => lookup::open_rw(&args.file, global, &args.changes, reporter)?,
    };
    let selection = selection(args, &file)?;
    let report = file.delete_versions(&selection, &options);
    steps.end();
    print(args, &report?)
}

fn selection(args: &Delete, file: &VersionedFile) -> Result<DeleteSelection, Failure> {
    let chosen = &args.chosen;
    let mut selection = DeleteSelection::new();
    for version in &chosen.versions {
        selection = selection.names([lookup::version(file, &VersionArg::named(version))?.name()]);
    }
    if let Some(count) = chosen.keep_last {
        selection = selection.keep_last(count);
    }
    if let Some(time) = chosen.before {
        selection = selection.before(time);
    }
    if let Some(step) = chosen.keep_every.and_then(|step| usize::try_from(step).ok()) {
        selection = selection.keep_every(step);
    }
    Ok(selection)
}

fn print(args: &Delete, report: &DeleteReport) -> Result<(), Failure> {
    let moved = report.moved.iter();
    let moved = moved.map(|(version, parent)| Moved { version, parent: parent.as_deref() });
    let mut out = output::screen();
    if args.json {
        let report = Report {
            dry_run: args.dry_run,
            deleted: &report.deleted,
            moved: moved.collect(),
            current: report.current.as_deref(),
            file: report.file.as_ref().map(Rebuilt::of),
        };
        serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        return Ok(());
    }
    let done = if args.dry_run { "to be deleted" } else { "deleted" };
    for name in &report.deleted {
        writeln!(out, "{done}  {}", visible(name))?;
    }
    for Moved { version, parent } in moved {
        let parent = parent.map_or("nothing".into(), visible);
        writeln!(out, "{} comes from {parent} now", visible(version))?;
    }
    let count = report.deleted.len();
    let versions = if count == 1 { "version" } else { "versions" };
    let current = report.current.as_deref().map_or("there is none".into(), visible);
    writeln!(out, "{STRONG}{count} {versions} {done}{STRONG:#}, current: {current}")?;
    if let Some(file) = &report.file {
        Rebuilt::of(file).write(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
