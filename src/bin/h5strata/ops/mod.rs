//! The content of a new version as a list of operations in JSON.
//!
//! The whole list is checked before the first operation is applied.

mod array;
mod attribute;
mod dataset;
mod error;
mod filters;
mod json;
mod npy;
mod npy_type;
mod operation;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use h5strata::Stage;
use h5strata::codec::FilterRequest;
use serde_json::Value;

pub(crate) use self::error::OpsError;
use self::error::Origin;
use self::filters::Filters;
use self::operation::Operation;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// Operations in their order.
#[derive(Debug)]
pub(crate) struct Operations {
    origin: Origin,
    /// What relative paths start from.
    folder: PathBuf,
    operations: Vec<(String, Operation)>,
}

impl Operations {
    /// Reads a JSON file; `-` is standard input.
    pub(crate) fn read(path: &Path) -> Result<Self, OpsError> {
        let is_stdin = path == Path::new(STDIN);
        let origin = if is_stdin { Origin::Stdin } else { Origin::File(path.to_owned()) };
        let text = if is_stdin { stdin() } else { fs::read(path) };
        let text = text.map_err(|error| OpsError::Read { origin: origin.clone(), error })?;
        let list: Value = serde_json::from_slice(&text)
            .map_err(|error| OpsError::Json { origin: origin.clone(), error })?;
        let Value::Array(list) = list else { return Err(OpsError::NoList { origin }) };
        let folder = path.parent().filter(|_| !is_stdin).unwrap_or(Path::new("")).to_owned();
        let mut operations = Vec::with_capacity(list.len());
        for (at, value) in list.into_iter().enumerate() {
            let name = value["op"].as_str().unwrap_or_default().to_owned();
            match Operation::parse(value) {
                Ok(operation) => operations.push((name, operation)),
                Err(fault) => return Err(OpsError::operation(&origin, at, &name, fault)),
            }
        }
        Ok(Self { origin, folder, operations })
    }

    /// Applies them to a stage; gives the paths of the datasets that were created.
    pub(crate) fn apply(&self, stage: &mut Stage<'_>) -> Result<Vec<String>, OpsError> {
        let mut created = Vec::new();
        for (at, (name, operation)) in self.operations.iter().enumerate() {
            let applied = operation.apply(stage, &self.folder);
            let path = applied.map_err(|f| OpsError::operation(&self.origin, at, name, f))?;
            created.extend(path);
        }
        Ok(created)
    }
}

/// The filters of a dataset as text in JSON.
pub(crate) fn filter_request(text: &str) -> Result<FilterRequest, String> {
    let filters: Filters = serde_json::from_str(text).map_err(|error| error.to_string())?;
    filters.request().map_err(|fault| fault.to_string())
}

fn stdin() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(text)
}
