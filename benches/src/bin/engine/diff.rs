//! Timing of what changed between two versions, from opening the file to closing it.

use std::error::Error;
use std::time::Instant;

use h5strata::OpenOptions;
use h5strata::store::ChangedRegion;
use ndarray::ArrayD;
use serde_json::{Value, json};

use crate::checksum::checksum;
use crate::request::{DiffRequest, threads};

/// Both sides of every changed chunk.
type Regions = Vec<ChangedRegion<ArrayD<i64>>>;

pub(crate) fn answer(request: &DiffRequest) -> Result<Value, Box<dyn Error>> {
    let options = OpenOptions::new().threads(threads(request.threads)?);
    let start = Instant::now();
    let regions = changed(request, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let starts: Vec<&[u64]> = regions.iter().map(|region| region.start.as_slice()).collect();
    let old = regions.iter().filter_map(|region| region.old.as_ref());
    let new = regions.iter().filter_map(|region| region.new.as_ref());
    let words = old.chain(new).flatten().map(|value| value.cast_unsigned());
    Ok(json!({
        "seconds": seconds,
        "starts": starts,
        "checksum": format!("{:016x}", checksum(words)),
    }))
}

/// Everything that is timed. The file is closed when the last handle is dropped, on return.
fn changed(request: &DiffRequest, options: &OpenOptions) -> Result<Regions, h5strata::Error> {
    let file = options.open(&request.file)?;
    let of = |version: &str| file.version(version)?.dataset(&request.dataset);
    let diff = of(&request.old)?.diff(&of(&request.new)?)?;
    diff.changed_regions().collect()
}
