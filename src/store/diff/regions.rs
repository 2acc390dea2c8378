use ndarray::ArrayD;

use super::super::dataset::Dataset;
use super::super::element::Element;
use super::super::error::Error;
use super::dataset::DatasetDiff;
use crate::dims::Dims;
use crate::selection::{AxisSelection, Selection};

/// The elements of a changed chunk in two versions.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedRegion<V> {
    /// Its first element.
    pub start: Dims,
    /// The old elements inside the old version's bounds; `None` where there are none.
    pub old: Option<V>,
    /// The new elements inside the new version's bounds; `None` where there are none. The shape is another than that of
    /// the old ones where a bound crosses the chunk.
    pub new: Option<V>,
}

impl DatasetDiff {
    /// The elements of the changed chunks as arrays of `T`, in the order of [`changed_chunks`](Self::changed_chunks).
    /// Nothing else is read, and a chunk when it is its turn.
    ///
    /// That a chunk was stored anew does not make its values other ones: [`values`](Self::values) tells what is.
    ///
    /// # Errors
    /// Each as [`Dataset::read`].
    pub fn changed_regions<T: Element>(
        &self,
    ) -> impl Iterator<Item = Result<ChangedRegion<ArrayD<T>>, Error>> + '_ {
        self.regions(|dataset, selection| dataset.read(selection))
    }

    /// The same as bytes in the file's byte order and C order, with their shape.
    ///
    /// # Errors
    /// Each as [`Dataset::read_bytes`].
    pub fn changed_region_bytes(
        &self,
    ) -> impl Iterator<Item = Result<ChangedRegion<(Vec<u8>, Dims)>, Error>> + '_ {
        self.regions(Dataset::read_bytes)
    }

    /// The same of strings, as bytes whatever their encoding.
    ///
    /// # Errors
    /// Each as [`Dataset::read_byte_strings`].
    pub fn changed_region_strings(
        &self,
    ) -> impl Iterator<Item = Result<ChangedRegion<ArrayD<Vec<u8>>>, Error>> + '_ {
        self.regions(|dataset, selection| dataset.read_byte_strings(selection))
    }

    fn regions<'d, V>(
        &'d self,
        read: impl Fn(&Dataset, &Selection) -> Result<V, Error> + 'd,
    ) -> impl Iterator<Item = Result<ChangedRegion<V>, Error>> + 'd {
        self.changed_chunks().map(move |chunk| {
            let of = |side: &Option<Dataset>, shape: &Option<Dims>| match (side, shape) {
                (Some(side), Some(shape)) => read(side, &block(&chunk.start, shape)).map(Some),
                _ => Ok(None),
            };
            let old = of(&self.old, &chunk.old_shape)?;
            let new = of(&self.new, &chunk.new_shape)?;
            Ok(ChangedRegion { start: chunk.start, old, new })
        })
    }
}

/// The selection of a box. No element of a dataset lies beyond what a selection can name: HDF5 limits sizes to 63 bits
/// (`H5S_MAX_SIZE`), and a start beyond would be out of bounds.
pub(super) fn block(start: &[u64], shape: &[u64]) -> Selection {
    let index = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
    Selection::axes(start.iter().zip(shape).map(|(&start, &count)| AxisSelection::Slice {
        start: Some(index(start)),
        stop: Some(index(start.saturating_add(count))),
        step: 1,
    }))
}
