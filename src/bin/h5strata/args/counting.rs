//! The command that counts bytes.

use std::path::PathBuf;

use clap::Args;

/// Show where the bytes of a file are, and what deleting each version would free
///
/// Chunks are counted as they are stored, once for all versions that share them. What is left when chunks, strings, lists of
/// mappings and hash tables are counted are HDF5's own structures and free space: a file does not tell which of it is free.
/// What a version frees is what only that version has: deleting two that share chunks frees these too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata stats prices.h5\n  \
    h5strata stats prices.h5 --all\n  \
    h5strata stats prices.h5 --json | jq -r '.versions | max_by(.frees) | .version'")]
pub(crate) struct Stats {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// List all datasets and versions, not only the largest
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Read no chunk: strings of variable length are counted among the rest then
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print one JSON object: {size, chunks, strings, lists, hash_tables, outside, rest, orphans, logical, datasets,
    /// versions}, sizes in bytes
    #[arg(long)]
    pub(crate) json: bool,
}
