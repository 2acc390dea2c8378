//! What comparing costs: no chunk is read unless its values are asked for.

use std::fs::OpenOptions as OsOptions;
use std::os::unix::fs::FileExt as _;

use h5strata::{OpenOptions, Selection, VersionedFile};
use ndarray::{Array2, s};

use crate::support::Outcome;
use crate::support::cost::cost;
use crate::{Scratch, coordinates, diff};

/// Chunks of the dataset "x", each of [`CHUNK`] bytes.
const CHUNKS: usize = 100;

/// Bytes of a chunk.
const CHUNK: u64 = 64_000;

/// 20 versions of a dataset, the first element of chunk `n` written in version `n`.
fn written(gzip: bool) -> Result<(Scratch, VersionedFile), Box<dyn std::error::Error>> {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    let builder = stage.create_dataset("x").chunks(&[1, 8_000]);
    let builder = if gzip { builder.gzip(1) } else { builder };
    builder.data(&Array2::from_shape_fn((CHUNKS, 8_000), |(row, c)| (row * c) as i64))?;
    stage.commit()?;
    for version in 1..20 {
        let mut stage = file.stage(&format!("r{version}"))?;
        stage.dataset_mut("x")?.write_scalar(s![version, 0], -1i64)?;
        stage.commit()?;
    }
    drop(file);
    let file = OpenOptions::new().threads(1).open(&scratch.path)?;
    Ok((scratch, file))
}

#[test]
fn a_diff_reads_two_lists_and_its_regions_the_changed_chunks_alone() -> Outcome {
    let (_scratch, file) = written(false)?;
    let (diff, counts) = cost(&file, || diff(&file, "r3", "r6"));
    assert_eq!(coordinates(&diff), [[4, 0], [5, 0], [6, 0]]);
    // Both lists are read, compared, and decoded as they differ: less than a chunk in all.
    assert!(counts.bytes < CHUNK && counts.library_reads == 0, "{counts:?}");
    let (regions, counts) = cost(&file, || diff.changed_regions::<i64>().collect::<Vec<_>>());
    assert_eq!(regions.len(), 3);
    for (region, row) in regions.into_iter().zip(4..) {
        let region = region?;
        let (old, new) = (region.old.ok_or("a chunk")?, region.new.ok_or("a chunk")?);
        assert_eq!((old[[0, 0]], new[[0, 0]], old[[0, 1]]), (0, -1, row));
    }
    assert!(counts.bytes < 6 * CHUNK + CHUNK && counts.library_reads == 0, "{counts:?}");
    Ok(())
}

#[test]
fn a_blame_reads_no_chunk() -> Outcome {
    let (_scratch, file) = written(false)?;
    let dataset = file.version("r19")?.dataset("x")?;
    let (blame, counts) = cost(&file, || dataset.blame(s![7, ..]));
    assert_eq!(blame?.versions(), ["r7"]);
    // Twelve versions back, each by its header, the beginning of its list and one mapping.
    assert!(counts.preads <= 13 * 12 && counts.bytes < 13 * (16 << 10), "{counts:?}");
    let (blame, counts) = cost(&file, || dataset.blame(Selection::all()));
    let blame = blame?;
    let found: Vec<_> = blame.chunks().map(|chunk| chunk.version.to_owned()).collect();
    let expected = (0..CHUNKS).map(|row| format!("r{}", if row < 20 { row } else { 0 }));
    assert_eq!(found, expected.collect::<Vec<_>>());
    // Each of the twenty lists is read once to be decoded, and once for each neighbour to be compared with.
    let list = CHUNKS as u64 * 150;
    assert!(counts.bytes < 20 * 3 * list && counts.library_reads == 0, "{counts:?}");
    Ok(())
}

#[test]
fn chunks_that_cannot_be_read_are_compared_and_blamed_all_the_same() -> Outcome {
    let (scratch, file) = written(true)?;
    let chunks = file.version("r5")?.dataset("x")?.stored_chunks()?;
    drop(file);
    let bytes = OsOptions::new().write(true).open(&scratch.path)?;
    for chunk in &chunks {
        bytes.write_all_at(&vec![0xFF; chunk.size as usize], chunk.address)?;
    }
    let file = VersionedFile::open(&scratch.path)?;
    let found = diff(&file, "r4", "r6");
    assert_eq!(coordinates(&found), [[5, 0], [6, 0]]);
    let blame = file.version("r5")?.dataset("x")?.blame(s![..3, ..])?;
    let blamed: Vec<_> = blame.chunks().map(|chunk| chunk.version.to_owned()).collect();
    assert_eq!(blamed, ["r0", "r1", "r2"]);
    assert!(found.values().is_err() && found.changed_regions::<i64>().next().unwrap().is_err());
    Ok(())
}
