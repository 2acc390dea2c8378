//! A finding as a JSON object.

use h5strata::store::{ChunkUse, Finding, Severity, StoredChunks};
use serde::Serialize;

/// What is known of a finding. What it has not is left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row<'f> {
    severity: &'static str,
    kind: &'static str,
    /// The finding in one line.
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'f str>,
    /// Of a version: a group, dataset or other object.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<&'f [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_data: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_chunk: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Where versions use the raw chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<Vec<Use<'f>>>,
}

/// Versions that have a raw chunk in the same place.
#[derive(Debug, Serialize)]
struct Use<'f> {
    dataset: &'f str,
    chunk: &'f [u64],
    versions: Vec<&'f str>,
    more_versions: u64,
}

impl<'f> From<&'f ChunkUse> for Use<'f> {
    fn from(place: &'f ChunkUse) -> Self {
        let versions = place.versions.iter().map(|version| &**version).collect();
        let (chunk, more_versions) = (&*place.chunk, place.more_versions);
        Self { dataset: &place.dataset, chunk, versions, more_versions }
    }
}

impl<'f> Row<'f> {
    pub(super) fn of(finding: &'f Finding) -> Self {
        let severity = match finding.severity() {
            Severity::Damage => "damage",
            Severity::Remark => "remark",
        };
        Self { severity, what: finding.to_string(), ..Self::pieces(finding) }
    }

    fn pieces(finding: &'f Finding) -> Self {
        match finding {
            Finding::CurrentVersion { .. } => Self::kind("current-version"),
            Finding::Version { version, .. } => {
                Self { version: Some(version), ..Self::kind("version") }
            }
            Finding::Object { version, path, .. } => {
                Self { version: Some(version), path: Some(path), ..Self::kind("object") }
            }
            Finding::Dataset { version, dataset, .. } => {
                Self { version: Some(version), path: Some(dataset), ..Self::kind("dataset") }
            }
            Finding::Mapping { version, dataset, chunk, .. } => Self {
                version: Some(version),
                path: Some(dataset),
                chunk: Some(chunk),
                ..Self::kind("mapping")
            },
            Finding::RawData { raw_data, .. } => Self::of_raw_data("raw-data", raw_data),
            Finding::HashTable { raw_data, .. } => Self::of_raw_data("hash-table", raw_data),
            Finding::Row { raw_data, row, .. } => {
                Self { row: Some(*row), ..Self::of_raw_data("row", raw_data) }
            }
            Finding::LargestIndex { raw_data, last, .. } => {
                Self { raw_chunk: Some(last.0), ..Self::of_raw_data("largest-index", raw_data) }
            }
            Finding::Chunk { raw_data, raw, uses, .. } => Self {
                raw_chunk: Some(raw.0),
                uses: Some(uses.iter().map(Use::from).collect()),
                ..Self::of_raw_data("chunk", raw_data)
            },
            Finding::NotCommitted { version } => {
                Self { version: Some(version), ..Self::kind("not-committed") }
            }
            Finding::Tail { bytes } => Self { bytes: Some(*bytes), ..Self::kind("tail") },
            Finding::OtherHashes { .. } => Self::kind("other-hashes"),
            Finding::Orphans(chunks) => Self::of_chunks("orphans", chunks),
            Finding::Leftovers(chunks) => Self::of_chunks("leftovers", chunks),
            Finding::Duplicates(chunks) => Self::of_chunks("duplicates", chunks),
            Finding::WithoutDigest(chunks) => Self::of_chunks("without-digest", chunks),
            Finding::Unproven(chunks) => Self::of_chunks("unproven", chunks),
            Finding::Inexact(chunks) => Self::of_chunks("inexact", chunks),
            Finding::Padding(chunks) => Self::of_chunks("padding", chunks),
            Finding::NoFilter { chunks, .. } => Self::of_chunks("no-filter", chunks),
            Finding::Pointers { raw_data, .. } => Self::of_raw_data("pointers", raw_data),
            _ => Self::kind("other"),
        }
    }

    fn kind(kind: &'static str) -> Self {
        Self { kind, ..Self::default() }
    }

    fn of_raw_data(kind: &'static str, raw_data: &'f str) -> Self {
        Self { raw_data: Some(raw_data), ..Self::kind(kind) }
    }

    fn of_chunks(kind: &'static str, some: &'f StoredChunks) -> Self {
        let StoredChunks { raw_data, chunks, bytes, first } = some;
        Self {
            chunks: Some(*chunks),
            bytes: Some(*bytes),
            raw_chunk: Some(first.0),
            ..Self::of_raw_data(kind, raw_data)
        }
    }
}
