//! Commands that compare versions.

use std::path::PathBuf;

use clap::Args;

use super::VersionArg;

/// Show what differs between two versions
///
/// Compared are names, shapes, types, attributes, and which stored chunk stands behind each chunk: no values are read. A
/// chunk is changed too where the versions have more or less of it inside their bounds, or one of them has it not at all.
/// The exit code is 1 if there is a difference, and 0 if there is none.
#[derive(Debug, Args)]
#[command(
    after_help = "Marks: A only VERSION2 has it, D only VERSION1 has it, M both have it and not alike.\n\n\
    Examples:\n  \
    h5strata diff prices.h5 2026-10-31 2026-11-30\n  \
    h5strata diff prices.h5 @-1 @0 equity/close --values\n  \
    h5strata diff prices.h5 @-1 @0 --json | jq -r '.[].path'"
)]
pub(crate) struct Diff {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// The old version: a name, @-N or @TIME
    #[arg(value_name = "VERSION1", allow_hyphen_values = true)]
    pub(crate) old: String,
    /// The new version
    #[arg(value_name = "VERSION2", allow_hyphen_values = true)]
    pub(crate) new: String,
    /// A dataset or group in one of them [default: all]
    #[arg(value_name = "DATASET")]
    pub(crate) path: Option<String>,
    /// Read the changed chunks too, and tell how many elements differ and where
    #[arg(long)]
    pub(crate) values: bool,
    /// Print JSON: an array of {path, kind, change, old_shape, new_shape, old_dtype, new_dtype, chunks_changed,
    /// total_chunks, attributes}, and with --values {changed, start, stop, added, removed} as values
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show which version wrote each chunk of a dataset last
///
/// That is the version from which on the chunk is the same stored one, or is not stored, in each version down to the one
/// asked about. No values are read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata blame prices.h5 equity/close\n  \
    h5strata blame prices.h5 equity/close -v @-1 -s '-1, :'\n  \
    h5strata blame prices.h5 equity/close --json | jq -r '.[].version' | sort | uniq -c")]
pub(crate) struct Blame {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A dataset in the version
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) version: VersionArg,
    /// List only the chunks that hold selected elements, chosen as for `read` [default: all]
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    pub(crate) selection: Option<String>,
    /// Print JSON: an array of {chunk, start, shape, version, timestamp}
    #[arg(long)]
    pub(crate) json: bool,
}
