//! The command that gives datasets other settings.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use h5strata::Dtype;
use h5strata::codec::FilterRequest;

use super::Changes;
use crate::ops;

/// Change the chunk shape, type, fill value or filters of datasets in all versions
///
/// Values, attributes, shapes and what is not named stay as they are, in every version. The file is written anew beside
/// the old one, and takes its place when it is whole: readers that have it open read on in the old one, and space that is
/// not needed any more is given back.
///
/// Values are cast as NumPy's astype does it, from numbers to numbers and from strings to strings. Elements that are the
/// old fill value, stored or not, become the new one.
#[derive(Debug, Args)]
#[command(
    override_usage = "h5strata rewrite [OPTIONS] <FILE> <DATASET>...\n       h5strata rewrite [OPTIONS] <FILE> --all",
    group = ArgGroup::new("datasets_or_all").args(["datasets", "all"]).required(true),
    group = ArgGroup::new("settings")
        .args(["chunks", "dtype", "fill", "gzip", "shuffle", "fletcher32", "filters", "no_filters"])
        .required(true)
        .multiple(true),
    after_help = "Examples:\n  \
    h5strata rewrite prices.h5 equity/close --chunks 100,100\n  \
    h5strata rewrite prices.h5 equity/close equity/open --dtype '<f4' --fill nan\n  \
    h5strata rewrite prices.h5 --all --gzip 4 --shuffle\n  \
    h5strata rewrite prices.h5 equity/close --filters '{\"blosc\": {\"codec\": \"zstd\"}}' --dry-run\n  \
    h5strata rewrite prices.h5 equity/close --no-filters --json"
)]
pub(crate) struct Rewrite {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Datasets, by their path in the versions
    #[arg(value_name = "DATASET")]
    pub(crate) datasets: Vec<String>,
    /// Change all datasets of all versions
    #[arg(long)]
    pub(crate) all: bool,
    /// Check everything and tell what would change, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object: {dry_run, rewritten, bytes_before, bytes, datasets}, each dataset {dataset, changed, before,
    /// after, versions, chunks, bytes}
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// What datasets get.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings that datasets get")]
pub(crate) struct Settings {
    /// Shape of a chunk
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub(crate) chunks: Option<Vec<u64>>,
    /// Type of the elements, as NumPy writes it
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<Dtype>,
    /// Fill value: a number, true, false, or a text
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) fill: Option<String>,
    /// Compress with gzip at a level, 0 to 9; filters that are not named here go
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) gzip: Option<u8>,
    /// Shuffle bytes before they are compressed; filters that are not named here go
    #[arg(long)]
    pub(crate) shuffle: bool,
    /// Guard chunks by a checksum; filters that are not named here go
    #[arg(long)]
    pub(crate) fletcher32: bool,
    /// All filters, as `commit --ops` takes them
    #[arg(
        long,
        value_name = "JSON",
        value_parser = ops::filter_request,
        conflicts_with_all = ["gzip", "shuffle", "fletcher32", "no_filters"]
    )]
    pub(crate) filters: Option<FilterRequest>,
    /// Take all filters away
    #[arg(long, conflicts_with_all = ["gzip", "shuffle", "fletcher32"])]
    pub(crate) no_filters: bool,
}
