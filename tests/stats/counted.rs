//! Files of known content, counted by hand.

use h5strata::store::ChunkBytes;
use h5strata::{RawPath, StageOptions, StatsOptions, VersionedFile};
use ndarray::{Array1, s};

use crate::support::{Outcome, made};
use crate::{OpenOptions, Scratch, dataset, version, whole};

fn chunks(chunks: u64, bytes: u64) -> ChunkBytes {
    let mut some = ChunkBytes::default();
    (some.chunks, some.bytes) = (chunks, bytes);
    some
}

/// Bytes of a chunk of "x".
const CHUNK: u64 = 4000;

/// Three versions of "x", 10 chunks of 500 elements and one of an edge: r1 has two chunks of its own, and r2, from r0, one
/// chunk less.
fn three(scratch: &Scratch) -> Result<VersionedFile, h5strata::Error> {
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("x").chunks(&[500]).data(&Array1::from_iter(0..5001_i64))?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("x")?.write_scalar(s![499..501], -1_i64)?;
    stage.commit()?;
    let mut stage = StageOptions::new().parent("r0").stage(&mut file, "r2")?;
    stage.dataset_mut("x")?.resize(&[5000])?;
    stage.commit()?;
    Ok(file)
}

#[test]
fn chunks_belong_to_the_versions_that_alone_map_them() -> Outcome {
    let scratch = Scratch::new();
    let file = three(&scratch)?;
    let of_writer = whole(&file);
    drop(file);
    let stats = scratch.stats();
    assert_eq!(stats.versions, of_writer.versions);
    assert_eq!(stats.size, std::fs::metadata(&scratch.path)?.len());
    let x = dataset(&stats, "x");
    assert_eq!((&*x.raw_data, x.versions, x.strings), ("/_version_data/x/raw_data", 3, None));
    assert_eq!((x.stored, x.orphans), (chunks(13, 13 * CHUNK), chunks(0, 0)));
    assert_eq!((x.logical, x.mapped), (8 * (5001 + 5001 + 5000), chunks(32, 32 * CHUNK)));
    assert_eq!((x.ratio(), x.sharing()), (Some(120_016. / 52_000.), Some(32. / 13.)));
    // The first two chunks of r0 are r2's as well, and its edge is r1's.
    let own = ["r0", "r1", "r2"].map(|name| version(&stats, name).own);
    assert_eq!(own, [chunks(0, 0), chunks(2, 2 * CHUNK), chunks(0, 0)]);
    let r1 = version(&stats, "r1");
    assert_eq!((r1.datasets, r1.logical, r1.mapped), (1, 8 * 5001, chunks(11, 11 * CHUNK)));
    assert_eq!(r1.shared(), Some(9. / 11.));
    // Each list is that of one version.
    assert!(stats.versions.iter().all(|version| version.own_lists > 0));
    let lists: u64 = stats.versions.iter().map(|version| version.own_lists).sum();
    assert_eq!((x.lists, stats.lists()), (lists, lists));
    assert_eq!(r1.frees(), 2 * CHUNK + r1.own_lists);
    assert!(x.hash_table > 0);
    assert_eq!(stats.outside, 0);
    let known = 13 * CHUNK + lists + x.hash_table;
    assert_eq!(stats.rest(), stats.size - known);
    Ok(())
}

#[test]
fn versions_with_the_same_list_share_all_of_it() -> Outcome {
    let scratch = Scratch::new();
    let mut file = three(&scratch)?;
    for name in ["r3", "r4", "r5"] {
        let mut stage = StageOptions::new().parent("r1").stage(&mut file, name)?;
        stage.create_dataset("y").chunks(&[10]).data(&Array1::<u8>::ones(5))?;
        stage.commit()?;
    }
    drop(file);
    let stats = scratch.stats();
    assert_eq!(version(&stats, "r1").own, chunks(0, 0));
    assert_eq!(version(&stats, "r5").mapped, chunks(12, 11 * CHUNK + 10));
    assert_eq!((dataset(&stats, "x").versions, dataset(&stats, "y").versions), (6, 3));
    assert_eq!(dataset(&stats, "x").mapped, chunks(65, 65 * CHUNK));
    Ok(())
}

#[test]
fn every_way_of_reading_counts_alike() -> Outcome {
    let scratch = Scratch::new();
    drop(three(&scratch)?);
    let stats = scratch.stats();
    let options = OpenOptions::new().raw_path(RawPath::Library).threads(1);
    let again = whole(&options.open(&scratch.path)?);
    assert_eq!((again.datasets, again.versions), (stats.datasets, stats.versions));
    Ok(())
}

#[test]
fn strings_count_with_the_chunks_that_refer_to_them() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    // An object of the heap has a header of 16 bytes, and its text is padded to 8.
    let words = ["", "1", "12345678", "123456789", "", "abc"];
    stage.create_dataset("w").chunks(&[4]).strings(&[6], &words)?;
    stage.commit()?;
    let mut stage = file.stage("r1")?;
    stage.dataset_mut("w")?.write_strings(s![5..6], &["x".repeat(100).as_str()], &[1])?;
    stage.commit()?;
    drop(file);
    let stats = scratch.stats();
    let w = dataset(&stats, "w");
    let (first, second, third) = (24 + 24 + 32, 24, 16 + 104);
    assert_eq!((w.stored, w.strings), (chunks(3, 3 * 64), Some(first + second + third)));
    assert_eq!(version(&stats, "r0").own, chunks(1, 64 + second));
    assert_eq!(version(&stats, "r1").own, chunks(1, 64 + third));
    assert_eq!(version(&stats, "r1").logical, 6 * 16 + first + third);
    // Without looking at them they are among the rest.
    let file = VersionedFile::open(&scratch.path)?;
    let quick = file.stats(&StatsOptions::new().quick(true))?;
    assert_eq!((dataset(&quick, "w").strings, quick.strings()), (None, 0));
    assert_eq!(quick.rest(), stats.rest() + stats.strings());
    assert_eq!(version(&quick, "r0").own, chunks(1, 64));
    Ok(())
}

#[test]
fn chunks_that_no_version_has_are_orphans() -> Outcome {
    let scratch = Scratch::new();
    drop(three(&scratch)?);
    made::alter("double", &scratch.path, &["x", "0"])?;
    let stats = scratch.stats();
    assert_eq!(dataset(&stats, "x").stored, chunks(14, 14 * CHUNK));
    assert_eq!(stats.orphans(), chunks(1, CHUNK));
    assert_eq!(dataset(&stats, "x").sharing(), Some(32. / 13.));
    Ok(())
}

#[test]
fn a_file_without_versions_has_only_structures() -> Outcome {
    let scratch = Scratch::new();
    drop(scratch.create());
    let stats = scratch.stats();
    assert!(stats.versions.is_empty() && stats.datasets.is_empty());
    assert_eq!(stats.rest(), stats.size);
    Ok(())
}

#[test]
fn fill_takes_nothing() -> Outcome {
    let scratch = Scratch::new();
    let mut file = scratch.create();
    let mut stage = file.stage("r0")?;
    stage.create_dataset("zero").chunks(&[10]).data(&Array1::<f64>::zeros(1000))?;
    stage.create_dataset("empty").chunks(&[10]).data(&Array1::<f64>::zeros(0))?;
    stage.commit()?;
    drop(file);
    let stats = scratch.stats();
    let zero = dataset(&stats, "zero");
    assert_eq!((zero.stored, zero.logical, zero.lists), (chunks(0, 0), 8000, 0));
    assert_eq!((zero.ratio(), zero.sharing()), (None, None));
    let r0 = version(&stats, "r0");
    assert_eq!((r0.datasets, r0.shared(), r0.frees()), (2, None, 0));
    Ok(())
}
