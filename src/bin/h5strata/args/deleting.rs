//! Commands that write a file anew.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::Args;

use super::rewriting::Settings;
use super::writing::{Changes, utc_time};

/// Delete versions for good, and give their space back
///
/// The file is written anew without them and takes the place of the old one when it is whole and was compared with it.
/// Nothing that only they had is left in it. Children of a deleted version become those of its nearest ancestor that is
/// left, and so does the current version. Versions that several options choose are deleted as if each were given alone;
/// but the current version is deleted only where it is named.
///
/// Who has the file open reads on in the old one.
#[derive(Debug, Args)]
#[command(
    override_usage = "h5strata delete [OPTIONS] <FILE> [VERSION]...",
    after_help = "Examples:\n  \
    h5strata delete prices.h5 r1 r2\n  \
    h5strata delete prices.h5 --keep-last 30 --dry-run\n  \
    h5strata delete prices.h5 --before 2026-01-01 --json\n  \
    h5strata delete prices.h5 --keep-every 10"
)]
pub(crate) struct Delete {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Tell what would be deleted, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Which versions are deleted.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Chosen {
    /// Versions: names, @-N or @TIME
    #[arg(value_name = "VERSION")]
    pub(crate) versions: Vec<String>,
    /// Delete all but the N latest versions
    #[arg(long, value_name = "N")]
    pub(crate) keep_last: Option<usize>,
    /// Delete the versions that are older than a time, in UTC
    #[arg(long, value_name = "TIME", value_parser = utc_time)]
    pub(crate) before: Option<DateTime<Utc>>,
    /// Keep every N-th version in order of time, from the first on, and delete those in between
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_every: Option<u32>,
}

/// Write a file anew without what no version needs
///
/// Chunks are copied as they are stored, those of each dataset in the order in which the current version reads them.
/// Chunks that no version has, versions whose commit has not ended, and freed space are left out. What was written is
/// compared with the file before it gets its name. Without OUT.h5 it takes the place of the file; who has that open
/// reads on in the old one. Settings are those of all datasets then, as `rewrite --all` gives them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata repack prices.h5\n  \
    h5strata repack prices.h5 small.h5\n  \
    h5strata repack prices.h5 small.h5 --overwrite --json\n  \
    h5strata repack prices.h5 packed.h5 --gzip 4 --shuffle")]
pub(crate) struct Repack {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// The file to write [default: in the place of FILE]
    #[arg(value_name = "OUT.h5")]
    pub(crate) out: Option<PathBuf>,
    /// Replace OUT.h5 if it is there
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(flatten)]
    pub(crate) changes: Changes,
}
