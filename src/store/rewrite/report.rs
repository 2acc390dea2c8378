use super::settings::Change;
use crate::codec::Filter;
use crate::dims::Dims;
use crate::dtype::Dtype;
use crate::store::storage::Fill;

/// What a rewrite has done, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteReport {
    /// Whether the file was written anew: not if nothing was to be changed.
    pub rewritten: bool,
    /// The datasets that were named, in order of their paths.
    pub datasets: Vec<RewrittenDataset>,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the file after.
    pub bytes: u64,
}

/// What a rewrite has done with one dataset, or would do. All numbers are 0 if its settings stay as they are, or nothing
/// is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewrittenDataset {
    /// Path in the versions.
    pub path: String,
    /// The settings that it had.
    pub before: DatasetSettings,
    /// The settings that it has.
    pub after: DatasetSettings,
    /// Number of versions that it is in.
    pub versions: u64,
    /// Number of chunks that are stored now, of all versions together.
    pub chunks: u64,
    /// Bytes of these chunks, after their filters; of strings of variable length, their own bytes.
    pub bytes: u64,
}

/// What the stored chunks of a dataset are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatasetSettings {
    /// Type of the elements.
    pub dtype: Dtype,
    /// Shape of a chunk in elements.
    pub chunk_shape: Dims,
    /// What stands where nothing is stored.
    pub fill: Fill,
    /// The filters, in the order they are applied when writing.
    pub filters: Vec<Filter>,
}

impl RewrittenDataset {
    /// Of a dataset of which nothing is written yet.
    pub(super) fn new(path: &str, change: &Change) -> Self {
        let settings = |settings: &crate::store::stage::Settings| DatasetSettings {
            dtype: settings.dtype.clone(),
            chunk_shape: settings.chunk_shape.clone(),
            fill: settings.fill.clone(),
            filters: settings.filters.clone(),
        };
        let (before, after) = (settings(&change.old), settings(&change.new));
        Self { path: path.to_owned(), before, after, versions: 0, chunks: 0, bytes: 0 }
    }

    /// Whether any of its settings is another one.
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }
}
