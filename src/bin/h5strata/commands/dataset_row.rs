//! A dataset as a row of a listing.

use h5strata::store::Fill;
use h5strata::{Dataset, Version};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Reporter;
use crate::output::{Cell, tuple};
use crate::values::json;

/// What is known of a dataset. What cannot be read is `None`.
#[derive(Debug, Default, Serialize)]
pub(super) struct DatasetRow {
    shape: Option<Vec<u64>>,
    dtype: Option<String>,
    chunks: Option<Vec<u64>>,
    fill: Option<Value>,
    filters: Option<Vec<String>>,
    stored_chunks: Option<u64>,
    total_chunks: Option<u64>,
}

impl DatasetRow {
    /// Names of the columns of [`cells`](Self::cells).
    pub(super) const HEADER: [&str; 5] = ["shape", "type", "chunks", "filters", "stored"];

    /// Describes the dataset at a path, and tells of errors.
    pub(super) fn new(version: &Version, path: &str, reporter: &mut Reporter) -> Self {
        match version.dataset(path) {
            Ok(dataset) => Self::of(&dataset, reporter),
            Err(error) => {
                reporter.error(&error.into());
                Self::default()
            }
        }
    }

    fn of(dataset: &Dataset, reporter: &mut Reporter) -> Self {
        let stored = dataset.stored_chunks().map(|chunks| chunks.len() as u64);
        Self {
            shape: Some(dataset.shape().to_vec()),
            dtype: Some(dataset.dtype().to_string()),
            chunks: Some(dataset.chunk_shape().to_vec()),
            fill: Some(match dataset.fill_value() {
                Fill::Element(bytes) | Fill::String(bytes) => json(dataset.dtype(), bytes),
            }),
            filters: Some(dataset.filters().iter().map(|f| f.display_name().to_string()).collect()),
            stored_chunks: stored.map_err(|error| reporter.error(&error.into())).ok(),
            total_chunks: Some(dataset.chunk_count()),
        }
    }

    /// The fields of a table's row.
    pub(super) fn cells(&self) -> [Cell; Self::HEADER.len()] {
        let number = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let shape =
            |shape: &Option<Vec<u64>>| shape.as_deref().map_or_else(|| "?".to_owned(), tuple);
        let filters = match &self.filters {
            Some(filters) if filters.is_empty() => "-".to_owned(),
            Some(filters) => filters.join(", "),
            None => "?".to_owned(),
        };
        let stored = format!("{}/{}", number(self.stored_chunks), number(self.total_chunks));
        [
            Cell::new(&shape(&self.shape)),
            Cell::new(self.dtype.as_deref().unwrap_or("?")),
            Cell::new(&shape(&self.chunks)),
            Cell::new(&filters),
            Cell::new(&stored),
        ]
    }
}
