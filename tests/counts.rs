//! What a read costs: positional reads, bytes, calls of libhdf5, allocations.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by a panic, and its numbers are small"
)]

use bumpalo::Bump;
use h5strata::plan::{GROUP_BYTES, PICK_BYTES};
use h5strata::raw::IoCounts;
use h5strata::selection::AxisSelection;
use h5strata::{Dataset, OpenOptions, RawPath, ReadPlan, Selection, VersionedFile};
use ndarray::{Array1, s};

#[path = "support/heap.rs"]
mod heap;
mod support;

use heap::CountingHeap;
use support::cost::cost;
use support::values::{Numbers, Values};
use support::{Outcome, made};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

fn open(name: &str, path: RawPath) -> Result<VersionedFile, Box<dyn std::error::Error>> {
    // One thread: what is read at once does not depend on how the work is shared.
    Ok(OpenOptions::new().threads(1).raw_path(path).open(made::file(name)?.path)?)
}

/// A dataset of version "r0" whose chunk map and chunk addresses are known, so that reads cost just chunks.
fn warm(name: &str, path: &str) -> Result<(VersionedFile, Dataset), Box<dyn std::error::Error>> {
    let file = open(name, RawPath::Auto)?;
    let dataset = file.version("r0")?.dataset(path)?;
    dataset.chunk_map()?;
    dataset.stored_chunks()?;
    Ok((file, dataset))
}

fn cost_of(file: &VersionedFile, dataset: &Dataset, text: &str) -> IoCounts {
    let selection: Selection = text.parse().unwrap();
    let (values, counts) = cost(file, || dataset.read_bytes(&selection));
    values.unwrap();
    counts
}

#[test]
fn of_thin_data_in_high_chunks_only_the_data_is_read() -> Outcome {
    let (file, dataset) = warm("thin-chunks", "data")?;
    assert_eq!(dataset.chunk_count(), 50);
    // Three rows of nine elements of each chunk of 64,800 bytes.
    let counts = cost_of(&file, &dataset, "...");
    assert_eq!(counts, IoCounts { preads: 50, bytes: 50 * 216, library_reads: 0 });
    let counts = cost_of(&file, &dataset, "1, 4, 7");
    assert_eq!(counts, IoCounts { preads: 1, bytes: 8, library_reads: 0 });
    Ok(())
}

#[test]
fn one_element_costs_the_same_however_many_mappings_there_are() -> Outcome {
    let file = open("ten-thousand-mappings-handmade", RawPath::Auto)?;
    let version = file.version("r0")?;
    for (element, expected) in [(0, 1), (9_999, -4), (19_998, 4)] {
        let (value, counts) = cost(&file, || {
            version.dataset("data")?.read::<i32>(Selection::axes([AxisSelection::Index(element)]))
        });
        assert_eq!(value?[[]], expected, "{element}");
        // The header, the list's ends, one entry, two nodes of the chunk index, the element.
        assert!(counts.preads <= 10 && counts.bytes <= 12 << 10, "{counts:?}");
        assert_eq!(counts.library_reads, 0);
    }
    // The list itself is larger by far.
    let (map, counts) =
        cost(&file, || version.dataset("data")?.chunk_map().map(|map| map.stored()));
    assert_eq!(map?, 10_000);
    assert!(counts.bytes > 500_000, "{counts:?}");
    Ok(())
}

#[test]
fn many_single_reads_decode_the_list_once() -> Outcome {
    let file = open("ten-thousand-mappings-handmade", RawPath::Auto)?;
    let dataset = file.version("r0")?.dataset("data")?;
    let (_, counts) = cost(&file, || {
        for element in 0..2_000 {
            dataset.read::<i32>(Selection::axes([AxisSelection::Index(element)])).unwrap();
        }
    });
    // Some hundred look-ups, the list, and a read an element.
    assert!(counts.preads <= 4_000 && counts.bytes <= 4 << 20, "{counts:?}");
    Ok(())
}

/// Calls and bytes of all reads of this thread so far, those of libhdf5 among them (proc(5), "io").
#[cfg(target_os = "linux")]
fn reads_of_thread() -> (u64, u64) {
    let said = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let field = |name| said.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    (field("syscr:").parse().unwrap(), field("rchar:").parse().unwrap())
}

/// A small dataset beside thousands of chunks, and in one of a thousand versions.
#[cfg(target_os = "linux")]
#[test]
fn opening_a_file_for_a_small_dataset_costs_the_same_each_time_however_much_else_there_is()
-> Outcome {
    for (name, version) in [("tall-and-flat", "r1"), ("thousand-versions-handmade", "v500")] {
        for _ in 0..50 {
            let (calls_before, bytes_before) = reads_of_thread();
            let file = open(name, RawPath::Auto)?;
            let dataset = file.version(version)?.dataset("small")?;
            let values = dataset.read_bytes(&Selection::all())?.0.len() as u64;
            let (calls, bytes) = reads_of_thread();
            let (calls, bytes) = (calls - calls_before, bytes - bytes_before - values);
            assert!(calls <= 64 && bytes <= 32 << 10, "{name}: {calls} calls, {bytes} bytes");
            // Superblock, header, list, chunk index and the chunk.
            let own = file.io_counts();
            assert!(own.preads <= 10 && own.bytes - values <= 9 << 10, "{name}: {own:?}");
            // Only the chunk is read again.
            let again = cost_of(&file, &dataset, "...");
            assert_eq!(again, IoCounts { preads: 1, bytes: values, library_reads: 0 }, "{name}");
        }
    }
    Ok(())
}

/// Each header is looked at once, for all that a version tells of itself.
#[cfg(target_os = "linux")]
#[test]
fn a_thousand_versions_are_listed_with_four_reads_each_at_most() -> Outcome {
    let file = open("thousand-versions-handmade", RawPath::Auto)?;
    let (calls_before, bytes_before) = reads_of_thread();
    let versions = file.versions()?;
    let (calls, bytes) = reads_of_thread();
    let (calls, bytes) = (calls - calls_before, bytes - bytes_before);
    assert_eq!(versions.len(), 1_000);
    assert!(calls <= 4_000 && bytes <= 6 << 20, "{calls} calls, {bytes} bytes");
    Ok(())
}

#[test]
fn a_row_costs_what_its_chunks_cost_however_many_others_there_are() -> Outcome {
    /// Chunks of a row.
    const CHUNKS: u64 = 124;
    for (path, chunks) in [("tall", 37 * CHUNKS), ("flat", CHUNKS)] {
        let file = open("tall-and-flat", RawPath::Auto)?;
        let dataset = file.version("r1")?.dataset(path)?;
        assert_eq!(dataset.chunk_count(), chunks);
        // The first time: no more than three reads of a page for each chunk.
        let first = cost_of(&file, &dataset, "5");
        assert!(
            first.preads <= 3 * CHUNKS && first.bytes <= (4 << 10) * CHUNKS,
            "{path}: {first:?}"
        );
        // Once the map and the addresses are known: one, and less where neighbours can be read at once.
        cost_of(&file, &dataset, "...");
        let later = cost_of(&file, &dataset, "5");
        assert!(later.preads <= CHUNKS && later.bytes <= (2 << 10) * CHUNKS, "{path}: {later:?}");
        assert_eq!((first.library_reads, later.library_reads), (0, 0));
    }
    Ok(())
}

#[test]
fn files_with_short_addresses_and_lengths_are_read_without_libhdf5() -> Outcome {
    for name in ["widths-4-4", "widths-4-8", "widths-8-4"] {
        let file = open(name, RawPath::Auto)?;
        let version = file.version("r3")?;
        for path in version.datasets()? {
            let dataset = version.dataset(&path)?;
            let (values, counts) = cost(&file, || Values::whole(&dataset));
            let elements = values?.shape.iter().product::<u64>();
            assert!(counts.bytes >= elements && counts.library_reads == 0, "{name}: {counts:?}");
        }
    }
    Ok(())
}

#[test]
fn neighbours_in_the_file_are_read_at_once() -> Outcome {
    let (file, line) = warm("plain-grids", "line")?;
    let counts = cost_of(&file, &line, "...");
    assert_eq!((counts.bytes, counts.library_reads), (3_200_000, 0));
    assert!(counts.preads <= 10, "{counts:?}");
    let counts = cost_of(&file, &line, "15000:15100");
    assert_eq!(counts, IoCounts { preads: 1, bytes: 800, library_reads: 0 });
    Ok(())
}

#[test]
fn a_row_and_a_column_cost_one_read_a_chunk() -> Outcome {
    let (file, plane) = warm("plain-grids", "plane")?;
    let row = cost_of(&file, &plane, "150");
    assert_eq!(row, IoCounts { preads: 4, bytes: 4 * 800, library_reads: 0 });
    // From the first to the last needed byte of each chunk: rows are too near to be skipped.
    let column = cost_of(&file, &plane, ":, 150");
    assert_eq!(column, IoCounts { preads: 4, bytes: 4 * (99 * 800 + 8), library_reads: 0 });
    Ok(())
}

#[test]
fn each_compressed_chunk_is_read_once_whatever_the_stride() -> Outcome {
    let (file, data) = warm("report-strided", "data")?;
    let chunks = data.stored_chunks()?;
    let stored: u64 = chunks.iter().map(|chunk| chunk.size).sum();
    for text in ["...", "::10", "::-999", "[99999, 0, 50000, 0]"] {
        let counts = cost_of(&file, &data, text);
        assert!(counts.preads <= chunks.len() as u64, "{text}: {counts:?}");
        // Small gaps between chunks may be read along.
        assert!(counts.bytes <= stored + stored / 4, "{text}: {counts:?} of {stored}");
        assert_eq!(counts.library_reads, 0);
    }
    Ok(())
}

#[test]
fn a_compressed_chunk_that_versions_share_is_read_once() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shared.h5");
    let values = Array1::from_iter(0..1000i64);
    let mut file = VersionedFile::create(&path)?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("data").chunks(&[500]).gzip(4).data(&values)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("data")?.write_scalar(Selection::axes([AxisSelection::Index(999)]), -1i64)?;
    stage.commit()?;
    drop(file);
    let file = OpenOptions::new().threads(1).open(&path)?;
    for (version, last, chunks) in [("r0", 999, 2), ("r1", -1, 1), ("r0", 999, 0), ("r1", -1, 0)] {
        let dataset = file.version(version)?.dataset("data")?;
        dataset.chunk_map()?;
        dataset.stored_chunks()?;
        // One at a time: neighbours in the file would be read at once.
        let (read, counts) =
            cost(&file, || [s![..500], s![500..]].map(|half| dataset.read::<i64>(half)));
        let [first, second] = read;
        let mut expected = values.clone();
        expected[999] = last;
        assert_eq!(first?, expected.slice(s![..500]).into_dyn(), "{version}");
        assert_eq!(second?, expected.slice(s![500..]).into_dyn(), "{version}");
        assert_eq!((counts.preads, counts.library_reads), (chunks, 0), "{version}");
    }
    Ok(())
}

#[test]
fn the_librarys_way_costs_one_call_a_chunk() -> Outcome {
    for (text, calls) in [("...", 16), ("150", 4), ("0, 0", 1), ("5:5", 0)] {
        let file = open("plain-grids", RawPath::Library)?;
        let plane = file.version("r0")?.dataset("plane")?;
        plane.chunk_map()?;
        let counts = cost_of(&file, &plane, text);
        assert_eq!(counts, IoCounts { preads: 0, bytes: 0, library_reads: calls }, "{text}");
    }
    Ok(())
}

#[test]
fn nothing_is_read_for_nothing() -> Outcome {
    let (file, line) = warm("plain-grids", "line")?;
    for text in ["5:5", "[]", "10:0"] {
        assert_eq!(cost_of(&file, &line, text), IoCounts::default(), "{text}");
    }
    Ok(())
}

#[test]
fn planning_slices_allocates_nothing_at_any_rank() {
    for rank in 1..=h5strata::dims::MAX_RANK {
        // Up to two chunks an axis, but not too many in all.
        let shape: Vec<u64> = (0..rank).map(|axis| if axis < 10 { 5 } else { 2 }).collect();
        let chunk: Vec<u64> = shape.iter().map(|_| 3).collect();
        let axes = (0..rank).map(|axis| match axis % 4 {
            0 => AxisSelection::ALL,
            1 => AxisSelection::Slice { start: None, stop: None, step: -2 },
            2 => AxisSelection::Index(-1),
            _ => AxisSelection::Slice { start: Some(1), stop: Some(4), step: 3 },
        });
        let selection = Selection::axes(axes);
        let arena = Bump::new();
        let (transfers, allocations) = CountingHeap::allocations(|| {
            let plan = ReadPlan::new(&selection, &shape, &chunk, &arena).unwrap();
            let (mut transfers, mut count) = (plan.transfers(), 0);
            while transfers.advance().is_some() {
                count += 1;
            }
            assert_eq!(count, plan.len());
            count
        });
        assert!(transfers > 0, "rank {rank}");
        assert_eq!((allocations, arena.allocated_bytes()), (0, 0), "rank {rank}");
    }
}

/// Plans in an arena of `bytes`; returns how often more memory was asked for.
fn allocations_in(bytes: usize, selection: &Selection, shape: &[u64], chunk: &[u64]) -> u64 {
    let arena = Bump::with_capacity(bytes);
    CountingHeap::allocations(|| {
        let plan = ReadPlan::new(selection, shape, chunk, &arena).unwrap();
        let mut transfers = plan.transfers();
        while transfers.advance().is_some() {}
    })
    .1
}

#[test]
fn an_arena_of_the_documented_size_is_enough() {
    let mut numbers = Numbers(1);
    for count in [0_usize, 1, 10, 1_000, 100_000] {
        let touched = count.min(1_000);
        let random: Vec<i64> = (0..count).map(|_| numbers.below(100_000) as i64).collect();
        let indices = Selection::axes([AxisSelection::Indices(random.clone())]);
        let bytes = count * PICK_BYTES + touched * GROUP_BYTES;
        assert_eq!(allocations_in(bytes, &indices, &[100_000], &[100]), 0, "{count} indices");
        let points = Selection::points(1, random).unwrap();
        assert_eq!(allocations_in(bytes, &points, &[100_000], &[100]), 0, "{count} points");
    }
    // Masks: their chunks alone.
    let mask = (0..100_000).map(|_| numbers.below(3) == 0).collect();
    let mask = Selection::axes([AxisSelection::Mask(mask)]);
    assert_eq!(allocations_in(1_000 * GROUP_BYTES, &mask, &[100_000], &[100]), 0);
    // The measure is able to fail.
    let many = Selection::axes([AxisSelection::Indices((0..100_000).collect())]);
    assert!(allocations_in(1_000, &many, &[100_000], &[100]) > 0);
}
