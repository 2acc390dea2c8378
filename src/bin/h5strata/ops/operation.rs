//! One operation: its fields, and what it does.

use std::path::Path;

use h5strata::Stage;
use h5strata::store::EntryKind;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::attribute::SetAttribute;
use super::dataset::{Create, Write};
use super::error::OpFault;

/// An operation.
#[derive(Debug)]
pub(super) enum Operation {
    Create(Create),
    Write(Write),
    Resize(Resize),
    Delete(At),
    Rename(Move),
    Copy(Move),
    Attribute(SetAttribute),
    Group(At),
}

/// Names of operations.
const NAMES: &[&str] = &["create", "write", "resize", "delete", "rename", "copy", "attr", "group"];

/// Another shape for a dataset.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resize {
    dataset: String,
    shape: Vec<u64>,
}

/// An object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    path: String,
}

/// An object and another path for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Move {
    from: String,
    to: String,
}

impl Operation {
    /// Reads an operation.
    pub(super) fn parse(value: Value) -> Result<Self, OpFault> {
        let Value::Object(mut map) = value else { return Err(OpFault::NoObject) };
        let name = map.remove("op");
        Ok(match name.as_ref().and_then(Value::as_str) {
            Some("create") => Self::Create(fields::<Create>(map)?.checked()?),
            Some("write") => Self::Write(fields::<Write>(map)?.checked()?),
            Some("resize") => Self::Resize(fields(map)?),
            Some("delete") => Self::Delete(fields(map)?),
            Some("rename") => Self::Rename(fields(map)?),
            Some("copy") => Self::Copy(fields(map)?),
            Some("attr") => Self::Attribute(fields::<SetAttribute>(map)?.checked()?),
            Some("group") => Self::Group(fields(map)?),
            _ => return Err(OpFault::Name { known: NAMES }),
        })
    }

    /// Applies it to a stage; relative paths start from `folder`. Gives the path of a dataset that it creates.
    pub(super) fn apply(
        &self,
        stage: &mut Stage<'_>,
        folder: &Path,
    ) -> Result<Option<String>, OpFault> {
        match self {
            Self::Create(create) => return create.apply(stage, folder).map(Some),
            Self::Write(write) => write.apply(stage, folder)?,
            Self::Resize(Resize { dataset, shape }) => stage.dataset_mut(dataset)?.resize(shape)?,
            Self::Delete(At { path }) => stage.delete(path)?,
            Self::Rename(Move { from, to }) => stage.rename(from, to)?,
            Self::Copy(Move { from, to }) => stage.copy(from, to)?,
            Self::Attribute(attribute) => attribute.apply(stage, folder)?,
            // As `mkdir -p`: a group that is there will do.
            Self::Group(At { path }) if stage.kind(path) == Some(EntryKind::Group) => {}
            Self::Group(At { path }) => stage.create_group(path)?,
        }
        Ok(None)
    }
}

/// The fields of an operation. Errors name the field.
fn fields<T: DeserializeOwned>(map: Map<String, Value>) -> Result<T, OpFault> {
    serde_path_to_error::deserialize(Value::Object(map)).map_err(|error| {
        let field = error.path().to_string();
        match error.path().iter().next() {
            None => OpFault::Fields(error.into_inner()),
            Some(_) => OpFault::Field { field, source: error.into_inner() },
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_field_is_named() {
        for (operation, says) in [
            (json!(3), "not an object"),
            (json!({"path": "a"}), "\"op\""),
            (json!({"op": "remove", "path": "a"}), "\"op\": it must be one of create,"),
            (json!({"op": "delete"}), "missing field `path`"),
            (json!({"op": "delete", "path": "a", "force": true}), "unknown field `force`"),
            (json!({"op": "resize", "dataset": "a", "shape": [1, -1]}), "\"shape[1]\""),
            (json!({"op": "resize", "dataset": "a", "shape": 3}), "\"shape\""),
            (json!({"op": "create", "dataset": "a"}), "\"npy\", \"value\" or \"shape\""),
            (
                json!({"op": "create", "dataset": "a", "value": 1, "filters": {"gzp": 1}}),
                "unknown field `gzp`",
            ),
            (
                json!({"op": "create", "dataset": "a", "value": [1], "filters": {"gzip": "x"}}),
                "\"filters.gzip\"",
            ),
            (json!({"op": "create", "dataset": "a", "shape": [1]}), "\"dtype\""),
            (json!({"op": "create", "dataset": "a", "shape": [1], "dtype": "i3"}), "\"dtype\""),
            (json!({"op": "write", "dataset": "a", "select": "0:"}), "\"npy\" or \"value\""),
            (
                json!({"op": "write", "dataset": "a", "value": 1, "npy": "a.npy"}),
                "has \"npy\" and \"value\"",
            ),
            (json!({"op": "write", "dataset": "a", "select": "x", "value": 1}), "\"select\""),
            (json!({"op": "attr", "path": "a", "name": "b"}), "\"npy\" or \"value\""),
        ] {
            let error = Operation::parse(operation.clone()).unwrap_err().to_string();
            assert!(error.contains(says), "{operation}: {error}");
        }
    }
}
