//! Cutting a selection into slabs that follow each other in C order.

use h5strata::dims::element_count;
use h5strata::selection::{AxisSelection, Selection, SelectionError};
use h5strata::store::DatasetFault;
use h5strata::{Dataset, Error};

use super::{Axes, Axis};

/// Bytes that a slab should have at most.
const SLAB: u64 = 64 << 20;

/// Bytes that a slab of filtered chunks may have so that no chunk is decoded twice.
const WHOLE_CHUNKS: u64 = 512 << 20;

/// What an element of variable length is taken to cost in memory, its bytes included.
const STRING: u64 = 256;

/// A selection cut into slabs: blocks of one axis, for each element of the axes before it.
///
/// Where chunks allow it, a block ends at the edge of chunks, so that each chunk is read once. If a single row
/// of filtered chunks is above [`WHOLE_CHUNKS`], its chunks are decoded once for each slab.
#[derive(Debug)]
pub(crate) struct Parts {
    axes: Axes,
    /// The axis that is cut in blocks.
    cut: usize,
    /// Elements of that axis in a block.
    block: u64,
    /// Elements of the first block, which may end sooner.
    first: u64,
    elements: u64,
    element_bytes: u64,
}

impl Parts {
    /// Cuts a selection of a dataset.
    pub(crate) fn new(dataset: &Dataset, selection: &Selection) -> Result<Self, Error> {
        let element_bytes = match dataset.dtype().size() {
            Some(size) => size.max(1) as u64,
            None => STRING,
        };
        let filtered = !dataset.filters().is_empty();
        let cut = Axes::new(selection, dataset.shape()).and_then(|axes| {
            Self::cut(axes, dataset.chunk_shape(), element_bytes, filtered, SLAB, WHOLE_CHUNKS)
        });
        cut.map_err(|error| Error::Dataset {
            file: dataset.file().to_owned(),
            version: dataset.version().to_owned(),
            dataset: dataset.path().to_owned(),
            fault: Box::new(DatasetFault::Plan(error.into())),
        })
    }

    fn cut(
        axes: Axes,
        chunk_shape: &[u64],
        element_bytes: u64,
        filtered: bool,
        slab: u64,
        whole_chunks: u64,
    ) -> Result<Self, SelectionError> {
        let counts: Vec<u64> = axes.axes().iter().map(Axis::count).collect();
        let elements = element_count(&counts)?;
        // Bytes of one element of axis `axis` with all that belongs to it on the axes behind.
        let row = |axis: usize| {
            counts[axis + 1..].iter().fold(element_bytes, |row, &count| row.saturating_mul(count))
        };
        let last = counts.len().saturating_sub(1);
        let cut = (0..last).find(|&axis| row(axis) <= slab).unwrap_or(last);
        let (mut block, mut first) = (u64::MAX, u64::MAX);
        if let Some(axis) = axes.axes().get(cut) {
            let row = row(cut).max(1);
            block = (slab / row).max(1);
            if let (Axis::Run { start, step: 1, .. }, Some(&edge)) = (axis, chunk_shape.get(cut)) {
                if block >= edge {
                    block -= block % edge;
                } else if filtered && edge.saturating_mul(row) <= whole_chunks {
                    block = edge;
                }
                // Only blocks of whole chunks can end where chunks end.
                let ahead =
                    if block.is_multiple_of(edge) { start.unsigned_abs() % edge } else { 0 };
                first = block - ahead;
            } else {
                first = block;
            }
        }
        Ok(Self { axes, cut, block, first, elements, element_bytes })
    }

    /// What is taken of each axis.
    pub(crate) fn axes(&self) -> &Axes {
        &self.axes
    }

    /// Elements in all.
    pub(crate) fn elements(&self) -> u64 {
        self.elements
    }

    /// Bytes in all; of strings, an estimate.
    pub(crate) fn bytes(&self) -> u64 {
        self.elements.saturating_mul(self.element_bytes)
    }

    /// The slabs in C order, with their number of elements; none if nothing is selected.
    pub(crate) fn slabs(&self) -> impl Iterator<Item = (Selection, u64)> + '_ {
        let counts: Vec<u64> = self.axes.axes().iter().map(Axis::count).collect();
        // Number of the element on each axis before the cut.
        let mut outer = vec![0u64; self.cut];
        let mut from = 0;
        let mut done = self.elements == 0;
        std::iter::from_fn(move || {
            if done {
                return None;
            }
            let cut_count = counts.get(self.cut).copied().unwrap_or(1);
            let length = if from == 0 { self.first } else { self.block }.min(cut_count - from);
            let part = |(number, axis): (usize, &Axis)| -> AxisSelection {
                if number < self.cut {
                    axis.part(outer[number], 1)
                } else if number == self.cut {
                    axis.part(from, length)
                } else {
                    axis.part(0, axis.count())
                }
            };
            let selection = Selection::axes(self.axes.axes().iter().enumerate().map(part));
            let behind: u64 = counts.iter().skip(self.cut + 1).product();
            let elements = length * behind;
            from += length;
            if from >= cut_count {
                from = 0;
                done = !advance(&mut outer, &counts);
            }
            Some((selection, elements))
        })
    }
}

/// Moves to the next coordinate; `false` after the last.
fn advance(coordinate: &mut [u64], counts: &[u64]) -> bool {
    for (index, &count) in coordinate.iter_mut().zip(counts).rev() {
        *index += 1;
        if *index < count {
            return true;
        }
        *index = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row-major numbers of the elements that the slabs take, and the elements of each slab.
    fn slabs(selection: &str, shape: &[u64], chunks: &[u64], slab: u64) -> (Vec<u64>, Vec<u64>) {
        let axes = Axes::new(&selection.parse().unwrap(), shape).unwrap();
        let parts = Parts::cut(axes, chunks, 1, false, slab, slab).unwrap();
        let (mut taken, mut sizes) = (Vec::new(), Vec::new());
        for (selection, elements) in parts.slabs() {
            let part = numbers(&selection, shape);
            assert_eq!(part.len() as u64, elements);
            taken.extend(part);
            sizes.push(elements);
        }
        (taken, sizes)
    }

    fn numbers(selection: &Selection, shape: &[u64]) -> Vec<u64> {
        let axes = Axes::new(selection, shape).unwrap();
        axes.axes().iter().zip(shape).fold(vec![0], |numbers, (axis, &size)| {
            let on_axis = |number: u64| {
                (0..axis.count()).map(move |at| {
                    let position = axis.position(at).rem_euclid(size.cast_signed());
                    number * size + position.unsigned_abs()
                })
            };
            numbers.into_iter().flat_map(on_axis).collect()
        })
    }

    #[test]
    fn slabs_put_together_are_the_selection() {
        let (shape, chunks) = ([5, 7, 6], [2, 3, 4]);
        for selection in ["...", "1:5, ::-2, [5,0,3]", "-1", "..., 2", ":, 3, 1:6", "::2", "0:0"] {
            let whole = numbers(&selection.parse().unwrap(), &shape);
            for slab in [1, 2, 5, 12, 50, 84, 90, 1000] {
                let (taken, sizes) = slabs(selection, &shape, &chunks, slab);
                assert_eq!(taken, whole, "{selection} in slabs of {slab}");
                assert!(sizes.iter().all(|&size| size <= slab), "{selection}: {sizes:?} > {slab}");
            }
        }
    }

    #[test]
    fn blocks_end_where_chunks_end() {
        assert_eq!(slabs("1:", &[10, 2], &[3, 2], 12).1, [10, 8]);
        assert_eq!(slabs("3:", &[10, 2], &[3, 2], 13).1, [12, 2]);
    }

    #[test]
    fn no_axes_are_one_element() {
        assert_eq!(slabs("0, 1", &[2, 2], &[1, 1], 64), (vec![1], vec![1]));
    }
}
