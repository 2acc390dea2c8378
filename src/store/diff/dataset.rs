use std::sync::Arc;

use smallvec::smallvec;

use super::super::dataset::{Dataset, DatasetInner};
use super::super::error::{DatasetFault, Error};
use super::attributes::{self, AttributeDiff};
use super::grids::{Outside, chunks_alike, differing, extent, shared, volume};
use crate::dims::{Dims, unravel};
use crate::dtype::Dtype;

/// What has become of a group or dataset from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the new version has it.
    Added,
    /// Only the old version has it.
    Removed,
    /// Both have it, and not alike.
    Changed,
}

/// How a dataset differs between two versions: found by its lists of mappings, without reading its values.
///
/// It keeps the position of each chunk of both that is mapped to another stored chunk, 8 bytes each.
#[derive(Clone, Debug)]
pub struct DatasetDiff {
    pub(super) old: Option<Dataset>,
    pub(super) new: Option<Dataset>,
    pub(super) common: Option<Common>,
    pub(super) attributes: Vec<AttributeDiff>,
}

/// The grid of chunks that both versions are cut by, where their elements have one type and their chunks one shape.
#[derive(Clone, Debug)]
pub(super) struct Common {
    /// Chunks along each axis that may be the same in both.
    alike: Dims,
    /// Those of them that are not, by their row-major position among them.
    differing: Vec<u64>,
}

/// A chunk that differs between two versions of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedChunk {
    /// Coordinate in the grid of chunks.
    pub coordinate: Dims,
    /// Its first element.
    pub start: Dims,
    /// Its shape inside the old version's bounds, in elements; `None` if the old version has no such chunk.
    pub old_shape: Option<Dims>,
    /// The same in the new version.
    pub new_shape: Option<Dims>,
}

impl Dataset {
    /// How `new`, which may have another path, differs from this dataset. Lists that are the same byte by byte are not
    /// decoded.
    ///
    /// # Errors
    /// [`Error::OtherFile`], [`Error::Dataset`], [`Error::Attribute`], [`Error::Library`].
    pub fn diff(&self, new: &Self) -> Result<DatasetDiff, Error> {
        self.check_same_file(new)?;
        let common = self.inner.common(&new.inner).map_err(new.inner.error())?;
        let attributes = attributes::compare(self.attributes()?, new.attributes()?);
        Ok(DatasetDiff { old: Some(self.clone()), new: Some(new.clone()), common, attributes })
    }

    fn check_same_file(&self, other: &Self) -> Result<(), Error> {
        let (one, two) = (&self.inner.version.file, &other.inner.version.file);
        if Arc::ptr_eq(&one.handle, &two.handle) {
            return Ok(());
        }
        Err(Error::OtherFile { file: one.path.clone(), other: two.path.clone() })
    }
}

impl DatasetInner {
    fn common(&self, new: &Self) -> Result<Option<Common>, DatasetFault> {
        let chunk_shape = self.storage.raw.chunk_shape();
        if self.storage.dtype != new.storage.dtype || chunk_shape != new.storage.raw.chunk_shape() {
            return Ok(None);
        }
        if !self.shares_stored_chunks(new) {
            return Ok(Some(Common {
                alike: smallvec![0; chunk_shape.len()],
                differing: Vec::new(),
            }));
        }
        let alike = chunks_alike(self.list.shape(), new.list.shape(), chunk_shape);
        let differing = if self.has_same_mappings(new)? {
            Vec::new()
        } else {
            let old = (&*self.map_once()?, self.geometry.grid());
            differing(old, (&*new.map_once()?, new.geometry.grid()), &alike)
        };
        Ok(Some(Common { alike, differing }))
    }

    /// Whether a raw chunk of one is the same chunk in the other.
    pub(in crate::store) fn shares_stored_chunks(&self, other: &Self) -> bool {
        self.storage.path == other.storage.path
            && self.storage.raw.chunk_shape() == other.storage.raw.chunk_shape()
    }

    /// Whether shape and mappings are the same, of datasets that share their stored chunks; seen without decoding
    /// anything, so that they may be the same if the answer is no.
    pub(in crate::store) fn has_same_mappings(&self, other: &Self) -> Result<bool, DatasetFault> {
        if self.list.shape() != other.list.shape() {
            return Ok(false);
        }
        let file = &self.version.file;
        let bytes = file.read_at().map(|(bytes, _)| bytes);
        Ok(file.read_whole(|| self.list.has_same_list(&other.list, bytes))?)
    }
}

impl DatasetDiff {
    /// A dataset that only one of the versions has.
    pub(super) fn of_one(old: Option<Dataset>, new: Option<Dataset>) -> Self {
        Self { old, new, common: None, attributes: Vec::new() }
    }

    /// Path in the new version, or in the old one if it was removed.
    pub fn path(&self) -> &str {
        self.new.as_ref().or(self.old.as_ref()).map_or("", Dataset::path)
    }

    /// The dataset in the old version.
    pub fn old_dataset(&self) -> Option<&Dataset> {
        self.old.as_ref()
    }

    /// The dataset in the new version.
    pub fn new_dataset(&self) -> Option<&Dataset> {
        self.new.as_ref()
    }

    /// What has become of it.
    pub fn change(&self) -> Change {
        match (&self.old, &self.new) {
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        }
    }

    /// Whether nothing is different at all.
    pub fn is_empty(&self) -> bool {
        self.change() == Change::Changed
            && self.attributes.is_empty()
            && self.reshaped().is_none()
            && self.retyped().is_none()
            && self.rechunked().is_none()
            && self.chunks_changed() == 0
    }

    /// The old and the new shape, if both versions have it and the shapes differ.
    pub fn reshaped(&self) -> Option<(&[u64], &[u64])> {
        self.changed(Dataset::shape)
    }

    /// The old and the new type of the elements, if both versions have it and the types differ.
    pub fn retyped(&self) -> Option<(&Dtype, &Dtype)> {
        self.changed(Dataset::dtype)
    }

    /// The old and the new shape of a chunk, if both versions have it and these shapes differ.
    pub fn rechunked(&self) -> Option<(&[u64], &[u64])> {
        self.changed(Dataset::chunk_shape)
    }

    /// What both versions have, and not the same.
    fn changed<'d, T: PartialEq + ?Sized>(
        &'d self,
        of: impl Fn(&'d Dataset) -> &'d T,
    ) -> Option<(&'d T, &'d T)> {
        let (old, new) = (of(self.old.as_ref()?), of(self.new.as_ref()?));
        (old != new).then_some((old, new))
    }

    /// The user's attributes that differ, in order of their names; none of a dataset that was added or removed.
    pub fn attributes(&self) -> &[AttributeDiff] {
        &self.attributes
    }

    /// Number of changed chunks: those that are mapped to another stored chunk, to none where there was one or the other
    /// way round, those of another extent inside the bounds, and those that only one version has. Where the type or the
    /// shape of chunks was changed, each chunk of both versions counts.
    pub fn chunks_changed(&self) -> u64 {
        let grid = |side: &Option<Dataset>| side.as_ref().map_or(0, Dataset::chunk_count);
        let (old, new) = (grid(&self.old), grid(&self.new));
        let Some(common) = &self.common else { return old.saturating_add(new) };
        let grids = self.old.as_ref().zip(self.new.as_ref());
        let both = grids.map_or(0, |(o, n)| volume(&shared(o.chunk_grid(), n.chunk_grid())));
        (new - volume(&common.alike))
            .saturating_add(old - both)
            .saturating_add(common.differing.len() as u64)
    }

    /// The changed chunks, each once: first those that have one extent in both versions, in row-major order. Chunks are
    /// those of the grid that both versions are cut by; where there is none, as the type or the shape of chunks was
    /// changed, those of the old version are separate from those of the new one.
    pub fn changed_chunks(&self) -> impl Iterator<Item = ChangedChunk> + '_ {
        let common = self.common.as_ref();
        let differing = common.into_iter().flat_map(Common::differing);
        let new = self.new.iter().flat_map(move |new| match common {
            Some(common) => Outside::new(new.chunk_grid(), &common.alike),
            None => Outside::of_nothing(new.chunk_grid()),
        });
        let old = self.old.iter().flat_map(move |old| match (common, &self.new) {
            (Some(_), Some(new)) => Outside::new(old.chunk_grid(), new.chunk_grid()),
            _ => Outside::of_nothing(old.chunk_grid()),
        });
        let new = differing.chain(new).map(move |at| {
            let old = self.old.as_ref().filter(|_| common.is_some());
            ChangedChunk::new(at, old, self.new.as_ref())
        });
        new.chain(old.map(|at| ChangedChunk::new(at, self.old.as_ref(), None)))
    }
}

impl DatasetDiff {
    /// The changed chunks that both versions have.
    pub(super) fn changed_in_both(&self) -> impl Iterator<Item = ChangedChunk> + '_ {
        let both = self.common.as_ref().zip(self.old.as_ref().zip(self.new.as_ref()));
        both.into_iter().flat_map(|(common, (old, new))| {
            let grid = shared(old.chunk_grid(), new.chunk_grid());
            let coordinates = common.differing().chain(Outside::new(&grid, &common.alike));
            coordinates.map(|at| ChangedChunk::new(at, Some(old), Some(new)))
        })
    }
}

impl Common {
    /// Coordinates of the chunks that have one extent and differ, in row-major order.
    fn differing(&self) -> impl Iterator<Item = Dims> + '_ {
        self.differing.iter().map(|&position| unravel(position, &self.alike))
    }
}

impl ChangedChunk {
    /// Of versions whose chunks have one shape.
    fn new(coordinate: Dims, old: Option<&Dataset>, new: Option<&Dataset>) -> Self {
        let chunk_shape = new.or(old).map_or(&[][..], Dataset::chunk_shape);
        let start = coordinate.iter().zip(chunk_shape).map(|(at, edge)| at * edge).collect();
        let inside =
            |side: Option<&Dataset>| extent(&coordinate, side?.shape(), side?.chunk_shape());
        let (old_shape, new_shape) = (inside(old), inside(new));
        Self { coordinate, start, old_shape, new_shape }
    }
}
