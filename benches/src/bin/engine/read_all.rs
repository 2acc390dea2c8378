//! Timing of a read of everything, from opening the file to closing it.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use h5strata::{OpenOptions, Selection};
use serde_json::{Value, json};

use crate::request::{ReadAllRequest, threads};
use crate::values::Values;

/// What was read of a version's dataset.
struct Read {
    version: String,
    dataset: String,
    values: Values,
}

/// Reads every dataset of every version; the answer has the checksum of each.
pub(crate) fn answer(request: &ReadAllRequest) -> Result<Value, Box<dyn Error>> {
    let options = OpenOptions::new().threads(threads(request.threads)?);
    let start = Instant::now();
    let reads = read_all(request, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut checksums = BTreeMap::<_, BTreeMap<_, _>>::new();
    for Read { version, dataset, values } in &reads {
        checksums.entry(version).or_default().insert(dataset, values.checksum());
    }
    Ok(json!({ "seconds": seconds, "checksums": checksums }))
}

/// Everything that is timed: as many threads as asked for, the caller's own among them, each take the next dataset
/// until none is left. The file is closed when the last handle is dropped, on return.
fn read_all(request: &ReadAllRequest, options: &OpenOptions) -> Result<Vec<Read>, h5strata::Error> {
    let file = options.open(&request.file)?;
    let mut wanted = Vec::new();
    for version in file.versions()? {
        let version = file.version(&version.name)?;
        wanted.extend(version.datasets()?.into_iter().map(|path| (version.clone(), path)));
    }
    let next = AtomicUsize::new(0);
    let work = || -> Result<_, h5strata::Error> {
        let mut reads = Vec::new();
        while let Some((version, path)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let values = Values::read(&version.dataset(path)?, Selection::all())?;
            reads.push(Read { version: version.name().to_owned(), dataset: path.clone(), values });
        }
        Ok(reads)
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..request.threads).map(|_| scope.spawn(work)).collect();
        let mut reads = work()?;
        for other in others {
            reads.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(reads)
    })
}
