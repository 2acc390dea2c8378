//! A read of a large dataset holds its result and a few chunks a thread; a dataset that is open holds next to nothing
//! before it is read; and however often something is read, nothing is left behind.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by a panic, and its numbers are small"
)]

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use h5strata::{OpenOptions, RawPath, Selection, VersionedFile};

#[path = "support/heap.rs"]
mod heap;
mod support;

use heap::CountingHeap;
use support::{Outcome, made};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

/// The heap is that of the whole process: who measures it does so alone.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Elements and bytes of a chunk of the large file, and its chunks.
const CHUNK: usize = 1 << 17;
const CHUNK_BYTES: usize = 8 * CHUNK;
const CHUNKS: usize = 200;

/// The element at a position.
fn value(position: usize) -> i64 {
    (position % (4 * CHUNK)) as i64
}

#[test]
fn a_read_holds_its_result_and_a_few_chunks_a_thread() -> Outcome {
    let _alone = alone();
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

#[test]
fn mappings_take_no_memory_before_they_are_needed_and_eight_bytes_each_then() -> Outcome {
    const MAPPINGS: usize = 10_000;
    let _alone = alone();
    let path = made::file("ten-thousand-mappings-handmade")?.path;
    // What libhdf5 sets up with its first dataset is no part of this.
    VersionedFile::open(made::file("plain-grids")?.path)?.version("r0")?.dataset("line")?;
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let file = OpenOptions::new().threads(1).raw_path(raw_path).open(&path)?;
        let before = CountingHeap::held();
        let (dataset, peak) = CountingHeap::peak(|| file.version("r0")?.dataset("data"));
        let dataset = dataset?;
        let held = CountingHeap::held() - before;
        // Ours alone, and with what libhdf5 keeps of the file's groups: a mapping of its own takes hundreds of bytes.
        assert!(
            peak < MAPPINGS && held < 2 * MAPPINGS,
            "{raw_path:?}: {held} bytes, {peak} at most"
        );

        let (before, read_before) = (CountingHeap::held(), file.io_counts().bytes);
        let (map, peak) = CountingHeap::peak(|| dataset.chunk_map().map(|map| map.stored()));
        assert_eq!(map?, MAPPINGS as u64);
        let held = CountingHeap::held() - before;
        assert!(held < 9 * MAPPINGS, "{raw_path:?}: {held} bytes");
        // On the way, the list as it stands in the file and three numbers for each mapping.
        let list = (file.io_counts().bytes - read_before) as usize;
        assert!(peak < list + 25 * MAPPINGS, "{raw_path:?}: {peak} bytes, the list has {list}");
    }
    Ok(())
}

#[test]
fn fifty_thousand_reads_of_strings_leave_nothing_behind() -> Outcome {
    const READS: usize = 50_000;
    let _alone = alone();
    let path = made::file("fill-strings-handmade")?.path;
    for raw_path in [RawPath::Auto, RawPath::Library] {
        let file = OpenOptions::new().threads(1).raw_path(raw_path).open(&path)?;
        let dataset = file.version("r0")?.dataset("text")?;
        let expected = dataset.read_strings(..)?;
        assert!(expected.iter().any(|text| text == "two") && expected.iter().any(|t| t == "x"));
        let mut before = 0;
        for number in 0..READS {
            // What is kept from the first reads on may be kept.
            if number == READS / 100 {
                before = CountingHeap::held();
            }
            assert!(dataset.read_strings(..)? == expected);
            if number % 10 == 0 {
                // Its fill value and the strings of attributes.
                drop(file.version("r0")?.dataset("text")?);
                assert_eq!(file.current_name()?, "r0");
            }
        }
        let grown = CountingHeap::held().saturating_sub(before);
        // The report's readers lost more than 4 KiB with each read.
        assert!(grown < READS / 10, "{raw_path:?}: {grown} bytes more after {READS} reads");
    }
    Ok(())
}
