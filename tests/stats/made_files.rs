//! Every made file, and the real ones: against a naive model, and against what h5py says is stored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use h5strata::store::ChunkBytes;
use h5strata::{OpenOptions, Stats, VersionedFile};

use crate::support::{Outcome, made, shared};
use crate::{Scratch, whole};

/// All files: those that were made, and those of older formats where they are there.
fn files() -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
    let mut files: Vec<PathBuf> = made::files()?.into_iter().map(|file| file.path).collect();
    if let Some(folder) = shared::data()? {
        files.extend(shared::hdf5_files(&folder)?);
    }
    Ok(files)
}

fn open(path: &Path) -> Result<VersionedFile, h5strata::Error> {
    OpenOptions::new().accept_wrong_hashes(true).threads(1).open(path)
}

/// What a version has stored: `raw_data` and raw chunk, and the bytes.
type Chunks = BTreeMap<(String, u64), u64>;

/// The stored chunks of every version, by what reading them needs.
fn model(file: &VersionedFile) -> Result<Vec<Chunks>, h5strata::Error> {
    let of_version = |name: &str| {
        let version = file.version(name)?;
        let mut chunks = Chunks::new();
        for path in version.datasets()? {
            let dataset = version.dataset(&path)?;
            let raw_data = dataset.raw_data().0.to_owned();
            for chunk in dataset.stored_chunks()? {
                chunks.insert((raw_data.clone(), chunk.raw.0), chunk.size);
            }
        }
        Ok(chunks)
    };
    file.versions()?.iter().map(|version| of_version(&version.name)).collect()
}

fn sum(bytes: impl Iterator<Item = u64>) -> ChunkBytes {
    let mut sum = ChunkBytes::default();
    for bytes in bytes {
        sum.chunks += 1;
        sum.bytes += bytes;
    }
    sum
}

#[test]
fn versions_have_what_a_naive_model_gives_them() -> Outcome {
    for path in files()? {
        let file = open(&path)?;
        let options = h5strata::StatsOptions::new().quick(true);
        let stats = file.stats(&options)?;
        let name = path.display();
        assert!(stats.faults.is_empty(), "{name}: {:?}", stats.faults);
        let model = model(&file)?;
        let mut users: HashMap<&(String, u64), u64> = HashMap::new();
        model.iter().flat_map(Chunks::keys).for_each(|key| *users.entry(key).or_default() += 1);
        for (found, chunks) in stats.versions.iter().zip(&model) {
            let name = format!("{name}, {}", found.version);
            assert_eq!(found.mapped, sum(chunks.values().copied()), "{name}");
            let own = chunks.iter().filter(|(key, _)| users[key] == 1);
            assert_eq!(found.own, sum(own.map(|(_, &bytes)| bytes)), "{name}");
        }
        assert_eq!(stats.versions.len(), model.len(), "{name}");
        let all: BTreeSet<_> = model.iter().flatten().collect();
        let used = sum(all.into_iter().map(|(_, &bytes)| bytes));
        let (stored, orphans) = (stats.chunks(), stats.orphans());
        assert_eq!(stored.chunks - orphans.chunks, used.chunks, "{name}");
        assert_eq!(stored.bytes - orphans.bytes, used.bytes, "{name}");
    }
    Ok(())
}

#[test]
fn the_parts_are_those_that_h5py_finds_and_make_up_the_file() -> Outcome {
    let paths = files()?;
    let said = made::storage_sizes(paths.iter().map(PathBuf::as_path))?;
    let said: Vec<BTreeMap<String, (Option<u64>, u64)>> = serde_json::from_str(&said)?;
    assert_eq!(paths.len(), said.len());
    for (path, said) in paths.iter().zip(said) {
        compare(&whole(&open(path)?), path, said);
    }
    Ok(())
}

fn compare(stats: &Stats, path: &Path, mut said: BTreeMap<String, (Option<u64>, u64)>) {
    let name = path.display();
    for dataset in &stats.datasets {
        let raw_data = said.remove(&dataset.raw_data).unwrap();
        let found = (Some(dataset.stored.chunks), dataset.stored.bytes);
        assert_eq!(found, raw_data, "{name}, {}", dataset.raw_data);
        let hash_table = format!("/_version_data/{}/hash_table", dataset.dataset);
        let (_, bytes) = said.remove(&hash_table).unwrap_or_default();
        assert_eq!(dataset.hash_table, bytes, "{name}, {hash_table}");
    }
    let user_block = user_block(path);
    let outside: u64 = said.values().map(|(_, bytes)| bytes).sum();
    assert_eq!(stats.outside, outside + user_block, "{name}: {said:?}");
    let parts =
        [stats.chunks().bytes, stats.strings(), stats.lists(), stats.hash_tables(), stats.outside];
    let known: u64 = parts.iter().sum();
    // There are a superblock, groups and headers in every file, and that is all the rest it needs.
    assert!(known < stats.size, "{name}: {parts:?} of {}", stats.size);
    assert_eq!(known + stats.rest(), stats.size, "{name}");
    assert_eq!(stats.size, std::fs::metadata(path).unwrap().len(), "{name}");
}

/// Bytes in front of the superblock.
fn user_block(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let places = std::iter::once(0).chain((9..20).map(|power| 1_usize << power));
    let found = places.into_iter().find(|&at| bytes[at..].starts_with(b"\x89HDF\r\n\x1a\n"));
    found.unwrap() as u64
}

#[test]
fn what_is_not_versioned_is_counted_once() -> Outcome {
    let scratch = Scratch::new();
    std::fs::copy(made::file("branches")?.path, &scratch.path)?;
    let before = scratch.stats();
    made::add_not_versioned(&scratch.path)?;
    let stats = scratch.stats();
    let said = made::storage_sizes([scratch.path.as_path()])?;
    let mut said: Vec<BTreeMap<String, (Option<u64>, u64)>> = serde_json::from_str(&said)?;
    let mut said = said.pop().ok_or("an answer")?;
    // The one that is a version's by another name; h5py tells of only one of the names.
    said.remove("/of a version");
    let chunked = said["/a/chunked"].1;
    assert_eq!(stats.outside, before.outside + 800 + chunked);
    assert_eq!((stats.datasets, stats.versions), (before.datasets, before.versions));
    Ok(())
}
