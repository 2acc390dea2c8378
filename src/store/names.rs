//! Names and numbers of the versioned file format (format-v4.md).

/// The group that holds everything versioned.
pub(super) const ROOT: &str = "/_version_data";

/// The group of versions.
pub(super) const VERSIONS: &str = "/_version_data/versions";

/// The empty root of the version graph; no version of the user's.
pub(super) const FIRST_VERSION: &str = "__first_version__";

/// Name of the dataset of stored chunks.
pub(super) const RAW_DATA: &str = "raw_data";

/// Name of the dataset of digests of the stored chunks.
pub(super) const HASH_TABLE: &str = "hash_table";

/// Number of valid rows of a hash table.
pub(super) const LARGEST_INDEX: &str = "largest_index";

/// Shape of a chunk, an attribute of stored chunks and of a version's dataset.
pub(super) const CHUNKS: &str = "chunks";

/// Attributes of [`VERSIONS`].
pub(super) const CURRENT_VERSION: &str = "current_version";
/// Number of the format; absent in the first one.
pub(super) const DATA_VERSION: &str = "data_version";

/// Attributes of a version's group.
pub(super) const PREV_VERSION: &str = "prev_version";
/// Whether the version's commit was completed.
pub(super) const COMMITTED: &str = "committed";
/// When, as text in UTC.
pub(super) const TIMESTAMP: &str = "timestamp";

/// Attributes of a version's group that are the format's and not the user's.
pub(super) const VERSION_ATTRIBUTES: [&str; 3] = [PREV_VERSION, COMMITTED, TIMESTAMP];

/// Attributes of a version's dataset that are the format's and not the user's.
pub(super) const DATASET_ATTRIBUTES: [&str; 2] = [RAW_DATA, CHUNKS];

/// The format that is written.
pub(super) const NEWEST_DATA_VERSION: i64 = 4;

/// Path of the stored chunks of a dataset that was never renamed.
pub(super) fn raw_data_path(dataset: &str) -> String {
    format!("{ROOT}/{dataset}/{RAW_DATA}")
}

/// Path of the digests of the stored chunks of a dataset.
pub(super) fn hash_table_path(dataset: &str) -> String {
    format!("{ROOT}/{dataset}/{HASH_TABLE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_format() {
        assert_eq!(raw_data_path("grp/b"), "/_version_data/grp/b/raw_data");
        assert_eq!(VERSIONS, format!("{ROOT}/versions"));
    }
}
