//! What is counted, as JSON: all sizes in bytes.

use h5strata::Stats;
use h5strata::store::{ChunkBytes, DatasetStats, VersionStats};
use serde::Serialize;

/// A file.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'s> {
    size: u64,
    chunks: Chunks,
    strings: u64,
    lists: u64,
    hash_tables: u64,
    outside: u64,
    rest: u64,
    /// Part of `chunks` and `strings`.
    orphans: Chunks,
    /// What all versions show.
    logical: u64,
    datasets: Vec<Dataset<'s>>,
    versions: Vec<Version<'s>>,
}

/// Some chunks.
#[derive(Debug, Serialize)]
struct Chunks {
    count: u64,
    bytes: u64,
}

impl From<ChunkBytes> for Chunks {
    fn from(ChunkBytes { chunks: count, bytes }: ChunkBytes) -> Self {
        Self { count, bytes }
    }
}

/// What all versions have of a dataset.
#[derive(Debug, Serialize)]
struct Dataset<'s> {
    dataset: &'s str,
    raw_data: &'s str,
    versions: u64,
    chunks: Chunks,
    strings: Option<u64>,
    lists: u64,
    hash_table: u64,
    orphans: Chunks,
    logical: u64,
    mapped: Chunks,
    ratio: Option<f64>,
    sharing: Option<f64>,
}

/// What is stored for a version.
#[derive(Debug, Serialize)]
struct Version<'s> {
    version: &'s str,
    datasets: u64,
    logical: u64,
    mapped: Chunks,
    own: Chunks,
    own_lists: u64,
    ratio: Option<f64>,
    shared: Option<f64>,
    frees: u64,
}

impl<'s> Summary<'s> {
    pub(super) fn of(stats: &'s Stats) -> Self {
        Self {
            size: stats.size,
            chunks: stats.chunks().into(),
            strings: stats.strings(),
            lists: stats.lists(),
            hash_tables: stats.hash_tables(),
            outside: stats.outside,
            rest: stats.rest(),
            orphans: stats.orphans().into(),
            logical: stats.logical(),
            datasets: stats.datasets.iter().map(Dataset::of).collect(),
            versions: stats.versions.iter().map(Version::of).collect(),
        }
    }
}

impl<'s> Dataset<'s> {
    fn of(stats: &'s DatasetStats) -> Self {
        Self {
            dataset: &stats.dataset,
            raw_data: &stats.raw_data,
            versions: stats.versions,
            chunks: stats.stored.into(),
            strings: stats.strings,
            lists: stats.lists,
            hash_table: stats.hash_table,
            orphans: stats.orphans.into(),
            logical: stats.logical,
            mapped: stats.mapped.into(),
            ratio: stats.ratio(),
            sharing: stats.sharing(),
        }
    }
}

impl<'s> Version<'s> {
    fn of(stats: &'s VersionStats) -> Self {
        Self {
            version: &stats.version,
            datasets: stats.datasets,
            logical: stats.logical,
            mapped: stats.mapped.into(),
            own: stats.own.into(),
            own_lists: stats.own_lists,
            ratio: stats.ratio(),
            shared: stats.shared(),
            frees: stats.frees(),
        }
    }
}
