//! Reading elements as bytes and numbers.

use bumpalo::Bump;
use ndarray::{Array1, ArrayD, IxDyn};

use super::dataset::{Dataset, DatasetInner};
use super::element::{Element, turn};
use super::error::{DatasetFault, Error};
use crate::chunk_map::{ChunkMap, MapError};
use crate::dims::{ChunkIndex, Dims, unravel};
use crate::kernel::Destination;
use crate::memory::{prefer_huge_pages, zeroed};
use crate::ondisk::OndiskError;
use crate::plan::ReadPlan;
use crate::raw::{Fetch, RawPath, ReadError};
use crate::selection::Selection;
use crate::staged::Wanted;

/// Chunks from which a read finds its map and their addresses at the same time.
const MANY: u64 = 2048;

impl Dataset {
    /// Reads the selected elements as an array of `T`, in the selection's shape.
    ///
    /// # Errors
    /// [`Error::Dataset`]: the selection does not fit, the elements are no `T`, or a chunk cannot be read.
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>, Error> {
        let selection = selection.into();
        self.inner.read_array(&selection).map_err(self.inner.error())
    }

    /// Reads single elements, as an array of one axis in the order given. `coordinates` holds one index an
    /// axis for each point, one point after the other; negative ones count from the end.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_points<T: Element>(&self, coordinates: &[i64]) -> Result<Array1<T>, Error> {
        let read = || {
            let selection = Selection::points(self.shape().len(), coordinates.to_vec())
                .map_err(crate::plan::PlanError::from)?;
            let array = self.inner.read_array::<T>(&selection)?;
            Ok(Array1::from_iter(array))
        };
        read().map_err(self.inner.error())
    }

    /// Reads the selected elements into `out`, as bytes in the file's byte order and C order. `out` must
    /// have exactly the bytes of the result.
    ///
    /// # Errors
    /// As [`read`](Self::read); elements of variable length are refused.
    pub fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<(), Error> {
        self.inner.read_bytes_into(selection, out).map_err(self.inner.error())
    }

    /// Reads the selected elements as bytes in the file's byte order and C order, with their shape.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub fn read_bytes(&self, selection: &Selection) -> Result<(Vec<u8>, Dims), Error> {
        let read = || {
            self.inner.refuse_pointers()?;
            let arena = Bump::new();
            let plan = self.inner.plan(selection, &arena)?;
            let mut out = self.inner.result::<u8>(&plan, self.inner.storage.raw.element_size())?;
            self.inner.fetch(&plan, &mut out)?;
            Ok((out, Dims::from_slice(plan.output_shape())))
        };
        read().map_err(self.inner.error())
    }
}

impl Dataset {
    /// Brings what a staged array on this dataset wants of it; `None` for elements that are not stored as they are
    /// read.
    pub(super) fn fetch_wanted(&self, wanted: &Wanted<'_, '_>) -> Option<Result<(), Error>> {
        let inner = &self.inner;
        if inner.storage.narrow.is_some() || inner.storage.dtype.has_pointers() {
            return None;
        }
        let fetch = || {
            let map = inner.whole_map()?;
            let plan = wanted.destination.plan();
            let chunks = wanted.chunks.iter().map(|chunk| (chunk.here, map.get(chunk.there)));
            let here = ChunkMap::of(chunks, plan.grid().iter().product());
            let fetched = inner.fetcher(&here).run(wanted.destination, || {});
            fetched.map_err(|error| chunk_fault(plan, error))
        };
        Some(fetch().map_err(inner.error()))
    }
}

impl DatasetInner {
    pub(super) fn plan<'p>(
        &self,
        selection: &'p Selection,
        arena: &'p Bump,
    ) -> Result<ReadPlan<'p>, DatasetFault> {
        Ok(ReadPlan::new(selection, self.list.shape(), self.storage.raw.chunk_shape(), arena)?)
    }

    fn refuse_pointers(&self) -> Result<(), DatasetFault> {
        if self.storage.dtype.has_pointers() {
            return Err(DatasetFault::Pointers { found: self.storage.dtype.clone() });
        }
        Ok(())
    }

    fn read_bytes_into(&self, selection: &Selection, out: &mut [u8]) -> Result<(), DatasetFault> {
        self.refuse_pointers()?;
        prefer_huge_pages(out);
        let arena = Bump::new();
        self.fetch(&self.plan(selection, &arena)?, out)
    }

    fn read_array<T: Element>(&self, selection: &Selection) -> Result<ArrayD<T>, DatasetFault> {
        let dtype = &self.storage.dtype;
        if !T::accepts(dtype) {
            return Err(DatasetFault::Type { expected: T::NAME, found: dtype.clone() });
        }
        let arena = Bump::new();
        let plan = self.plan(selection, &arena)?;
        let mut stored = self.result::<T::Stored>(&plan, 1)?;
        let bytes = bytemuck::cast_slice_mut(&mut stored);
        self.fetch(&plan, bytes)?;
        turn::<T>(dtype, bytes);
        array(Dims::from_slice(plan.output_shape()), T::from_stored(stored))
    }

    /// Zeroed memory for a result whose elements take `per_element` values of `T`.
    pub(super) fn result<T: bytemuck::Pod>(
        &self,
        plan: &ReadPlan<'_>,
        per_element: usize,
    ) -> Result<Vec<T>, DatasetFault> {
        let size = (per_element as u64).saturating_mul(size_of::<T>() as u64);
        let memory = DatasetFault::Memory { bytes: plan.output_count().saturating_mul(size) };
        let values = usize::try_from(plan.output_count())
            .ok()
            .and_then(|count| count.checked_mul(per_element))
            .and_then(zeroed);
        values.ok_or(memory)
    }

    /// Brings the elements of a plan to `out`, in the file's byte order.
    pub(super) fn fetch(&self, plan: &ReadPlan<'_>, out: &mut [u8]) -> Result<(), DatasetFault> {
        let element_size = self.storage.raw.element_size();
        let destination = Destination::new(plan, out, element_size)?;
        if plan.is_empty() {
            return Ok(());
        }
        let mut entered = None;
        let map = if plan.len() < MANY || self.version.file.raw_path == RawPath::Library {
            // What they are found by is looked at in one go.
            let inside = self.version.file.reader.enter();
            entered = Some(
                inside.map_err(|source| OndiskError::Entry { source }).map_err(MapError::from)?,
            );
            self.map_of(plan)?
        } else {
            // Neither needs the other. A failure to find the addresses comes back when they are needed.
            let raw = &self.storage.raw;
            let file = &self.version.file;
            let bytes = file.direct.as_ref().map(|direct| &direct.bytes);
            file.threads().beside(|| drop(raw.find_all(bytes)), || self.map_of(plan))?
        };
        self.fetcher(&map)
            .run(&destination, || drop(entered))
            .map_err(|error| chunk_fault(plan, error))?;
        if let Some(narrow) = self.storage.narrow {
            narrow.widen(out);
        }
        Ok(())
    }

    /// Brings whole chunks to `out`, one after the other; what they hold outside of the bounds means nothing. `map`: one
    /// that knows them.
    pub(super) fn fetch_chunks(
        &self,
        map: &ChunkMap,
        chunks: &[ChunkIndex],
        out: &mut [u8],
    ) -> Result<(), DatasetFault> {
        let raws = chunks.iter().map(|&chunk| map.get(chunk));
        let fetched = self.storage.fetch_raw(raws, self.version.file.threads(), out);
        fetched.map_err(|error| {
            let position = usize::try_from(error.chunk.0).ok();
            let chunk = position.and_then(|position| chunks.get(position)).copied();
            let chunk = chunk.unwrap_or(error.chunk);
            let coordinate = unravel(chunk.0, self.geometry.grid()).to_vec();
            DatasetFault::Chunk { coordinate, error: ReadError { chunk, ..error } }
        })
    }

    pub(super) fn fetcher<'f>(&'f self, map: &'f ChunkMap) -> Fetch<'f> {
        self.storage.fetcher(map, self.version.file.threads())
    }
}

/// Tells of which chunk of a plan an error is.
pub(super) fn chunk_fault(plan: &ReadPlan<'_>, error: ReadError) -> DatasetFault {
    let coordinate = plan.chunk_coordinate(error.chunk).to_vec();
    DatasetFault::Chunk { coordinate, error }
}

/// An array of values in C order.
pub(super) fn array<T>(shape: Dims, values: Vec<T>) -> Result<ArrayD<T>, DatasetFault> {
    let axes: Option<Vec<usize>> = shape.iter().map(|&axis| usize::try_from(axis).ok()).collect();
    axes.and_then(|axes| ArrayD::from_shape_vec(IxDyn(&axes), values).ok())
        .ok_or(DatasetFault::Shape { shape: shape.to_vec() })
}
