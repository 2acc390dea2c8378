//! Timing of files that are written anew, from opening the old one to closing it.

use std::error::Error;
use std::time::Instant;

use h5strata::{DeleteOptions, DeleteSelection, Durability, OpenOptions, RepackOptions};
use serde_json::{Value, json};

use crate::request::{DeleteRequest, RepackRequest, threads};

/// Deletes versions of a file in its place.
pub(crate) fn delete(request: &DeleteRequest) -> Result<Value, Box<dyn Error>> {
    let durability = durability(request.synced);
    let options = OpenOptions::new().threads(threads(request.threads)?).durability(durability);
    let selection = DeleteSelection::new().names(&request.versions);
    let start = Instant::now();
    let mut file = options.open_rw(&request.file)?;
    let report = file.delete_versions(&selection, &DeleteOptions::new())?;
    // The last handle closes the file, which is part of what is timed.
    drop(file);
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({ "seconds": seconds, "deleted": report.deleted.len() }))
}

/// Writes a file anew under another name.
pub(crate) fn repack(request: &RepackRequest) -> Result<Value, Box<dyn Error>> {
    let options = OpenOptions::new().threads(threads(request.threads)?);
    let how = RepackOptions::new().durability(durability(request.synced));
    let start = Instant::now();
    options.open(&request.file)?.repack(&request.out, &how)?;
    Ok(json!({ "seconds": start.elapsed().as_secs_f64() }))
}

fn durability(synced: bool) -> Durability {
    if synced { Durability::Full } else { Durability::Process }
}
