use super::super::dataset::Dataset;
use super::super::error::Error;
use super::dataset::DatasetDiff;
use super::grids::{shared, volume};
use super::regions::block;
use crate::dims::{Dims, unravel};

/// How the values of two versions of a dataset differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueDiff {
    /// Number of elements that both versions have with other values: other bits, so that -0.0 is not 0.0.
    pub changed: u64,
    /// The smallest box that holds them all, as its first element and the one behind its last; `None` if there are none.
    pub bounds: Option<(Dims, Dims)>,
    /// Number of elements that only the new version has.
    pub added: u64,
    /// Number of elements that only the old version has.
    pub removed: u64,
}

impl DatasetDiff {
    /// Compares the values, and reads the changed chunks that both versions have to do so, one at a time. Elements of two types are not compared:
    /// all old ones are removed then, and all new ones added.
    ///
    /// # Errors
    /// [`Error::Dataset`]: a chunk cannot be read, or elements hold addresses in the file.
    pub fn values(&self) -> Result<ValueDiff, Error> {
        let count = |side: &Option<Dataset>| side.as_ref().map_or(0, |side| volume(side.shape()));
        let mut values = ValueDiff {
            changed: 0,
            bounds: None,
            added: count(&self.new),
            removed: count(&self.old),
        };
        let (Some(old), Some(new), Some(_)) = (&self.old, &self.new, &self.common) else {
            return Ok(values);
        };
        let both = volume(&shared(old.shape(), new.shape()));
        values.added -= both;
        values.removed -= both;
        for chunk in self.changed_in_both() {
            let (Some(old_shape), Some(new_shape)) = (chunk.old_shape, chunk.new_shape) else {
                continue;
            };
            let shape = shared(&old_shape, &new_shape);
            let selection = block(&chunk.start, &shape);
            if new.dtype().is_variable_string() {
                let (old, new) =
                    (old.read_byte_strings(&selection)?, new.read_byte_strings(&selection)?);
                values.compare(old.iter(), new.iter(), &chunk.start, &shape);
                continue;
            }
            let (old, new_bytes) = (old.read_bytes(&selection)?.0, new.read_bytes(&selection)?.0);
            if old != new_bytes {
                let size = new.dtype().size().unwrap_or(1).max(1);
                let elements = (old.chunks_exact(size), new_bytes.chunks_exact(size));
                values.compare(elements.0, elements.1, &chunk.start, &shape);
            }
        }
        Ok(values)
    }
}

impl ValueDiff {
    /// Adds the elements of a box that differ.
    fn compare<E: PartialEq>(
        &mut self,
        old: impl Iterator<Item = E>,
        new: impl Iterator<Item = E>,
        start: &[u64],
        shape: &[u64],
    ) {
        for (position, (old, new)) in (0..).zip(old.zip(new)) {
            if old != new {
                let place = unravel(position, shape);
                self.add(place.iter().zip(start).map(|(place, start)| place + start).collect());
            }
        }
    }

    fn add(&mut self, element: Dims) {
        self.changed += 1;
        let behind = || element.iter().map(|&at| at + 1).collect();
        let Some((first, end)) = &mut self.bounds else {
            self.bounds = Some((element.clone(), behind()));
            return;
        };
        for (axis, &at) in element.iter().enumerate() {
            first[axis] = first[axis].min(at);
            end[axis] = end[axis].max(at + 1);
        }
    }
}
