//! Setting and deleting attributes.

use std::path::{Path, PathBuf};

use h5strata::Stage;
use h5strata::dtype::{Charset, Dtype};
use h5strata::store::{Attribute, AttributeValue};
use serde::Deserialize;
use serde_json::Value;

use super::array::{Array, Elements};
use super::dataset::{given, one_of};
use super::error::OpFault;
use super::{json, npy};

/// An attribute of an object; `""` is the version, and `null` deletes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetAttribute {
    path: String,
    name: String,
    #[serde(default, deserialize_with = "given")]
    value: Option<Value>,
    npy: Option<PathBuf>,
}

impl SetAttribute {
    /// Checks that there is one value.
    pub(super) fn checked(self) -> Result<Self, OpFault> {
        one_of(
            "\"npy\" or \"value\"",
            &[("npy", self.npy.is_some()), ("value", self.value.is_some())],
        )?;
        Ok(self)
    }

    /// Changes a stage.
    pub(super) fn apply(&self, stage: &mut Stage<'_>, folder: &Path) -> Result<(), OpFault> {
        let array = match (&self.npy, &self.value) {
            (Some(path), _) => npy::read(&folder.join(path))?,
            (None, None | Some(Value::Null)) => {
                return Ok(stage.delete_attribute(&self.path, &self.name)?);
            }
            (None, Some(value)) => json::array_of_own_type(value)
                .map_err(|source| OpFault::Value { field: "value", source })?,
        };
        Ok(stage.set_attribute(&self.path, attribute(&self.name, array))?)
    }
}

fn attribute(name: &str, array: Array) -> Attribute {
    let (dtype, value) = match array.elements {
        Elements::Fixed { dtype, bytes } => (dtype, AttributeValue::Bytes(bytes)),
        Elements::Strings(strings) => {
            (Dtype::VariableString { charset: Charset::Utf8 }, AttributeValue::Strings(strings))
        }
    };
    Attribute { name: name.to_owned(), dtype, shape: array.shape, value }
}
