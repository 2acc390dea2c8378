/// What a new file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RebuildReport {
    /// Number of versions.
    pub versions: u64,
    /// Number of datasets, each counted once for all of its versions.
    pub datasets: u64,
    /// Number of stored chunks.
    pub chunks: u64,
    /// Bytes of the old file.
    pub old_bytes: u64,
    /// Bytes of the new file.
    pub new_bytes: u64,
}
