//! What `delete` and `repack` tell of the file that they have written.

use std::io::Write;

use h5strata::RebuildReport;
use serde::Serialize;

/// What `--json` has of it.
#[derive(Debug, Serialize)]
pub(crate) struct Rebuilt {
    versions: u64,
    datasets: u64,
    chunks: u64,
    old_bytes: u64,
    new_bytes: u64,
}

impl Rebuilt {
    pub(crate) fn of(report: &RebuildReport) -> Self {
        let RebuildReport { versions, datasets, chunks, old_bytes, new_bytes, .. } = *report;
        Self { versions, datasets, chunks, old_bytes, new_bytes }
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Self { versions, datasets, chunks, old_bytes, new_bytes } = self;
        let counted =
            |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let has = [
            counted(*versions, "version"),
            counted(*datasets, "dataset"),
            counted(*chunks, "stored chunk"),
        ];
        writeln!(out, "{}; {old_bytes} bytes before, {new_bytes} now", has.join(", "))
    }
}
