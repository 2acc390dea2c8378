//! Creating datasets and writing to them.

use std::io::Read;
use std::path::{Path, PathBuf};

use h5strata::dtype::{Charset, Dtype};
use h5strata::selection::AxisSelection;
use h5strata::store::{DatasetBuilder, StagedDataset};
use h5strata::{Selection, Stage};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::array::{Array, Elements};
use super::error::OpFault;
use super::filters::Filters;
use super::npy::Npy;
use super::{json, npy};

/// A new dataset: with values, or with a shape and nothing but its fill value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    dataset: String,
    npy: Option<PathBuf>,
    #[serde(default, deserialize_with = "given")]
    value: Option<Value>,
    shape: Option<Vec<u64>>,
    dtype: Option<String>,
    #[serde(default, deserialize_with = "given")]
    fill: Option<Value>,
    chunks: Option<Vec<u64>>,
    filters: Option<Filters>,
}

impl Create {
    /// Checks what fields say together.
    pub(super) fn checked(self) -> Result<Self, OpFault> {
        one_of(
            "\"npy\", \"value\" or \"shape\"",
            &[
                ("npy", self.npy.is_some()),
                ("value", self.value.is_some()),
                ("shape", self.shape.is_some()),
            ],
        )?;
        if self.shape.is_some() && self.dtype.is_none() {
            return Err(OpFault::Without { field: "shape", with: "dtype" });
        }
        self.dtype()?;
        if let Some(filters) = &self.filters {
            filters.request()?;
        }
        Ok(self)
    }

    fn dtype(&self) -> Result<Option<Dtype>, OpFault> {
        Ok(self.dtype.as_deref().map(str::parse).transpose()?)
    }

    /// Changes a stage; gives the path of the dataset.
    pub(super) fn apply(&self, stage: &mut Stage<'_>, folder: &Path) -> Result<String, OpFault> {
        let dtype = self.dtype()?;
        let array = values(self.npy.as_deref(), self.value.as_ref(), dtype.as_ref(), folder)?;
        let builder = stage.create_dataset(&self.dataset);
        let dataset = match (array, dtype, &self.shape) {
            (Some(Array { shape, elements: Elements::Fixed { dtype, bytes } }), ..) => {
                self.configure(builder, &dtype)?.bytes(dtype, &shape, bytes)?
            }
            (Some(Array { shape, elements: Elements::Strings(strings) }), ..) => {
                let dtype = Dtype::VariableString { charset: Charset::Utf8 };
                self.configure(builder, &dtype)?.strings(&shape, &strings)?
            }
            (None, Some(dtype), Some(shape)) => {
                self.configure(builder, &dtype)?.empty(dtype, shape)?
            }
            (None, ..) => return Err(OpFault::Without { field: "shape", with: "dtype" }),
        };
        Ok(dataset.path().to_owned())
    }

    /// Chunk shape, fill value and filters.
    fn configure<'s, 'f>(
        &self,
        mut builder: DatasetBuilder<'s, 'f>,
        dtype: &Dtype,
    ) -> Result<DatasetBuilder<'s, 'f>, OpFault> {
        if let Some(chunks) = &self.chunks {
            builder = builder.chunks(chunks);
        }
        if let Some(filters) = &self.filters {
            builder = builder.filters(filters.request()?);
        }
        if let Some(fill) = &self.fill {
            let fill = json::element(fill, dtype);
            builder =
                builder.fill(&fill.map_err(|source| OpFault::Value { field: "fill", source })?);
        }
        Ok(builder)
    }
}

/// New values for selected elements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    dataset: String,
    select: Option<String>,
    npy: Option<PathBuf>,
    #[serde(default, deserialize_with = "given")]
    value: Option<Value>,
}

impl Write {
    /// Checks what fields say together.
    pub(super) fn checked(self) -> Result<Self, OpFault> {
        one_of(
            "\"npy\" or \"value\"",
            &[("npy", self.npy.is_some()), ("value", self.value.is_some())],
        )?;
        self.selection()?;
        Ok(self)
    }

    fn selection(&self) -> Result<Selection, OpFault> {
        Ok(self.select.as_deref().map_or_else(|| Ok(Selection::all()), str::parse)?)
    }

    /// Changes a stage.
    pub(super) fn apply(&self, stage: &mut Stage<'_>, folder: &Path) -> Result<(), OpFault> {
        let mut dataset = stage.dataset_mut(&self.dataset)?;
        let dtype = dataset.dtype().clone();
        if let (Some(path), None) = (&self.npy, &self.select) {
            let path = folder.join(path);
            let npy = Npy::open(&path)?;
            if npy.has_rows() && npy.shape() == dataset.shape() {
                return write_rows(&mut dataset, npy, &path);
            }
        }
        match values(self.npy.as_deref(), self.value.as_ref(), Some(&dtype), folder)? {
            Some(array) => write(&mut dataset, self.selection()?, array),
            None => Ok(()),
        }
    }
}

/// Writes a file that has the shape of the dataset a piece at a time, of a row of chunks at least: beside the staged
/// chunks that it is copied to there is no second one of it in memory.
fn write_rows(
    dataset: &mut StagedDataset<'_>,
    mut npy: Npy<impl Read>,
    path: &Path,
) -> Result<(), OpFault> {
    let dtype = dataset.dtype().clone();
    let rows = dataset.shape().first().copied().unwrap_or(0);
    let chunk_rows = dataset.chunk_shape().first().copied().unwrap_or(1);
    let chunk_row_bytes = npy.row_bytes().saturating_mul(chunk_rows).max(1);
    let slab = (npy::PIECE_BYTES / chunk_row_bytes).max(1).saturating_mul(chunk_rows);
    let mut start: u64 = 0;
    // At least once: values of a wrong type are refused even if there are none.
    loop {
        let stop = start.saturating_add(slab).min(rows);
        let array = npy.rows(stop - start).map_err(npy::fault(path))?;
        let array = array.cast(&dtype).map_err(|source| OpFault::Value { field: "npy", source })?;
        write(dataset, rows_selection(start, stop), array)?;
        if stop == rows {
            return Ok(());
        }
        start = stop;
    }
}

/// Selects indices of the first axis. Those of datasets that exist are below `i64::MAX`.
fn rows_selection(start: u64, stop: u64) -> Selection {
    let bound = |value: u64| i64::try_from(value).ok();
    Selection::axes([AxisSelection::Slice { start: bound(start), stop: bound(stop), step: 1 }])
}

/// Writes an array of the dataset's type.
fn write(
    dataset: &mut StagedDataset<'_>,
    selection: Selection,
    array: Array,
) -> Result<(), OpFault> {
    let Array { shape, elements } = array;
    let written = match elements {
        Elements::Fixed { bytes, .. } => dataset.write_bytes(selection, &bytes, &shape),
        Elements::Strings(strings) => dataset.write_strings(selection, &strings, &shape),
    };
    Ok(written?)
}

/// Values from a file or from JSON, as `dtype` if one is given.
fn values(
    npy: Option<&Path>,
    value: Option<&Value>,
    dtype: Option<&Dtype>,
    folder: &Path,
) -> Result<Option<Array>, OpFault> {
    let (field, array) = match (npy, value) {
        (Some(path), _) => {
            let array = npy::read(&folder.join(path))?;
            ("npy", if let Some(dtype) = dtype { array.cast(dtype) } else { Ok(array) })
        }
        (None, Some(value)) => {
            let own = || json::array_of_own_type(value);
            ("value", dtype.map_or_else(own, |dtype| json::array(value, dtype)))
        }
        (None, None) => return Ok(None),
    };
    array.map(Some).map_err(|source| OpFault::Value { field, source })
}

/// Checks that one of some fields is there.
pub(super) fn one_of(wanted: &'static str, fields: &[(&str, bool)]) -> Result<(), OpFault> {
    let found: Vec<String> =
        fields.iter().filter(|(_, is)| *is).map(|(name, _)| format!("{name:?}")).collect();
    match found.len() {
        1 => Ok(()),
        0 => Err(OpFault::OneOf { wanted, found: "none".to_owned() }),
        _ => Err(OpFault::OneOf { wanted, found: found.join(" and ") }),
    }
}

/// A field that is there, `null` too.
pub(super) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
