//! A read of a large dataset holds its result and a few chunks a thread, no more.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::path::Path;

use h5strata::{OpenOptions, RawPath, Selection};

#[path = "support/heap.rs"]
mod heap;
mod support;

use heap::CountingHeap;
use support::made;

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Elements and bytes of a chunk of the large file, and its chunks.
const CHUNK: usize = 1 << 17;
const CHUNK_BYTES: usize = 8 * CHUNK;
const CHUNKS: usize = 200;

/// The element at a position.
fn value(position: usize) -> i64 {
    (position % (4 * CHUNK)) as i64
}

// One test: the heap is that of the whole process.
#[test]
fn a_read_holds_its_result_and_a_few_chunks_a_thread() -> Outcome {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("large-{}.h5", std::process::id()));
    made::large(&path)?;
    for (raw_path, threads) in [(RawPath::Auto, 1), (RawPath::Auto, 2), (RawPath::Library, 2)] {
        let file = OpenOptions::new().raw_path(raw_path).threads(threads).open(&path)?;
        let dataset = file.version("r0")?.dataset("data")?;
        // A thread holds stored bytes, a decoded chunk and scratch; chunk map and addresses are small.
        let most = 4 * threads * CHUNK_BYTES + CHUNKS * 256 + (1 << 20);
        for step in [1, 7, 100_000] {
            let selection: Selection = format!("::{step}").parse()?;
            let (values, peak) = CountingHeap::peak(|| dataset.read::<i64>(&selection));
            let values = values?;
            let result = values.len() * size_of::<i64>();
            let beside = peak - result;
            let at = format!("{raw_path:?}, {threads} threads, ::{step}");
            assert!(beside <= most, "{at}: {beside} bytes beside the result of {result}");
            // Steps that are no power of two meet every part of a chunk.
            let sample = values.iter().enumerate().step_by(if step == 1 { 997 } else { 1 });
            for (number, &found) in sample {
                assert_eq!(found, value(number * step), "{at}: {number}");
            }
        }
    }
    std::fs::remove_file(&path)?;
    Ok(())
}
