//! The answers beside each file: what plain h5py and NumPy make of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::SupportError;

/// The values of a dataset in a version, as `h5strata digest` prints them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Digest {
    pub(crate) version: String,
    pub(crate) dataset: String,
    pub(crate) shape: Vec<u64>,
    /// NumPy's text of the type, `str` for variable-length strings, `compound` for compounds.
    pub(crate) dtype: String,
    /// SHA-256 of the values in C order and file byte order; strings as u64 little-endian byte length, then the bytes.
    pub(crate) sha256: String,
}

/// A selection and its answer; index arrays and masks act on each axis by itself, integers drop theirs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) version: String,
    pub(crate) dataset: String,
    /// The selection in NumPy's grammar; a mask is a list of `True` and `False`.
    pub(crate) selection: String,
    /// The same selection for callers that build it in code.
    pub(crate) axes: Vec<Axis>,
    pub(crate) shape: Vec<u64>,
    pub(crate) sha256: String,
}

/// What a selection takes of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Axis {
    Int(i64),
    /// Start, stop and step, each as NumPy takes them.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    Index(Vec<i64>),
    Mask(Vec<bool>),
    /// All axes that no other entry stands for; the value is always true.
    Ellipsis(bool),
}

/// What a file holds besides values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadata {
    pub(crate) data_version: i64,
    pub(crate) current: Option<String>,
    pub(crate) versions: Vec<VersionRow>,
    pub(crate) datasets: Vec<DatasetRow>,
}

/// A version; `parent` is `None` for a root.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionRow {
    pub(crate) version: String,
    pub(crate) parent: Option<String>,
    pub(crate) timestamp: String,
    pub(crate) current: bool,
    pub(crate) datasets: usize,
    /// Path of each group, and the user's attributes on it.
    pub(crate) groups: BTreeMap<String, Vec<AttributeRow>>,
    pub(crate) attributes: Vec<AttributeRow>,
}

/// A dataset of a version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatasetRow {
    pub(crate) version: String,
    pub(crate) path: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: String,
    pub(crate) chunks: Vec<u64>,
    pub(crate) filters: Vec<FilterRow>,
    /// Chunks that are mapped.
    pub(crate) stored_chunks: u64,
    /// Those of them whose raw chunk has a place in the file.
    pub(crate) written_chunks: u64,
    pub(crate) total_chunks: u64,
    pub(crate) attributes: Vec<AttributeRow>,
}

/// A filter of a dataset's pipeline, as HDF5 records it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterRow {
    pub(crate) id: i32,
    pub(crate) flags: u32,
    pub(crate) values: Vec<u32>,
}

/// A user's attribute; shape and digest are `None` for an attribute without a dataspace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttributeRow {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) sha256: Option<String>,
}

/// A broken file and the error it must give.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BrokenFile {
    pub(crate) file: String,
    /// What is wrong with it.
    pub(crate) broken: String,
    pub(crate) call: Call,
    pub(crate) version: Option<String>,
    pub(crate) dataset: Option<String>,
    /// Texts that the error must contain, whatever the case of letters.
    pub(crate) says: Vec<String>,
    /// Where an engine may also give the right answer: the digest of that.
    pub(crate) or_sha256: Option<String>,
}

/// The call that must fail on a broken file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Call {
    /// Opening the file.
    Open,
    /// Looking up a version.
    Version,
    /// Asking for the current version.
    Current,
    /// Asking a version for its parent.
    Parent,
    /// Walking from a version to its oldest ancestor.
    History,
    /// Asking a dataset for its shape.
    Shape,
    /// Reading a whole dataset.
    Read,
}

/// Reads one JSON document.
///
/// # Errors
/// [`SupportError::Io`] and [`SupportError::Answers`].
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, SupportError> {
    let text = fs::read_to_string(path).map_err(SupportError::io(path))?;
    serde_json::from_str(&text).map_err(|source| answers(path, source.line(), source))
}

/// Reads one JSON document a line.
///
/// # Errors
/// [`SupportError::Io`] and [`SupportError::Answers`].
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, SupportError> {
    let text = fs::read_to_string(path).map_err(SupportError::io(path))?;
    let lines = text.lines().enumerate();
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|source| answers(path, number + 1, source))
        })
        .collect()
}

fn answers(path: &Path, line: usize, source: serde_json::Error) -> SupportError {
    SupportError::Answers { path: path.to_owned(), line, source }
}
