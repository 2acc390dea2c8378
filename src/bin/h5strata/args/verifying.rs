//! The commands that look for damage, and put right what others have left.

use std::path::PathBuf;

use clap::Args;

use super::Changes;

/// Look for damage: read every stored chunk and compare it with its digest
///
/// Walks through all versions, their datasets and mappings, the hash tables and the stored chunks, and names what is
/// damaged by version, dataset and chunk; one bad piece does not hide another. Remarks tell of what costs space or could
/// not be compared. The exit code is 1 if there is damage, and 0 if there is none.
///
/// With --repair what can be put right without losing anything is, all of it or nothing, and the rest is named: hash
/// tables that are missing, wrong or too short are made anew from the chunks; a current version that does not exist becomes
/// the newest one; versions that were never committed, and chunks and bytes that stopped writers have left, are dropped.
/// A chunk that does not fit its digest stays damaged, unless one of its filters has checked it: nobody can tell which of
/// the two is wrong.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata verify prices.h5\n  \
    h5strata verify prices.h5 --quick\n  \
    h5strata verify prices.h5 --repair\n  \
    h5strata verify prices.h5 --json | jq -r '.findings[] | select(.severity == \"damage\") | .what'")]
pub(crate) struct Verify {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Look at structures alone, and read no chunk
    #[arg(long)]
    pub(crate) quick: bool,
    /// Put right what can be without losing anything
    #[arg(long, conflicts_with = "quick")]
    pub(crate) repair: bool,
    /// Take chunks as they are where they do not fit their digests, so that they are damaged no more
    #[arg(long, requires = "repair")]
    pub(crate) accept_chunks: bool,
    /// Print one JSON object: {sound, quick, versions, datasets, chunks, bytes, findings}, each finding {severity, kind,
    /// what} and what it is of; with --repair also {upgraded_from, repairs}, each repair {kind, what} and what it is of
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Make a file of an older format one of the newest, so that it can be committed to
///
/// Files of data_version 1 are upgraded as well when something is committed to them. Those of 2 and 3 have wrong hash
/// tables: with --rebuild-hashes they get new ones. What their versions hold stays as it is, and may be wrong: a version
/// that was committed after a wrong table was made can hold chunks of other data, and nothing tells which. Only a
/// comparison with the sources of the data does.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata upgrade old.h5\n  \
    h5strata upgrade old.h5 --rebuild-hashes --json")]
pub(crate) struct Upgrade {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Upgrade files of data_version 2 and 3 too, whose versions may hold wrong chunks
    #[arg(long)]
    pub(crate) rebuild_hashes: bool,
    /// Print one JSON object: {from, to, tables}, each table that was made anew {raw_data, rows, digests}
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}
