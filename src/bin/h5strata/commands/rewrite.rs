//! `h5strata rewrite`: other settings for datasets, in all versions.

use std::io::Write;

use h5strata::RewriteReport;
use h5strata::store::{DatasetSettings, RewrittenDataset};
use serde::Serialize;
use serde_json::Value;

use super::settings;
use crate::args::{Global, Rewrite};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, STRONG, Steps, tuple, visible};
use crate::values::json;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Summary<'r> {
    dry_run: bool,
    rewritten: bool,
    bytes_before: u64,
    bytes: u64,
    datasets: Vec<Row<'r>>,
}

/// A dataset.
#[derive(Debug, Serialize)]
struct Row<'r> {
    dataset: &'r str,
    changed: bool,
    before: Settings,
    after: Settings,
    versions: u64,
    chunks: u64,
    bytes: u64,
}

/// What its chunks are made of.
#[derive(Debug, Serialize)]
struct Settings {
    dtype: String,
    chunks: Vec<u64>,
    fill: Value,
    filters: Vec<String>,
}

pub(crate) fn run(args: &Rewrite, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let mut file = match args.dry_run {
        true => lookup::open(&args.file, global, reporter)?,
        false => lookup::open_rw(&args.file, global, &args.changes, reporter)?,
    };
    let steps = Steps::default();
    let options = settings::options(&args.settings).unwrap_or_default();
    let options = options.dry_run(args.dry_run).on_progress(steps.listener());
    let report =
        if args.all { file.rewrite_all(&options) } else { file.rewrite(&args.datasets, &options) };
    steps.end();
    print(args, &report?)
}

impl<'r> Row<'r> {
    fn new(dataset: &'r RewrittenDataset) -> Self {
        Self {
            dataset: &dataset.path,
            changed: dataset.is_changed(),
            before: Settings::new(&dataset.before),
            after: Settings::new(&dataset.after),
            versions: dataset.versions,
            chunks: dataset.chunks,
            bytes: dataset.bytes,
        }
    }
}

impl Settings {
    fn new(settings: &DatasetSettings) -> Self {
        let filters = settings.filters.iter().map(|filter| filter.display_name().to_string());
        Self {
            dtype: settings.dtype.to_string(),
            chunks: settings.chunk_shape.to_vec(),
            fill: json(&settings.dtype, settings.fill.as_bytes()),
            filters: filters.collect(),
        }
    }

    /// Each property's name and text.
    fn texts(&self) -> [(&'static str, String); 4] {
        let filters =
            if self.filters.is_empty() { "none".to_owned() } else { self.filters.join(", ") };
        [
            ("type", self.dtype.clone()),
            ("chunks", tuple(&self.chunks)),
            ("fill", self.fill.to_string()),
            ("filters", filters),
        ]
    }
}

fn print(args: &Rewrite, report: &RewriteReport) -> Result<(), Failure> {
    let mut out = output::screen();
    let datasets: Vec<Row<'_>> = report.datasets.iter().map(Row::new).collect();
    let RewriteReport { rewritten, bytes_before, bytes, .. } = *report;
    if args.json {
        let dry_run = args.dry_run;
        let summary = Summary { dry_run, rewritten, bytes_before, bytes, datasets };
        serde_json::to_writer_pretty(&mut out, &summary).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for row in &datasets {
            write_row(&mut out, row, rewritten)?;
        }
        match (rewritten, args.dry_run) {
            (true, _) => {
                writeln!(out, "{STRONG}rewritten{STRONG:#}: {bytes_before} -> {bytes} bytes")?
            }
            (false, true) => writeln!(out, "{STRONG}nothing was written{STRONG:#}")?,
            (false, false) => writeln!(out, "{STRONG}nothing to change{STRONG:#}")?,
        }
    }
    out.flush()?;
    Ok(())
}

fn write_row(out: &mut impl Write, row: &Row<'_>, rewritten: bool) -> std::io::Result<()> {
    let pairs = row.before.texts().into_iter().zip(row.after.texts());
    let changes = pairs
        .filter(|(before, after)| before != after)
        .map(|((name, before), (_, after))| format!("{name} {before} -> {after}"));
    let mut text = changes.collect::<Vec<_>>().join("; ");
    if text.is_empty() {
        "as it is".clone_into(&mut text);
    } else if rewritten {
        let [versions, chunks] = [(row.versions, "version"), (row.chunks, "chunk")]
            .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
        text += &format!("; {versions}, {chunks}, {} bytes", row.bytes);
    }
    writeln!(out, "{}: {}", visible(row.dataset), visible(&text))
}
