//! A version, group or dataset that differs.

use h5strata::Dataset;
use h5strata::store::{AttributeDiff, Change, DatasetDiff, GroupDiff, ValueDiff};
use serde::Serialize;
use serde_json::Value;

use crate::values::attribute_json;

/// A row of the listing. What a group has not, or what only the other version has, is `None`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    pub(super) path: String,
    pub(super) kind: &'static str,
    pub(super) change: &'static str,
    pub(super) old_shape: Option<Vec<u64>>,
    pub(super) new_shape: Option<Vec<u64>>,
    pub(super) old_dtype: Option<String>,
    pub(super) new_dtype: Option<String>,
    /// Shapes of a chunk, where the versions have others.
    #[serde(skip)]
    pub(super) rechunked: Option<(Vec<u64>, Vec<u64>)>,
    pub(super) chunks_changed: Option<u64>,
    /// Chunks of the new version, or of the old one if the new one has none.
    pub(super) total_chunks: Option<u64>,
    pub(super) attributes: Vec<AttributeRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<ValuesRow>,
}

/// An attribute that differs.
#[derive(Debug, Serialize)]
pub(super) struct AttributeRow {
    pub(super) name: String,
    old: Option<Value>,
    new: Option<Value>,
}

/// How values differ.
#[derive(Debug, Serialize)]
pub(super) struct ValuesRow {
    pub(super) changed: u64,
    pub(super) start: Option<Vec<u64>>,
    pub(super) stop: Option<Vec<u64>>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Row {
    pub(super) fn of_version(differing: &[AttributeDiff]) -> Self {
        let attributes = attributes(differing);
        Self { kind: "version", change: name(Change::Changed), attributes, ..Self::default() }
    }

    pub(super) fn of_group(group: &GroupDiff) -> Self {
        let (path, attributes) = (group.path.clone(), attributes(&group.attributes));
        Self { path, kind: "group", change: name(group.change), attributes, ..Self::default() }
    }

    pub(super) fn of_dataset(diff: &DatasetDiff, values: Option<ValueDiff>) -> Self {
        let (old, new) = (diff.old_dataset(), diff.new_dataset());
        let shape = |side: Option<&Dataset>| side.map(|side| side.shape().to_vec());
        let dtype = |side: Option<&Dataset>| side.map(|side| side.dtype().to_string());
        Self {
            path: diff.path().to_owned(),
            kind: "dataset",
            change: name(diff.change()),
            old_shape: shape(old),
            new_shape: shape(new),
            old_dtype: dtype(old),
            new_dtype: dtype(new),
            rechunked: diff.rechunked().map(|(old, new)| (old.to_vec(), new.to_vec())),
            chunks_changed: Some(diff.chunks_changed()),
            total_chunks: new.or(old).map(Dataset::chunk_count),
            attributes: attributes(diff.attributes()),
            values: values.map(ValuesRow::from),
        }
    }
}

impl From<ValueDiff> for ValuesRow {
    fn from(values: ValueDiff) -> Self {
        let (start, stop) = match values.bounds {
            Some((start, stop)) => (Some(start.to_vec()), Some(stop.to_vec())),
            None => (None, None),
        };
        let ValueDiff { changed, added, removed, .. } = values;
        Self { changed, start, stop, added, removed }
    }
}

fn name(change: Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed => "changed",
    }
}

fn attributes(differing: &[AttributeDiff]) -> Vec<AttributeRow> {
    let row = |diff: &AttributeDiff| AttributeRow {
        name: diff.name.clone(),
        old: diff.old.as_ref().map(attribute_json),
        new: diff.new.as_ref().map(attribute_json),
    };
    differing.iter().map(row).collect()
}
