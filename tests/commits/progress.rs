//! Whoever asks is told how far a commit is with the chunks of each dataset.

use std::sync::{Arc, Mutex};

use h5strata::snapshot::OnProgress;
use h5strata::{OpenOptions, Selection, StageOptions};
use ndarray::{Array1, s};

use crate::Scratch;
use crate::support::Outcome;

/// A dataset, the bytes of its chunks that are done, and those that there are.
type Told = (String, u64, u64);

/// Bytes of a chunk of 1000 elements of 8 bytes.
const CHUNK_BYTES: u64 = 8000;

fn listen() -> (StageOptions, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let on_progress = OnProgress::new(move |progress| {
        let told = (progress.dataset.to_owned(), progress.done, progress.total);
        listener.lock().unwrap().push(told);
    });
    (StageOptions::new().on_progress(on_progress), told)
}

#[test]
fn every_changed_chunk_counts_once_whether_it_is_stored_reused_or_filled() -> Outcome {
    for threads in [1, 4] {
        let scratch = Scratch::new();
        let mut file = OpenOptions::new().threads(threads).create(&scratch.path)?;
        // More than go through the stages together.
        let count = 5000;
        let (options, told) = listen();
        let mut stage = options.stage(&mut file, "r0")?;
        let values = Array1::from_iter(0..count * 1000);
        stage.create_dataset("a").chunks(&[1000]).data(&values)?;
        stage.create_dataset("names").chunks(&[2]).strings(&[5], &["a", "b", "c", "d", "e"])?;
        stage.commit()?;
        let told = std::mem::take(&mut *told.lock().unwrap());
        for (dataset, chunks, chunk_bytes) in [("a", count, CHUNK_BYTES), ("names", 3, 2 * 8)] {
            let mut of_one: Vec<(u64, u64)> = told
                .iter()
                .filter(|(path, ..)| path == dataset)
                .map(|&(_, done, total)| (done, total))
                .collect();
            of_one.sort_unstable();
            let expected = (1..=chunks).map(|done| (done * chunk_bytes, chunks * chunk_bytes));
            assert!(of_one.into_iter().eq(expected), "{threads}: {dataset}");
        }

        let (options, told) = listen();
        let mut stage = options.stage(&mut file, "r1")?;
        let mut a = stage.dataset_mut("a")?;
        a.write(s![..1000], &Array1::from_iter(1000..2000_u64))?;
        a.write_scalar(s![5000..6000], 0_u64)?;
        a.write_scalar(s![8000..8001], 7_u64)?;
        let report = stage.commit()?;
        assert_eq!((report.chunks_reused, report.chunks_filled, report.chunks_written), (1, 1, 1));
        let told = told.lock().unwrap();
        let total = 3 * CHUNK_BYTES;
        let one = |chunks| ("a".to_owned(), chunks * CHUNK_BYTES, total);
        assert_eq!(told[..], [one(2), one(3)], "{threads}");
    }
    Ok(())
}

#[test]
fn nothing_is_told_of_datasets_without_changed_chunks() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("a").data(&Array1::from_iter(0..10_i64))?;
    stage.commit()?;
    let (options, told) = listen();
    let mut stage = options.stage(&mut file, "r1")?;
    stage.dataset_mut("a")?.resize(&[10])?;
    stage.create_dataset("empty").empty("<f8".parse()?, &[20])?;
    stage.commit()?;
    assert_eq!(file.version("r1")?.dataset("empty")?.read::<f64>(Selection::all())?.sum(), 0.0);
    assert_eq!(told.lock().unwrap()[..], []);
    Ok(())
}
