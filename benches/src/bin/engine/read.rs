//! Timing of a read, from opening the file to closing it.

use std::error::Error;
use std::time::Instant;

use h5strata::{OpenOptions, RawPath, Selection};
use serde_json::{Value, json};

use crate::request::{Path, ReadRequest, threads};
use crate::values::Values;

pub(crate) fn answer(request: &ReadRequest) -> Result<Value, Box<dyn Error>> {
    let selection = request.wanted.selection()?;
    let options = options(request)?;
    let start = Instant::now();
    let values = read(request, &options, selection)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({
        "seconds": seconds,
        "checksum": values.checksum(),
        "shape": values.shape(),
    }))
}

fn options(request: &ReadRequest) -> Result<OpenOptions, Box<dyn Error>> {
    let path = match request.path {
        Path::Auto => RawPath::Auto,
        Path::Library => RawPath::Library,
    };
    Ok(OpenOptions::new().threads(threads(request.threads)?).raw_path(path))
}

/// Everything that is timed. The file is closed when the last handle is dropped, on return.
fn read(
    request: &ReadRequest,
    options: &OpenOptions,
    selection: Selection,
) -> Result<Values, h5strata::Error> {
    let file = options.open(&request.file)?;
    let dataset = file.version(&request.version)?.dataset(&request.dataset)?;
    Values::read(&dataset, selection)
}
