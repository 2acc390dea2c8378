//! What a commit costs: chunks written, rows added, calls and bytes.

use h5strata::codec::{Pipeline, Scratch as CodecScratch};
use h5strata::store::Attribute;
use h5strata::{OpenOptions, Selection, VersionedFile};
use ndarray::{Array1, Array2, Array3, ArrayD, s};

use crate::support::Outcome;
use crate::support::values::Numbers;
use crate::{Scratch, dataset, read_as};

/// Most bytes that are read of a small commit's pages below the end of the file: a dozen, each for what is around a
/// change, and a few by which the journal knows its file.
const PAGES_READ: u64 = 96 << 10;

/// Bytes of a chunk of 8192 elements of 8 bytes.
const CHUNK_BYTES: u64 = 64 << 10;

/// Calls and bytes of this thread, those of libhdf5 among them (proc(5), "io").
#[derive(Clone, Copy, Debug)]
#[cfg(target_os = "linux")]
struct Io {
    reads: u64,
    bytes_read: u64,
    writes: u64,
    bytes_written: u64,
}

#[cfg(target_os = "linux")]
impl Io {
    fn of_thread() -> Self {
        let said = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let field = |name| said.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        let number = |name| field(name).parse().unwrap();
        Self {
            reads: number("syscr:"),
            bytes_read: number("rchar:"),
            writes: number("syscw:"),
            bytes_written: number("wchar:"),
        }
    }

    /// What `work` costs, on this thread alone.
    fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let before = Self::of_thread();
        let outcome = work();
        let after = Self::of_thread();
        let cost = Self {
            reads: after.reads - before.reads,
            bytes_read: after.bytes_read - before.bytes_read,
            writes: after.writes - before.writes,
            bytes_written: after.bytes_written - before.bytes_written,
        };
        (outcome, cost)
    }
}

/// One chunk of many was changed, and all were read, hashed or written again.
#[cfg(target_os = "linux")]
#[test]
fn a_commit_of_one_chunk_reads_and_writes_one_chunk_however_many_there_are() -> Outcome {
    for chunks in [10_u64, 400] {
        let scratch = Scratch::new();
        let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
        let mut stage = file.stage("r0")?;
        let values = Array1::from_iter((0..chunks * 8192).map(|x| x * 3));
        stage.create_dataset("x").chunks(&[8192]).data(&values)?;
        stage.commit()?;
        drop(file);
        let mut file = OpenOptions::new().threads(1).open_rw(&scratch.path)?;
        // The whole chunk, one element of it, and the same value as before.
        let writes = [
            ("8192:16384", vec![7_u64; 8192], 0, 1),
            ("8200:8201", vec![9], 1, 1),
            ("2:3", vec![6], 1, 0),
        ];
        for (number, (selection, new, chunks_read, chunks_written)) in
            writes.into_iter().enumerate()
        {
            let new = Array1::from_vec(new);
            let (report, io) = Io::of(|| {
                let mut stage = file.stage(&format!("w{number}"))?;
                let selection: Selection = selection.parse().unwrap();
                stage.dataset_mut("x")?.write(selection, &new)?;
                stage.commit()
            });
            let report = report?;
            assert_eq!(report.chunks_written, chunks_written, "{selection}");
            // Besides the chunks: the mappings of the parent and of the new version, the rows of the hash table,
            // the index of the stored chunks. All of these are of less than 200 bytes a chunk.
            let besides = (48 << 10) + 200 * chunks;
            let (read, written) = (chunks_read * CHUNK_BYTES, chunks_written * CHUNK_BYTES);
            assert!(
                (read..read + besides + PAGES_READ).contains(&io.bytes_read),
                "{chunks}: {selection}: {io:?}"
            );
            assert!(io.bytes_written >= written, "{chunks}: {selection}: {io:?}");
            assert!(io.bytes_written < written + besides, "{chunks}: {selection}: {io:?}");
        }
        assert_eq!(dataset(&file, "w2", "x").raw_data().1, chunks + 2);
        drop(file);
        // One row a chunk.
        scratch.alter("agrees", &[])?;
    }
    Ok(())
}

/// Whoever writes back what he has read pays for digests of all of it; whoever writes other values must not pay for
/// reading the old ones.
#[cfg(target_os = "linux")]
#[test]
fn chunks_are_compared_with_those_before_while_that_pays() -> Outcome {
    const CHUNKS: u64 = 100;
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
    let mut stage = file.stage("r0")?;
    let values = Array1::from_iter((0..CHUNKS * 8192).map(|x| x * 3));
    stage.create_dataset("x").chunks(&[8192]).data(&values)?;
    stage.commit()?;
    drop(file);
    let mut file = OpenOptions::new().threads(1).open_rw(&scratch.path)?;
    let mut almost = values.clone();
    almost[77 * 8192] += 1;
    let besides = (48 << 10) + 200 * CHUNKS + PAGES_READ;
    for (name, new, written, reused, read) in [
        // A dataset that turns out to be unchanged is not reported.
        ("same", &values, 0, 0, CHUNKS..CHUNKS + 1),
        ("almost", &almost, 1, CHUNKS - 1, CHUNKS..CHUNKS + 1),
        ("others", &(&values + 1), CHUNKS, 0, 0..17),
    ] {
        let mut stage = file.stage(name)?;
        stage.dataset_mut("x")?.resize(&[CHUNKS * 8192])?;
        stage.dataset_mut("x")?.write(Selection::all(), new)?;
        let (report, io) = Io::of(|| stage.commit());
        let report = report?;
        let counts = (report.chunks_written, report.chunks_reused);
        assert_eq!(counts, (written, reused), "{name}");
        let bytes = read.start * CHUNK_BYTES..(read.end - 1) * CHUNK_BYTES + besides;
        assert!(bytes.contains(&io.bytes_read), "{name}: {io:?}");
        assert_eq!(read_as::<u64>(&file, name, "x"), new.clone().into_dyn());
    }
    assert_eq!(dataset(&file, "others", "x").raw_data().1, 2 * CHUNKS + 1);
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// An unchanged dataset was looked at chunk by chunk.
#[cfg(target_os = "linux")]
#[test]
fn datasets_that_are_not_touched_cost_no_chunk() -> Outcome {
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
    let mut stage = file.stage("r0")?;
    for number in 0..4 {
        let values = Array1::from_iter((0..100 * 8192).map(|x: u64| x + number));
        stage.create_dataset(&format!("large{number}")).chunks(&[8192]).data(&values)?;
    }
    stage.create_dataset("small").data(&ndarray::array![1_i64])?;
    stage.commit()?;
    let (report, io) = Io::of(|| {
        let mut stage = file.stage("r1")?;
        stage.dataset_mut("small")?.write_scalar(s![0], 2_i64)?;
        // Opened, and even loaded in parts, but not changed.
        stage.dataset_mut("large0")?;
        stage.commit()
    });
    let report = report?;
    assert_eq!((report.datasets_changed, report.datasets_unchanged), (1, 4));
    assert_eq!(report.chunks_written, 1);
    // Less than one chunk, and no more than their lists of mappings.
    let most = (32 << 10) + 4 * 100 * 150;
    assert!(io.bytes_read < most + PAGES_READ && io.bytes_written < most + (32 << 10), "{io:?}");
    Ok(())
}

/// A hash table was read again by every commit, or by those that store nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_hash_table_is_read_by_the_first_commit_that_stores_chunks_and_by_no_other() -> Outcome {
    // So many that nothing else of the file is as large: the versions that are worked on have one chunk.
    const ROWS: u64 = 40_000;
    // Digests do not compress.
    const TABLE_BYTES: u64 = ROWS * 32;
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[4]).data(&Array1::from_iter(1..=ROWS * 4))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[4])?;
    stage.commit()?;
    drop(file);

    let mut file = OpenOptions::new().threads(1).open_rw(&scratch.path)?;
    let (staged, io) = Io::of(|| {
        let mut stage = file.stage("dropped")?;
        stage.dataset_mut("x")?.write_scalar(s![0], 7_u64)
    });
    staged?;
    assert!(io.bytes_read < TABLE_BYTES / 2, "staging: {io:?}");
    for version in ["a0", "a1"] {
        let (report, io) = Io::of(|| {
            let mut stage = file.stage(version)?;
            // Opened, but not changed.
            stage.dataset_mut("x")?;
            stage.set_attribute("x", Attribute::text("said by", version))?;
            stage.commit()
        });
        assert_eq!((report?.chunks_written, io.bytes_read < TABLE_BYTES / 2), (0, true), "{io:?}");
    }
    let mut write = |version: &str, value: u64| {
        let (report, io) = Io::of(|| {
            let mut stage = file.stage(version)?;
            stage.dataset_mut("x")?.write_scalar(s![0], value)?;
            stage.commit()
        });
        report.map(|report| (report, io))
    };
    let (report, io) = write("w0", 1 << 40)?;
    assert_eq!(report.chunks_written, 1);
    assert!((TABLE_BYTES..TABLE_BYTES * 2).contains(&io.bytes_read), "the first: {io:?}");
    // Of what the first one has stored, too, the second one knows without reading.
    let second = [("w1", 1 << 41, 1, 0), ("w2", 1 << 40, 0, 1), ("w3", 1, 0, 1)];
    for (version, value, written, reused) in second {
        let (report, io) = write(version, value)?;
        assert_eq!((report.chunks_written, report.chunks_reused), (written, reused), "{version}");
        // Where a chunk need not be stored, libhdf5 goes through the index of all chunks to take its place back.
        assert!(written == 0 || io.bytes_read < TABLE_BYTES / 2, "{version}: {io:?}");
    }
    Ok(())
}

/// Room is made for all chunks of a version, and libhdf5 had to search its index for those that turned out to be known.
#[cfg(target_os = "linux")]
#[test]
fn room_that_known_chunks_do_not_need_is_taken_back_without_a_search() -> Outcome {
    let mut reads = Vec::new();
    // At most 4096 go through the stages together.
    for chunks in [3_000, 20_000] {
        let scratch = Scratch::new();
        let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
        let values = Array1::from_iter(1..=chunks * 4_u64);
        let mut stage = file.stage("r0")?;
        stage.create_dataset("x").chunks(&[4]).data(&values)?;
        assert_eq!(stage.commit()?.chunks_written, chunks);
        let mut stage = file.stage("r1")?;
        stage.delete("x")?;
        stage.create_dataset("x").chunks(&[4]).data(&values)?;
        let (report, io) = Io::of(|| stage.commit());
        let report = report?;
        assert_eq!((report.chunks_written, report.chunks_reused), (0, chunks));
        reads.push(io.reads);
        assert_eq!(dataset(&file, "r1", "x").raw_data().1, chunks);
        // Room for one more is all that one more takes.
        let mut stage = file.stage("r2")?;
        stage.delete("x")?;
        let mut values = values.clone();
        values[0] = 0;
        stage.create_dataset("x").chunks(&[4]).data(&values)?;
        let report = stage.commit()?;
        assert_eq!((report.chunks_written, report.chunks_reused), (1, chunks - 1));
        assert_eq!(dataset(&file, "r2", "x").raw_data().1, chunks + 1);
        drop(file);
        scratch.alter("agrees", &[])?;
    }
    // Of several batches: the object header too, in which the extent is changed.
    assert!(reads[1] <= reads[0] + 1, "{reads:?}");
    Ok(())
}

/// Appending slowed down with every version.
#[cfg(target_os = "linux")]
#[test]
fn appending_costs_at_the_hundredth_version_what_it_costs_at_the_tenth_but_for_lists() -> Outcome {
    let scratch = Scratch::new();
    let mut file = OpenOptions::new().threads(1).create(&scratch.path)?;
    let row = |version: u64| Array2::from_elem((1, 2000), version as f64 + 0.5);
    let mut costs = Vec::new();
    for version in 0..101 {
        let name = format!("r{version}");
        let (report, io) = Io::of(|| {
            let mut stage = file.stage(&name)?;
            if version == 0 {
                stage.create_dataset("x").chunks(&[1, 2000]).data(&row(0))?;
            } else {
                let mut x = stage.dataset_mut("x")?;
                x.resize(&[version + 1, 2000])?;
                x.write(s![version as usize, ..], &row(version).row(0))?;
            }
            stage.commit()
        });
        assert_eq!(report?.chunks_written, 1, "{version}");
        costs.push(io);
    }
    let (tenth, hundredth) = (costs[10], costs[100]);
    // A mapping of each chunk is read from the parent and written to the new version, the last chunk of the hash table
    // is written again, and the group of versions grows: by pages that are read four times and written twice.
    let lists = 90 * 500;
    let message = format!("{tenth:?}, then {hundredth:?}");
    assert!(hundredth.bytes_read <= tenth.bytes_read + lists + (64 << 10), "{message}");
    assert!(hundredth.bytes_written <= tenth.bytes_written + lists, "{message}");
    assert!(hundredth.reads <= tenth.reads + 32, "{message}");
    assert!(hundredth.writes <= tenth.writes + 16, "{message}");
    assert_eq!(read_as::<f64>(&file, "r100", "x")[[57, 3]], 57.5);
    Ok(())
}

/// Chunks of a grid that hold an element which a smaller shape had not: those that growing has to write.
fn grown(before: &[u64], after: &[u64], chunk: &[u64]) -> u64 {
    let grid: Vec<u64> =
        after.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    let chunks = grid.iter().fold(vec![Vec::new()], |chunks: Vec<Vec<u64>>, &count| {
        chunks.iter().flat_map(|c| (0..count).map(|at| [c.as_slice(), &[at]].concat())).collect()
    });
    let is_old = |at: &Vec<u64>| {
        (0..chunk.len()).all(|axis| {
            let end = (at[axis] + 1) * chunk[axis];
            end.min(after[axis]) <= before[axis]
        })
    };
    chunks.iter().filter(|at| !is_old(at)).count() as u64
}

/// A panel that grew along both axes was written anew with each version.
#[test]
fn a_growing_panel_writes_the_chunks_that_grew_and_no_other() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let panel = |version: usize| {
        Array2::from_shape_fn((20 + version, 500 + 50 * version), |(row, column)| {
            (row * 100_000 + column) as f64 + 0.5
        })
    };
    let mut raw = 0;
    for version in 0..20 {
        let values = panel(version);
        let shape = [20 + version as u64, 500 + 50 * version as u64];
        let mut stage = file.stage(&format!("r{version}"))?;
        let expected = if version == 0 {
            stage.create_dataset("x").chunks(&[10, 100]).data(&values)?;
            grown(&[0, 0], &shape, &[10, 100])
        } else {
            let mut x = stage.dataset_mut("x")?;
            x.resize(&shape)?;
            let (row, column) = (shape[0] as usize - 1, shape[1] as usize - 50);
            x.write(s![row.., ..], &values.slice(s![row.., ..]))?;
            x.write(s![.., column..], &values.slice(s![.., column..]))?;
            grown(&[shape[0] - 1, shape[1] - 50], &shape, &[10, 100])
        };
        raw += expected;
        assert_eq!(stage.commit()?.chunks_written, expected, "{version}");
    }
    assert_eq!(dataset(&file, "r19", "x").raw_data().1, raw);
    for version in 0..20 {
        assert_eq!(read_as::<f64>(&file, &format!("r{version}"), "x"), panel(version).into_dyn());
    }
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// A slab a version: only the chunks of the slab are written.
#[test]
fn a_slab_a_version_writes_the_chunks_of_the_slab() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let slab = |version: u64| Array3::from_elem((1, 26, 19), version as f64 + 0.25);
    for version in 0..30_u64 {
        let mut stage = file.stage(&format!("r{version}"))?;
        let expected = if version == 0 {
            stage.create_dataset("x").chunks(&[1, 13, 19]).data(&slab(0))?;
            // Both halves of a slab are equal.
            1
        } else {
            let mut x = stage.dataset_mut("x")?;
            x.resize(&[version + 1, 26, 19])?;
            x.write(s![version as usize.., .., ..], &slab(version))?;
            1
        };
        let report = stage.commit()?;
        assert_eq!((report.chunks_written, report.chunks_reused), (expected, 1), "{version}");
    }
    assert_eq!(dataset(&file, "r29", "x").raw_data().1, 30);
    Ok(())
}

/// A few numbers in wide data rewrote all of it.
#[test]
fn a_few_numbers_in_wide_data_write_their_chunks_alone() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let narrow =
        Array3::from_shape_fn((1, 10, 2), |(_, row, column)| (row * 2 + column) as f64 + 0.5);
    stage.create_dataset("narrow").chunks(&[600, 2, 4]).data(&narrow)?;
    let wide =
        Array3::from_shape_fn((2, 15_220, 2), |(a, b, c)| (a * 40_000 + b * 2 + c) as f64 + 0.5);
    stage.create_dataset("wide").chunks(&[2, 20, 2]).data(&wide)?;
    assert_eq!(stage.commit()?.chunks_written, 5 + 761);
    for version in 1..20_u64 {
        let mut stage = file.stage(&format!("r{version}"))?;
        let mut narrow = stage.dataset_mut("narrow")?;
        let columns = 10 * version as usize;
        narrow.resize(&[1, columns as u64 + 10, 2])?;
        let values = Array3::from_shape_fn((1, 10, 2), |(_, row, column)| {
            ((columns + row) * 2 + column) as f64 + 0.5
        });
        narrow.write(s![.., columns.., ..], &values)?;
        assert_eq!(stage.commit()?.chunks_written, 5, "{version}");
    }
    let mut numbers = Numbers(5);
    let mut model = wide.into_dyn();
    let mut stage = file.stage("columns")?;
    let mut chunks = std::collections::BTreeSet::new();
    for at in 0..30 {
        let column = numbers.below(15_220) as usize;
        let value = -1.0 - f64::from(at);
        stage.dataset_mut("wide")?.write_scalar(s![.., column, ..], value)?;
        model.slice_mut(s![.., column, ..]).fill(value);
        chunks.insert(column / 20);
    }
    assert_eq!(stage.commit()?.chunks_written, chunks.len() as u64);
    assert_eq!(read_as::<f64>(&file, "columns", "wide"), model);
    Ok(())
}

/// Enlarging wrote and hashed chunks that had not changed, and each chunk of nothing but fill.
#[test]
fn enlarging_writes_the_edge_and_nothing_else() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let values =
        Array2::from_shape_fn((10_000, 100), |(row, column)| (row * 100 + column) as f64 + 0.5);
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[128, 100]).data(&values)?;
    assert_eq!(stage.commit()?.chunks_written, 79);
    // Row 10,000 is in the last chunk, which so has another extent.
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.resize(&[10_001, 100])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused, report.chunks_filled), (1, 0, 0));
    // A thousand chunks of fill are neither hashed nor stored, but for the one at the new edge.
    let mut stage = file.stage("r2")?;
    stage.dataset_mut("x")?.resize(&[128 * 1079 + 1, 100])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused, report.chunks_filled), (1, 0, 0));
    // And back: the old edge is known.
    let mut stage = file.stage("r3")?;
    stage.dataset_mut("x")?.resize(&[10_000, 100])?;
    let report = stage.commit()?;
    assert_eq!((report.chunks_written, report.chunks_reused), (0, 1));
    assert_eq!(read_as::<f64>(&file, "r3", "x"), values.into_dyn());
    drop(file);
    scratch.alter("agrees", &[])?;
    Ok(())
}

/// Strings took another way through hashing than elements of fixed size.
#[test]
fn strings_are_shared_as_elements_of_fixed_size_are() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    const LENGTH: usize = 20_000;
    let mut words: Vec<u64> = (0..LENGTH as u64).map(|at| at % 5000).collect();
    for version in 0..4 {
        let mut stage = file.stage(&format!("r{version}"))?;
        let strings: Vec<String> = words.iter().map(u64::to_string).collect();
        let fixed: Vec<u8> =
            strings.iter().flat_map(|s| format!("{s:\0<8}").into_bytes()).collect();
        if version == 0 {
            stage.create_dataset("strings").chunks(&[1000]).strings(&[LENGTH as u64], &strings)?;
            let builder = stage.create_dataset("fixed").chunks(&[1000]);
            builder.bytes("|S8".parse()?, &[LENGTH as u64], fixed)?;
        } else {
            stage.dataset_mut("strings")?.write_strings(
                Selection::all(),
                &strings,
                &[LENGTH as u64],
            )?;
            stage.dataset_mut("fixed")?.write_bytes(Selection::all(), &fixed, &[LENGTH as u64])?;
        }
        let report = stage.commit()?;
        let counts = |path: &str| {
            let dataset = report.datasets.iter().find(|dataset| dataset.path == path).unwrap();
            (dataset.chunks_written, dataset.chunks_reused, dataset.chunks_filled)
        };
        assert_eq!(counts("strings"), counts("fixed"), "{version}");
        let expected = [(5, 15, 0), (1, 19, 0), (0, 20, 0), (1, 19, 0)][version];
        assert_eq!(counts("strings"), expected, "{version}");
        match version {
            0 => words[3500] = 77,
            1 => words[3500] = 3500,
            _ => words.iter_mut().for_each(|word| *word += 1_000),
        }
    }
    Ok(())
}

/// Stored chunks could be reached through unsafe calls only.
#[test]
fn stored_chunks_are_listed_and_decode_without_the_library() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let values = Array1::from_iter(0..3000_i64);
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[512]).shuffle().gzip(9).data(&values)?;
    stage.commit()?;
    let x = dataset(&file, "r0", "x");
    let bytes = scratch.bytes();
    let pipeline = Pipeline::new(x.filters().to_vec(), 512 * 8, 8);
    let (mut decoded, mut scratch_space) = (Vec::new(), CodecScratch::default());
    for chunk in x.stored_chunks()? {
        let (start, size) = (chunk.address as usize, chunk.size as usize);
        let mut elements = vec![0; 512 * 8];
        let stored = &bytes[start..start + size];
        pipeline.decode_into(stored, chunk.filter_mask, &mut scratch_space, &mut elements)?;
        decoded.extend(elements.chunks_exact(8).map(|e| i64::from_le_bytes(e.try_into().unwrap())));
    }
    decoded.truncate(3000);
    assert_eq!(ArrayD::from_shape_vec(vec![3000], decoded)?, values.into_dyn());
    Ok(())
}

/// Opening a stage looked at every chunk.
#[test]
fn staging_reads_nothing_of_the_data() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let mut x = stage.create_dataset("x").chunks(&[8]).empty("<f8".parse()?, &[80_000])?;
    x.write("::8".parse::<Selection>()?, &Array1::from_iter((0..10_000).map(f64::from)))?;
    stage.commit()?;
    drop(file);
    let mut file = VersionedFile::open_rw(&scratch.path)?;
    let before = file.io_counts();
    let mut stage = file.stage("r1")?;
    assert_eq!(stage.dataset_mut("x")?.shape(), [80_000]);
    drop(stage);
    let after = file.io_counts();
    let (preads, bytes) = (after.preads - before.preads, after.bytes - before.bytes);
    assert!(preads <= 32 && bytes <= 16 << 10, "{preads} reads of {bytes} bytes");
    assert_eq!(after.library_reads, before.library_reads);
    Ok(())
}
