//! The grids of chunks of two versions of a dataset, laid over each other.

use smallvec::smallvec;

use crate::chunk_map::ChunkMap;
use crate::dims::{Dims, RawChunk, element_count, ravel, unravel};

/// How many chunks along each axis lie inside the bounds of both shapes with one extent: a box from the first chunk on.
pub(super) fn chunks_alike(old: &[u64], new: &[u64], chunk_shape: &[u64]) -> Dims {
    let axes = old.iter().zip(new).zip(chunk_shape);
    axes.map(
        |((&old, &new), &edge)| {
            if old == new { old.div_ceil(edge) } else { old.min(new) / edge }
        },
    )
    .collect()
}

/// The box that two boxes from one corner on share.
pub(super) fn shared(one: &[u64], other: &[u64]) -> Dims {
    one.iter().zip(other).map(|(&one, &other)| one.min(other)).collect()
}

/// Volume of a box; the highest number if it has no number.
pub(super) fn volume(shape: &[u64]) -> u64 {
    element_count(shape).unwrap_or(u64::MAX)
}

/// The part of a chunk inside the bounds, in elements; `None` for a chunk that the shape has not.
pub(super) fn extent(coordinate: &[u64], shape: &[u64], chunk_shape: &[u64]) -> Option<Dims> {
    let axes = coordinate.iter().zip(shape).zip(chunk_shape);
    let part = |((&at, &size), &edge): ((&u64, &u64), &u64)| {
        let inside = size.checked_sub(at.checked_mul(edge)?)?.min(edge);
        (inside > 0).then_some(inside)
    };
    axes.map(part).collect()
}

/// A chunk map beside the grid that it is of.
pub(super) type Mapped<'m> = (&'m ChunkMap, &'m [u64]);

/// The chunks of the box `alike`, by their row-major position in it, that two maps have other stored chunks behind.
pub(super) fn differing(old: Mapped<'_>, new: Mapped<'_>, alike: &[u64]) -> Vec<u64> {
    let (mut old, mut new) = (inside(old, alike).peekable(), inside(new, alike).peekable());
    let mut differing = Vec::new();
    loop {
        let (in_old, in_new) = match (old.peek(), new.peek()) {
            (None, None) => return differing,
            (Some((old, _)), Some((new, _))) => (old <= new, new <= old),
            (old, new) => (old.is_some(), new.is_some()),
        };
        let (old, new) = (old.next_if(|_| in_old), new.next_if(|_| in_new));
        if let (true, Some((position, _))) = (old != new, old.or(new)) {
            differing.push(position);
        }
    }
}

/// The stored chunks of a map that lie in the box `alike`, by their position in it, in rising order.
fn inside<'m>(
    (map, grid): Mapped<'m>,
    alike: &'m [u64],
) -> impl Iterator<Item = (u64, RawChunk)> + 'm {
    let is_whole = grid == alike;
    map.iter().filter_map(move |(chunk, raw)| {
        let position = if is_whole { chunk.0 } else { ravel(&unravel(chunk.0, grid), alike)? };
        Some((position, raw))
    })
}

/// Walks the coordinates of a box that are not in another box from the same corner on, each once: slab by slab, so that
/// the walk takes as many steps as there are such coordinates.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    outer: Dims,
    inner: Dims,
    /// Slab `axis`: inside `inner` on all axes before, and outside of it on this one.
    axis: usize,
    at: Option<Dims>,
}

impl Outside {
    pub(super) fn new(outer: &[u64], inner: &[u64]) -> Self {
        let mut outside =
            Self { outer: Dims::from_slice(outer), inner: shared(outer, inner), axis: 0, at: None };
        outside.at = outside.first();
        outside
    }

    /// The whole of a box.
    pub(super) fn of_nothing(outer: &[u64]) -> Self {
        let nothing: Dims = smallvec![0; outer.len()];
        Self::new(outer, &nothing)
    }

    /// Where the slab begins and ends on an axis.
    fn range(&self, axis: usize) -> (u64, u64) {
        match axis.cmp(&self.axis) {
            std::cmp::Ordering::Less => (0, self.inner[axis]),
            std::cmp::Ordering::Equal => (self.inner[axis], self.outer[axis]),
            std::cmp::Ordering::Greater => (0, self.outer[axis]),
        }
    }

    /// The first coordinate of this slab, or of the next one that has any.
    fn first(&mut self) -> Option<Dims> {
        while self.axis < self.outer.len() {
            let ranges = || (0..self.outer.len()).map(|axis| self.range(axis));
            if ranges().all(|(start, end)| start < end) {
                return Some(ranges().map(|(start, _)| start).collect());
            }
            self.axis += 1;
        }
        None
    }
}

impl Iterator for Outside {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let mut at = self.at.take()?;
        let found = at.clone();
        for axis in (0..at.len()).rev() {
            let (start, end) = self.range(axis);
            at[axis] += 1;
            if at[axis] < end {
                self.at = Some(at);
                return Some(found);
            }
            at[axis] = start;
        }
        self.axis += 1;
        self.at = self.first();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn outside_of_a_box_is_each_coordinate_that_is_not_inside() {
        for outer in [[3, 4], [0, 4], [1, 1], [5, 2]] {
            for inner in [[0, 0], [2, 2], [3, 4], [9, 1], [1, 9], [3, 0]] {
                let is_inside = |c: &[u64]| c.iter().zip(&inner).all(|(c, size)| c < size);
                let whole = (0..outer[0]).flat_map(|row| (0..outer[1]).map(move |c| [row, c]));
                let expected: HashSet<Vec<u64>> =
                    whole.filter(|c| !is_inside(c)).map(|c| c.to_vec()).collect();
                let walked: Vec<Vec<u64>> =
                    Outside::new(&outer, &inner).map(|c| c.to_vec()).collect();
                assert_eq!(walked.len(), expected.len(), "{outer:?} {inner:?}");
                assert_eq!(walked.into_iter().collect::<HashSet<_>>(), expected);
            }
        }
        assert_eq!(Outside::of_nothing(&[]).next(), None);
    }

    #[test]
    fn edge_chunks_of_another_extent_are_not_alike() {
        assert_eq!(chunks_alike(&[8, 9], &[10, 9], &[4, 4]).as_slice(), [2, 3]);
        assert_eq!(chunks_alike(&[7], &[10], &[4]).as_slice(), [1]);
        assert_eq!(chunks_alike(&[7], &[0], &[4]).as_slice(), [0]);
        assert_eq!(extent(&[2], &[10], &[4]).unwrap().as_slice(), [2]);
        assert_eq!(extent(&[2], &[8], &[4]), None);
        assert_eq!(extent(&[u64::MAX], &[8], &[4]), None);
    }

    #[test]
    fn maps_differ_where_they_have_other_stored_chunks() {
        let map = |raws: &[Option<u64>]| {
            let chunks = (0..).map(crate::dims::ChunkIndex).zip(raws);
            ChunkMap::of(chunks.map(|(at, raw)| (at, raw.map(RawChunk))), raws.len() as u64)
        };
        let old = map(&[Some(0), None, Some(2), Some(3), None, None]);
        let new = map(&[Some(0), Some(1), Some(5), Some(3), Some(4), None]);
        assert_eq!(differing((&old, &[2, 3]), (&new, &[2, 3]), &[2, 3]), [1, 2, 4]);
        // Of grids (3, 2) and (2, 3) the box (2, 2).
        assert_eq!(differing((&old, &[3, 2]), (&new, &[2, 3]), &[2, 2]), [1, 2, 3]);
        assert_eq!(differing((&old, &[2, 3]), (&new, &[2, 3]), &[0, 3]), [] as [u64; 0]);
    }
}
