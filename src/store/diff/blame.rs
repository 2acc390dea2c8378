//! Which version wrote a chunk last.

use std::collections::HashSet;
use std::sync::Arc;

use bumpalo::Bump;

use super::super::dataset::{Dataset, DatasetInner};
use super::super::error::{DatasetFault, Error, FormatFault};
use super::super::file::VersionedFile;
use super::super::names::VERSIONS;
use super::super::version::{EntryKind, Version};
use super::grids::{chunks_alike, extent};
use crate::dims::{ChunkIndex, Dims, RawChunk, ravel, unravel};
use crate::selection::Selection;

/// For each of some chunks of a dataset the version that wrote it last.
#[derive(Clone, Debug)]
pub struct Blame {
    dataset: Dataset,
    /// Names of the versions that wrote some, the latest first.
    versions: Vec<String>,
    /// Each chunk and the position of its version.
    chunks: Vec<(ChunkIndex, usize)>,
}

/// A chunk and the version that wrote it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedChunk<'b> {
    /// Coordinate in the grid of chunks.
    pub coordinate: Dims,
    /// Its first element.
    pub start: Dims,
    /// Its shape inside the bounds, in elements.
    pub shape: Dims,
    /// Name of the version.
    pub version: &'b str,
}

impl Blame {
    /// Names of the versions that wrote some of the chunks last, the latest first.
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// The chunks, in the order in which a read of the selection takes them: of slices, row-major order.
    pub fn chunks(&self) -> impl Iterator<Item = BlamedChunk<'_>> {
        let (shape, chunk_shape) = (self.dataset.shape(), self.dataset.chunk_shape());
        self.chunks.iter().filter_map(move |&(chunk, version)| {
            let coordinate = unravel(chunk.0, self.dataset.chunk_grid());
            let start = coordinate.iter().zip(chunk_shape).map(|(at, edge)| at * edge).collect();
            let shape = extent(&coordinate, shape, chunk_shape)?;
            let version = self.versions.get(version)?;
            Some(BlamedChunk { coordinate, start, shape, version })
        })
    }
}

/// A chunk that no version walked so far has written.
struct Open {
    /// Position among the chunks asked for.
    number: usize,
    chunk: ChunkIndex,
    raw: Option<RawChunk>,
}

impl Dataset {
    /// Which version wrote the chunks last that hold a selected element: the one from which on the chunk is mapped to
    /// the same stored chunk, or to none, and has the same extent. No values are read; at each version on the way back
    /// the chunks are looked at for which it has not been found, in a map that is dropped then.
    ///
    /// # Errors
    /// [`Error::Dataset`]: the selection does not fit, or an ancestor's list cannot be used; [`Error::Format`] if the
    /// history is not whole; [`Error::Library`].
    pub fn blame(&self, selection: impl Into<Selection>) -> Result<Blame, Error> {
        let inner = &self.inner;
        let mut open = inner.open_chunks(&selection.into()).map_err(inner.error())?;
        let mut blame = Blame {
            dataset: self.clone(),
            versions: Vec::new(),
            chunks: open.iter().map(|open| (open.chunk, 0)).collect(),
        };
        let mut child = self.clone();
        let mut seen = HashSet::new();
        while !open.is_empty() {
            let version = Version { inner: Arc::clone(&child.inner.version) };
            if !seen.insert(version.name().to_owned()) {
                let object = format!("{VERSIONS}/{}", version.name());
                return Err(inner.version.file.format(&object, FormatFault::CyclicParents));
            }
            let parent = version.parent_dataset(self.path())?;
            let (still, written) = match &parent {
                None => (Vec::new(), open),
                Some(parent) => {
                    let split = inner.split(open, &child.inner, &parent.inner);
                    split.map_err(parent.inner.error())?
                }
            };
            open = still;
            if !written.is_empty() {
                let number = blame.versions.len();
                blame.versions.push(version.name().to_owned());
                for Open { number: chunk, .. } in written {
                    blame.chunks[chunk].1 = number;
                }
            }
            if let Some(parent) = parent {
                child = parent;
            }
        }
        Ok(blame)
    }
}

impl Version {
    /// The dataset of the same path in the parent, if it has one.
    fn parent_dataset(&self, path: &str) -> Result<Option<Dataset>, Error> {
        let Some(parent) = self.parent()? else { return Ok(None) };
        let file = VersionedFile { inner: Arc::clone(&self.inner.file) };
        if !file.has_version(&parent)? {
            let object = format!("{VERSIONS}/{}", self.name());
            return Err(file.inner.format(&object, FormatFault::DanglingParent { parent }));
        }
        let parent = Self::open(file.inner, &parent)?;
        match parent.find(path)? {
            Some(EntryKind::Dataset) => parent.dataset(path).map(Some),
            _ => Ok(None),
        }
    }
}

impl DatasetInner {
    /// The chunks that hold a selected element.
    fn open_chunks(&self, selection: &Selection) -> Result<Vec<Open>, DatasetFault> {
        let arena = Bump::new();
        let plan = self.plan(selection, &arena)?;
        let mut open = Vec::new();
        let bytes = plan.len().saturating_mul(size_of::<Open>() as u64);
        match usize::try_from(plan.len()) {
            Ok(count) if open.try_reserve_exact(count).is_ok() => {}
            _ => return Err(DatasetFault::Memory { bytes }),
        }
        let map = self.map_of_few(plan.len(), || {
            let mut transfers = plan.transfers();
            std::iter::from_fn(move || Some(transfers.advance()?.chunk()))
        })?;
        let map = map.map_or_else(|| self.map_once(), |map| Ok(Arc::new(map)))?;
        let mut transfers = plan.transfers();
        while let Some(transfer) = transfers.advance() {
            let chunk = transfer.chunk();
            open.push(Open { number: open.len(), chunk, raw: map.get(chunk) });
        }
        Ok(open)
    }

    /// Divides chunks of this dataset, which are as they were in `child`, in those that are as they were in its parent
    /// too and those that are not.
    fn split(
        &self,
        open: Vec<Open>,
        child: &Self,
        parent: &Self,
    ) -> Result<(Vec<Open>, Vec<Open>), DatasetFault> {
        if !self.shares_stored_chunks(parent) {
            return Ok((Vec::new(), open));
        }
        let (own, grid) = (self.geometry.grid(), parent.geometry.grid());
        let chunk_shape = self.storage.raw.chunk_shape();
        let alike = chunks_alike(parent.list.shape(), self.list.shape(), chunk_shape);
        // Where a chunk is in the parent's grid, if it has the same extent there.
        let there = |open: &Open| {
            if own == grid && alike.as_slice() == grid {
                return Some(open.chunk);
            }
            let coordinate = unravel(open.chunk.0, own);
            ravel(&coordinate, &alike)?;
            ravel(&coordinate, grid).map(ChunkIndex)
        };
        let count = open.iter().filter_map(there).count() as u64;
        if count == 0 {
            return Ok((Vec::new(), open));
        }
        let map = match parent.map_of_few(count, || open.iter().filter_map(there))? {
            Some(map) => Arc::new(map),
            None if child.shares_stored_chunks(parent) && child.has_same_mappings(parent)? => {
                return Ok((open, Vec::new()));
            }
            None => parent.map_once()?,
        };
        Ok(open
            .into_iter()
            .partition(|open| there(open).is_some_and(|chunk| map.get(chunk) == open.raw)))
    }
}
