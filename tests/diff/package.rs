//! Files made by versioned-hdf5, against what its `get_diff` says of them.

use h5strata::dims::ravel;
use h5strata::store::ChangedRegion;
use h5strata::{Dataset, VersionedFile};

use crate::support::values::{sha256, sha256_of_strings};
use crate::support::{Outcome, made};

/// First element and the one behind the last, and the digest of the elements in each version that has them stored.
type Change = (Vec<u64>, Vec<u64>, Option<String>, Option<String>);

/// What `get_diff` would say: it knows stored chunks by their bounds, so that one of another extent is another one.
fn changes(old: &Dataset, new: &Dataset) -> Result<Vec<Change>, h5strata::Error> {
    let diff = old.diff(new)?;
    let digests: Result<_, h5strata::Error> = if new.dtype().is_variable_string() {
        let digest = |strings: ndarray::ArrayD<Vec<u8>>| {
            sha256_of_strings(&strings.into_iter().collect::<Vec<_>>())
        };
        let regions = diff.changed_region_strings();
        regions.map(|region| region.map(|region| digested(region, digest))).collect()
    } else {
        let digest = |(bytes, _): (Vec<u8>, _)| sha256(&bytes);
        let regions = diff.changed_region_bytes();
        regions.map(|region| region.map(|region| digested(region, digest))).collect()
    };
    let digests: Vec<ChangedRegion<String>> = digests?;
    let (old_map, new_map) = (old.chunk_map()?, new.chunk_map()?);
    let mut changes = Vec::new();
    for (chunk, region) in diff.changed_chunks().zip(digests) {
        let is_stored = |dataset: &Dataset, map: &h5strata::chunk_map::ChunkMap| {
            let chunk = ravel(&chunk.coordinate, dataset.chunk_grid());
            chunk.is_some_and(|chunk| map.get(h5strata::dims::ChunkIndex(chunk)).is_some())
        };
        let old = region.old.filter(|_| is_stored(old, old_map));
        let new = region.new.filter(|_| is_stored(new, new_map));
        let change = |shape: &[u64], old, new| {
            let stop = chunk.start.iter().zip(shape).map(|(start, count)| start + count);
            (chunk.start.to_vec(), stop.collect(), old, new)
        };
        match (&chunk.old_shape, &chunk.new_shape) {
            (Some(shape), Some(same)) if shape == same => changes.push(change(shape, old, new)),
            (old_shape, new_shape) => {
                changes.extend(old_shape.iter().map(|shape| change(shape, old.clone(), None)));
                changes.extend(new_shape.iter().map(|shape| change(shape, None, new.clone())));
            }
        }
    }
    changes.retain(|(_, _, old, new)| old.is_some() || new.is_some());
    changes.sort();
    Ok(changes)
}

fn digested<V>(region: ChangedRegion<V>, digest: impl Fn(V) -> String) -> ChangedRegion<String> {
    let (start, old, new) = (region.start, region.old.map(&digest), region.new.map(&digest));
    ChangedRegion { start, old, new }
}

#[test]
fn changed_chunks_and_their_values_are_those_of_get_diff() -> Outcome {
    let mut compared = 0;
    for name in [
        "prices",
        "branches",
        "resized",
        "many-versions",
        "deleted-versions",
        "deleted-and-renamed",
        "failed-stage",
        "names",
        "filter-builtin",
        "random-datasets",
        "random-3d",
        "dtype-strings",
        "dtype-compound",
        "signed-zero-and-nan",
        "empty",
        "fill-values",
        "old-data-version",
        "beside-user-data",
    ] {
        let made = made::file(name)?;
        let file = VersionedFile::open(&made.path)?;
        let answers: Vec<(String, String, String, Vec<Change>)> =
            serde_json::from_str(&made::get_diffs(&made.path)?)?;
        assert!(!answers.is_empty(), "{name}");
        for (old, new, path, expected) in answers {
            let dataset = |version: &str| file.version(version)?.dataset(&path);
            let found = changes(&dataset(&old)?, &dataset(&new)?)?;
            compared += found.len();
            assert_eq!(found, expected, "{name}, {path}, {old} -> {new}");
        }
    }
    assert!(compared > 300, "{compared} changes");
    Ok(())
}
