//! What a commit has done, as text and JSON.

use std::io::{self, Write};

use h5strata::store::CommitReport;
use h5strata::{NotCarried, chunking};
use serde::Serialize;

use crate::failure::Reporter;
use crate::output::{self, Cell, STRONG, Table, visible};

/// What a commit has done.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    version: String,
    parent: Option<String>,
    current: bool,
    datasets_changed: u64,
    datasets_unchanged: u64,
    #[serde(flatten)]
    chunks: Chunks,
    datasets: Vec<Dataset>,
    advice: Vec<Advice>,
    not_carried: Vec<Left>,
}

/// What of a snapshot was left behind.
#[derive(Debug, Serialize)]
struct Left {
    path: String,
    attribute: Option<String>,
    reason: String,
    #[serde(skip)]
    message: String,
}

/// What became of changed chunks.
#[derive(Debug, Serialize)]
struct Chunks {
    chunks_written: u64,
    chunks_reused: u64,
    chunks_filled: u64,
    bytes_written: u64,
}

/// A dataset that was changed.
#[derive(Debug, Serialize)]
struct Dataset {
    path: String,
    #[serde(flatten)]
    chunks: Chunks,
    chunks_stored: u64,
    chunks_mismatched: Vec<u64>,
}

/// A better chunk shape for a new dataset.
#[derive(Debug, Serialize)]
pub(super) struct Advice {
    dataset: String,
    chunks: Vec<u64>,
    better: Vec<u64>,
    message: String,
}

impl Advice {
    pub(super) fn new(dataset: &str, advice: &chunking::Advice) -> Self {
        Self {
            dataset: dataset.to_owned(),
            chunks: advice.chunk_shape.to_vec(),
            better: advice.better.to_vec(),
            message: advice.to_string(),
        }
    }
}

impl Report {
    pub(super) fn new(
        report: CommitReport,
        parent: Option<String>,
        current: bool,
        advice: Vec<Advice>,
        not_carried: &[NotCarried],
    ) -> Self {
        let not_carried = not_carried.iter().map(|left| Left {
            path: left.path.clone(),
            attribute: left.attribute.clone(),
            reason: left.reason.to_string(),
            message: left.to_string(),
        });
        let datasets = report.datasets.into_iter().map(|dataset| Dataset {
            path: dataset.path,
            chunks: Chunks {
                chunks_written: dataset.chunks_written,
                chunks_reused: dataset.chunks_reused,
                chunks_filled: dataset.chunks_filled,
                bytes_written: dataset.bytes_written,
            },
            chunks_stored: dataset.chunks_stored,
            chunks_mismatched: dataset.chunks_mismatched,
        });
        Self {
            version: report.version,
            parent,
            current,
            datasets_changed: report.datasets_changed,
            datasets_unchanged: report.datasets_unchanged,
            chunks: Chunks {
                chunks_written: report.chunks_written,
                chunks_reused: report.chunks_reused,
                chunks_filled: report.chunks_filled,
                bytes_written: report.bytes_written,
            },
            datasets: datasets.collect(),
            advice,
            not_carried: not_carried.collect(),
        }
    }

    /// Tells of what was left behind, and of stored chunks that are not what their digests say.
    pub(super) fn warn(&self, reporter: &Reporter) {
        for left in &self.not_carried {
            reporter.warning(&format_args!("not carried: {}", left.message));
        }
        for dataset in &self.datasets {
            for chunk in &dataset.chunks_mismatched {
                reporter.warning(&format_args!(
                    "dataset {:?}: stored chunk {chunk} does not hold what its digest says: it was not used again",
                    dataset.path
                ));
            }
        }
    }

    /// Writes it to standard output.
    pub(super) fn print(&self, json: bool) -> io::Result<()> {
        let mut out = output::screen();
        if json {
            serde_json::to_writer_pretty(&mut out, self)?;
            writeln!(out)?;
        } else {
            self.write(&mut out)?;
        }
        out.flush()
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { chunks, .. } = self;
        let parent = self.parent.as_deref().unwrap_or("-");
        let mark = if self.current { " (current)" } else { "" };
        writeln!(out, "version {STRONG}{}{STRONG:#}{mark}", visible(&self.version))?;
        let mut facts = Table::default();
        let mut fact = |name, text: &str| facts.push([Cell::new(name), Cell::new(text)]);
        fact("parent", parent);
        fact(
            "datasets",
            &format!("{} changed, {} unchanged", self.datasets_changed, self.datasets_unchanged),
        );
        fact(
            "chunks",
            &format!(
                "{} written, {} reused, {} filled",
                chunks.chunks_written, chunks.chunks_reused, chunks.chunks_filled
            ),
        );
        fact("bytes", &format!("{} written", chunks.bytes_written));
        facts.write(out, 0)?;
        if self.datasets.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let mut table =
            Table::with_header(&["dataset", "written", "reused", "filled", "bytes", "stored"]);
        for Dataset { path, chunks, chunks_stored, .. } in &self.datasets {
            let numbers = [
                chunks.chunks_written,
                chunks.chunks_reused,
                chunks.chunks_filled,
                chunks.bytes_written,
                *chunks_stored,
            ];
            let numbers = numbers.iter().map(|number| Cell::new(&number.to_string()));
            table.push(std::iter::once(Cell::new(path)).chain(numbers));
        }
        table.write(out, 0)
    }
}
