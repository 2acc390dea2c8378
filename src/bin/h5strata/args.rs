//! What can be written on the command line.

mod comparing;
mod counting;
mod deleting;
mod rewriting;
mod verifying;
mod writing;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::comparing::{Blame, Diff};
pub(crate) use self::counting::Stats;
pub(crate) use self::deleting::{Delete, Repack};
pub(crate) use self::rewriting::{Rewrite, Settings};
pub(crate) use self::verifying::{Upgrade, Verify};
pub(crate) use self::writing::{
    Changes, Commit, DurabilityChoice, Export, Init, Recover, SetCurrent,
};

/// Lists, reads and commits versioned arrays in HDF5 files.
#[derive(Debug, Parser)]
#[command(
    name = "h5strata",
    version,
    max_term_width = 100,
    after_help = "A VERSION is a name, @-N for N back from the current version, or @TIME for the version that was \
                  the latest at a time.\n\n\
                  Exit codes: 0 done, 1 a difference or damage was found, 2 error.\n\n\
                  Examples:\n  \
                  h5strata log prices.h5\n  \
                  h5strata ls prices.h5 -v 2026-11-30\n  \
                  h5strata read prices.h5 equity/close -s '-250:, ::7'"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How files are opened.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Threads that decode and copy [default: one a core]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Read files of data_version 2 and 3 too, which may give wrong values
    ///
    /// The hash tables of these formats are wrong for strings of variable length: a version that was
    /// committed after such a table was made may hold chunks of other data, and nothing tells which.
    #[arg(long, global = true)]
    pub(crate) accept_wrong_hashes: bool,
    /// How stored chunks are read
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = RawPathChoice::Auto,
        hide_short_help = true,
        value_name = "WAY"
    )]
    pub(crate) raw_path: RawPathChoice,
}

/// How stored chunks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawPathChoice {
    /// Straight from the file where that is possible
    Auto,
    /// By libhdf5
    Library,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Log(Log),
    Ls(Ls),
    Info(Info),
    Read(Read),
    Digest(Digest),
    Diff(Diff),
    Blame(Blame),
    Verify(Verify),
    Stats(Stats),
    Init(Init),
    Commit(Commit),
    SetCurrent(SetCurrent),
    Delete(Delete),
    Repack(Repack),
    Rewrite(Rewrite),
    Recover(Recover),
    Upgrade(Upgrade),
    Export(Export),
}

/// Show the versions of a file, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata log prices.h5\n  \
    h5strata log prices.h5 --json | jq -r '.[] | select(.current) | .version'")]
pub(crate) struct Log {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Print JSON: an array of {version, parent, timestamp, current, datasets}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what a version holds: groups and datasets
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata ls prices.h5\n  \
    h5strata ls prices.h5 -v @-2 equity\n  \
    h5strata ls prices.h5 -v @2026-11-30T12:00:00Z --json")]
pub(crate) struct Ls {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A group or dataset in the version [default: all]
    pub(crate) path: Option<String>,
    #[command(flatten)]
    pub(crate) version: VersionArg,
    /// Print JSON: an array of {path, kind, shape, dtype, chunks, fill, filters, stored_chunks, total_chunks}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show everything known of a file, of a version, or of a group or dataset in it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata info prices.h5\n  \
    h5strata info prices.h5 -v @0\n  \
    h5strata info prices.h5 equity/close -v @-1\n  \
    h5strata info prices.h5 equity/close --chunks --json\n  \
    h5strata info prices.h5 equity/close --chunks -s '-250:, ::7'")]
pub(crate) struct Info {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A group or dataset in the version [default: the version; without VERSION, the file]
    #[arg(value_name = "DATASET")]
    pub(crate) path: Option<String>,
    #[command(flatten)]
    pub(crate) version: VersionArg,
    /// List each stored chunk too: where it belongs, where it is in the file, its size and filter mask
    #[arg(long, requires = "path")]
    pub(crate) chunks: bool,
    /// List only the stored chunks that hold selected elements, chosen as for `read`
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true, requires = "chunks")]
    pub(crate) selection: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read a selection of a dataset as text, .npy, .csv or bytes
#[derive(Debug, Args)]
#[command(
    after_help = "Selections are written as in NumPy. Each axis chooses for itself: an index, a slice, a \
    list of indices, or a list of True and False.\n\n\
    Examples:\n  \
    h5strata read prices.h5 equity/close -s '-250:, ::7'\n  \
    h5strata read prices.h5 equity/close -s '[1,5,9], ...' --full\n  \
    h5strata read prices.h5 equity/close -v @-2 -o old.npy\n  \
    h5strata read prices.h5 equity/close -s '0:100, 3' -o column.csv\n  \
    h5strata read prices.h5 equity/close --format raw | sha256sum"
)]
pub(crate) struct Read {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A dataset in the version
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) version: VersionArg,
    /// What to read, as NumPy writes it between brackets [default: everything]
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    pub(crate) selection: Option<String>,
    /// Write to a file; its ending chooses the format (.npy, .csv, .txt, .raw, .bin)
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the output [default: by the ending of OUT, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print all elements as text, not only the edges of large arrays
    #[arg(long)]
    pub(crate) full: bool,
}

/// Format of the elements that `read` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As NumPy prints an array
    Text,
    /// NumPy's file format; strings of variable length become <U of the longest
    Npy,
    /// One axis: a value a line; two: a row a line; more: the indices and the value a line
    Csv,
    /// Bytes in C order and file byte order; strings of variable length as u64 little-endian length and bytes
    Raw,
}

/// Print the SHA-256 of every dataset in every version, oldest version first
///
/// Digested are the values in C order and file byte order; of strings of variable length each one's
/// length in bytes as u64 little-endian, then its bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata digest prices.h5 --json\n  \
    h5strata digest prices.h5 -v @0\n  \
    diff <(h5strata digest a.h5 --json) <(h5strata digest b.h5 --json)")]
pub(crate) struct Digest {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) version: VersionArg,
    /// Print JSON lines, {version, dataset, shape, dtype, sha256}, on a terminal too
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which version.
#[derive(Debug, Args)]
pub(crate) struct VersionArg {
    /// A version's name, @-N or @TIME [default: the current version; for digest: all]
    #[arg(short = 'v', long = "version", value_name = "VERSION", action = ArgAction::Set, allow_hyphen_values = true)]
    pub(crate) version: Option<String>,
}

impl VersionArg {
    /// A version that must be named.
    pub(crate) fn named(version: &str) -> Self {
        Self { version: Some(version.to_owned()) }
    }
}
