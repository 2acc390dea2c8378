/// What a commit has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitReport {
    /// Name of the version.
    pub version: String,
    /// Datasets whose values, shape or attributes are not those of the parent version, new ones included.
    pub datasets_changed: u64,
    /// Datasets that are as in the parent version.
    pub datasets_unchanged: u64,
    /// Chunks that were stored.
    pub chunks_written: u64,
    /// Changed chunks of which an equal one was stored already.
    pub chunks_reused: u64,
    /// Changed chunks that hold nothing but the fill value and are not stored.
    pub chunks_filled: u64,
    /// Bytes of the chunks that were stored, after their filters; of strings of variable length, their own bytes.
    pub bytes_written: u64,
    /// The datasets that were changed, in order of their paths.
    pub datasets: Vec<DatasetReport>,
}

/// What a commit has done with one dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetReport {
    /// Path in the version.
    pub path: String,
    /// Number of chunks of the version's dataset that are stored.
    pub chunks_stored: u64,
    /// As in [`CommitReport`].
    pub chunks_written: u64,
    /// As in [`CommitReport`].
    pub chunks_reused: u64,
    /// As in [`CommitReport`].
    pub chunks_filled: u64,
    /// As in [`CommitReport`].
    pub bytes_written: u64,
    /// Stored chunks that were found to differ from one of the same digest, and so were not used again. Only looked
    /// for if the stage was told to ([`StageOptions::verify_reused`](crate::StageOptions::verify_reused)).
    pub chunks_mismatched: Vec<u64>,
}

impl CommitReport {
    pub(super) fn add(&mut self, dataset: DatasetReport) {
        self.datasets_changed += 1;
        self.chunks_written += dataset.chunks_written;
        self.chunks_reused += dataset.chunks_reused;
        self.chunks_filled += dataset.chunks_filled;
        self.bytes_written += dataset.bytes_written;
        self.datasets.push(dataset);
    }
}
