//! Creating datasets and writing to them.

use std::path::{Path, PathBuf};

use h5strata::dtype::{Charset, Dtype};
use h5strata::store::DatasetBuilder;
use h5strata::{Selection, Stage};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::array::{Array, Elements};
use super::error::OpFault;
use super::filters::Filters;
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
        let selection = self.selection()?;
        match values(self.npy.as_deref(), self.value.as_ref(), Some(&dtype), folder)? {
            Some(Array { shape, elements: Elements::Fixed { bytes, .. } }) => {
                dataset.write_bytes(selection, &bytes, &shape)?;
            }
            Some(Array { shape, elements: Elements::Strings(strings) }) => {
                dataset.write_strings(selection, &strings, &shape)?;
            }
            None => {}
        }
        Ok(())
    }
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
