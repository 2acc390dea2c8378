//! Versions as whole arrays, compared element by element.

use std::collections::{BTreeMap, HashSet};

use h5strata::store::ValueDiff;
use ndarray::{ArrayD, ArrayViewD, Slice};

/// A version: its parent and the array, if it has one.
pub(crate) struct Naive {
    pub(crate) parent: Option<usize>,
    pub(crate) array: Option<Chunked>,
}

/// An array, and the chunks that are stored: one that is all fill may be or not, and is another chunk then.
#[derive(Clone, PartialEq)]
pub(crate) struct Chunked {
    pub(crate) array: ArrayD<i64>,
    pub(crate) stored: HashSet<Vec<u64>>,
}

/// A chunk of each of two arrays, by its coordinate: the parts inside the bounds.
type Chunk<'a> = (Option<ArrayViewD<'a, i64>>, Option<ArrayViewD<'a, i64>>);

/// The part of a chunk inside the bounds; `None` outside.
pub(crate) fn part<'a>(
    array: &'a ArrayD<i64>,
    coordinate: &[u64],
    chunk: &[u64],
) -> Option<ArrayViewD<'a, i64>> {
    let start = |axis: usize| (coordinate[axis] * chunk[axis]) as usize;
    if (0..array.ndim()).any(|axis| start(axis) >= array.shape()[axis]) {
        return None;
    }
    Some(array.slice_each_axis(|axis| {
        let (at, size) = (axis.axis.index(), axis.len);
        Slice::from(start(at)..(start(at) + chunk[at] as usize).min(size))
    }))
}

/// All chunk coordinates of an array.
pub(crate) fn grid(array: &ArrayD<i64>, chunk: &[u64]) -> Vec<Vec<u64>> {
    let sizes: Vec<usize> = array
        .shape()
        .iter()
        .zip(chunk)
        .map(|(&size, &edge)| size.div_ceil(edge as usize))
        .collect();
    let index = |index: ndarray::IxDyn| {
        ndarray::Dimension::slice(&index).iter().map(|&at| at as u64).collect()
    };
    ndarray::indices(sizes).into_iter().map(index).collect()
}

/// The chunks that are not the same in two arrays.
pub(crate) fn changed<'a>(
    old: &'a Chunked,
    new: &'a Chunked,
    chunk: &[u64],
) -> BTreeMap<Vec<u64>, Chunk<'a>> {
    let mut chunks = BTreeMap::new();
    for at in grid(&old.array, chunk).into_iter().chain(grid(&new.array, chunk)) {
        let parts = (part(&old.array, &at, chunk), part(&new.array, &at, chunk));
        if parts.0 != parts.1 || old.stored.contains(&at) != new.stored.contains(&at) {
            chunks.insert(at, parts);
        }
    }
    chunks
}

/// How the elements of two arrays differ.
pub(crate) fn values(old: &ArrayD<i64>, new: &ArrayD<i64>) -> ValueDiff {
    let mut found = ValueDiff { changed: 0, bounds: None, added: 0, removed: 0 };
    found.removed = old.indexed_iter().filter(|(at, _)| new.get(at).is_none()).count() as u64;
    for (at, element) in new.indexed_iter() {
        match old.get(&at) {
            None => found.added += 1,
            Some(old) if old == element => {}
            Some(_) => {
                found.changed += 1;
                let at = ndarray::Dimension::slice(&at).iter().map(|&at| at as u64);
                let (start, stop) = found
                    .bounds
                    .get_or_insert_with(|| (at.clone().collect(), at.clone().collect()));
                for (axis, at) in at.enumerate() {
                    start[axis] = start[axis].min(at);
                    stop[axis] = stop[axis].max(at + 1);
                }
            }
        }
    }
    found
}

/// The version that wrote a chunk last: the last one on the way back that has it.
pub(crate) fn blamed(versions: &[Naive], mut version: usize, at: &[u64], chunk: &[u64]) -> usize {
    let of = |version: usize| {
        let array = versions[version].array.as_ref()?;
        Some((part(&array.array, at, chunk), array.stored.contains(at)))
    };
    while let Some(parent) = versions[version].parent {
        if of(parent) != of(version) {
            break;
        }
        version = parent;
    }
    version
}
