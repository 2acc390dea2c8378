//! What counting costs: no chunk is read, and of a version less than one chunk has.

use std::sync::{Arc, Mutex};

use h5strata::{OpenOptions, StatsOptions};
use ndarray::{Array2, s};

use crate::Scratch;
use crate::support::Outcome;
use crate::support::cost::cost;

/// Bytes of a chunk.
const CHUNK: u64 = 80_000;

#[test]
fn no_chunk_is_read_and_each_version_is_told_of() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    for (name, gzip) in [("plain", false), ("packed", true)] {
        let mut stage = file.stage(&format!("{name} 0"))?;
        let builder = stage.create_dataset(name).chunks(&[1, 10_000]);
        let builder = if gzip { builder.gzip(1) } else { builder };
        builder.data(&Array2::from_shape_fn((100, 10_000), |(row, c)| (row + c + 1) as i64))?;
        stage.commit()?;
        for version in 1..10 {
            let mut stage = file.stage(&format!("{name} {version}"))?;
            stage.dataset_mut(name)?.write_scalar(s![version, 0], -1_i64)?;
            stage.commit()?;
        }
    }
    drop(file);
    let file = OpenOptions::new().threads(1).open(&scratch.path)?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let options = StatsOptions::new().on_progress(move |done, versions| {
        listener.lock().unwrap().push((done, versions));
    });
    let (stats, counts) = cost(&file, || file.stats(&options));
    let stats = stats?;
    assert_eq!(stats.chunks().chunks, 2 * 109);
    let expected: Vec<_> = (1..=20).map(|done| (done, 20)).collect();
    assert_eq!(*told.lock().unwrap(), expected);
    // Lists and structures, which take less than a chunk a version.
    assert!(counts.bytes < 20 * CHUNK, "{counts:?}");
    assert_eq!(counts.library_reads, 0);
    Ok(())
}
