//! The command that looks for damage.

use std::path::PathBuf;

use clap::Args;

/// Look for damage: read every stored chunk and compare it with its digest
///
/// Walks through all versions, their datasets and mappings, the hash tables and the stored chunks, and names what is
/// damaged by version, dataset and chunk; one bad piece does not hide another. Remarks tell of what costs space or could
/// not be compared. The exit code is 1 if there is damage, and 0 if there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata verify prices.h5\n  \
    h5strata verify prices.h5 --quick\n  \
    h5strata verify prices.h5 --json | jq -r '.findings[] | select(.severity == \"damage\") | .what'")]
pub(crate) struct Verify {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Look at structures alone, and read no chunk
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print one JSON object: {sound, quick, versions, datasets, chunks, bytes, findings}, each finding {severity, kind,
    /// what} and what it is of
    #[arg(long)]
    pub(crate) json: bool,
}
