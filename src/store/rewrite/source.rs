//! The values of a version in chunks of the new settings.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use bumpalo::Bump;
use rayon::prelude::*;

use super::blocks::{Blocks, Region};
use super::convert::Convert;
use crate::dims::{ChunkIndex, Dims, strides};
use crate::memory::zeroed;
use crate::selection::{AxisSelection, Selection};
use crate::staged::{Base, BaseChunk};
use crate::store::dataset::Dataset;
use crate::store::error::{DatasetFault, Error};
use crate::store::stage::{BaseError, Settings, StringSource};

/// The chunks of a version that have to be brought, and where its values are.
pub(super) struct VersionChunks {
    pub(super) dataset: Dataset,
    pub(super) new: Settings,
    pub(super) blocks: Blocks,
    /// In the order of their blocks.
    pub(super) wanted: Vec<ChunkIndex>,
}

/// Elements of fixed size, read region by region, and converted.
pub(super) struct ElementSource {
    pub(super) chunks: VersionChunks,
    pub(super) convert: Convert,
    /// What was read last, if it may be wanted again.
    kept: Mutex<Option<(Region, Vec<u8>)>>,
}

impl ElementSource {
    pub(super) fn new(chunks: VersionChunks, convert: Convert) -> Self {
        Self { chunks, convert, kept: Mutex::default() }
    }

    fn read(&self, region: &Region) -> Result<Vec<u8>, Error> {
        let inner = &self.chunks.dataset.inner;
        let read = || {
            let (selection, arena) = (selection(region), Bump::new());
            let plan = inner.plan(&selection, &arena)?;
            let mut elements = inner.result::<u8>(&plan, self.convert.sizes().0)?;
            inner.fetch(&plan, &mut elements)?;
            Ok::<_, DatasetFault>(elements)
        };
        read().map_err(inner.error())
    }

    /// Converts the part of a region that is a chunk's to its place in a whole chunk.
    fn cut(&self, region: &Region, elements: &[u8], chunk: ChunkIndex, out: &mut [u8]) {
        let (from_size, to_size) = self.convert.sizes();
        let chunk_shape = &self.chunks.new.chunk_shape;
        let inside = self.chunks.blocks.chunk(chunk);
        let (Ok(from_strides), Ok(to_strides)) = (strides(&region.shape), strides(chunk_shape))
        else {
            return;
        };
        // The axes that are whole on both sides are one run with the one before them.
        let rank = inside.shape.len();
        let is_whole = |&axis: &usize| {
            inside.shape[axis] == chunk_shape[axis] && inside.shape[axis] == region.shape[axis]
        };
        let whole = (0..rank).rev().take_while(is_whole).count();
        let run_axis = (rank - whole).saturating_sub(1);
        let run: u64 = inside.shape[run_axis..].iter().product();
        let outer = &inside.shape[..run_axis];
        let first: u64 = (inside.start.iter().zip(&region.start).zip(&from_strides))
            .map(|((at, start), stride)| (at - start) * stride)
            .sum();
        let bytes = |start: u64, size: usize| {
            let byte = |element: u64| usize::try_from(element).unwrap_or(usize::MAX / 64);
            byte(start).saturating_mul(size)..byte(start + run).saturating_mul(size)
        };
        // Along the outer axes like an odometer: most runs are short where rows become columns.
        let (mut from, mut to) = (first, 0);
        let mut at: Dims = outer.iter().map(|_| 0).collect();
        for _ in 0..outer.iter().product::<u64>() {
            let elements = elements.get(bytes(from, from_size));
            if let (Some(elements), Some(place)) = (elements, out.get_mut(bytes(to, to_size))) {
                self.convert.apply(elements, place);
            }
            for axis in (0..outer.len()).rev() {
                at[axis] += 1;
                from += from_strides[axis];
                to += to_strides[axis];
                if at[axis] < outer[axis] {
                    break;
                }
                from -= at[axis] * from_strides[axis];
                to -= at[axis] * to_strides[axis];
                at[axis] = 0;
            }
        }
    }

    /// Brings the chunks that are read together.
    fn visit_region(
        &self,
        region: &Region,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<ControlFlow<()>, Error> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let elements = match kept.take() {
            Some((known, elements)) if known == *region => elements,
            _ => self.read(region)?,
        };
        let chunk_bytes = self.chunks.new.chunk_bytes().unwrap_or(0);
        let memory =
            || DatasetFault::Memory { bytes: self.chunks.new.chunk_bytes().unwrap_or(0) as u64 };
        let one = |buffer: &mut Option<Vec<u8>>, (position, &chunk): (usize, &ChunkIndex)| {
            let Some(buffer) = buffer else { return Err(None) };
            self.cut(region, &elements, chunk, buffer);
            match visit(position, BaseChunk::Bytes(buffer)) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Some(())),
            }
        };
        let threads = self.chunks.dataset.inner.version.file.threads();
        let visited = if threads.are_worth(elements.len()) && chunks.len() > 1 {
            let chunks = chunks.par_iter().enumerate();
            let buffers = || zeroed::<u8>(chunk_bytes);
            let each = chunks.map_init(buffers, one);
            threads.install(|| each.collect::<Result<(), _>>())
        } else {
            let mut buffer = zeroed::<u8>(chunk_bytes);
            chunks.iter().enumerate().try_for_each(|chunk| one(&mut buffer, chunk))
        };
        if self.chunks.blocks.are_large() {
            *kept = Some((region.clone(), elements));
        }
        match visited {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(Some(())) => Ok(ControlFlow::Break(())),
            Err(None) => Err(self.chunks.dataset.inner.error()(memory())),
        }
    }
}

impl Base for ElementSource {
    type Error = BaseError;

    fn shape(&self) -> &[u64] {
        self.chunks.dataset.shape()
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.chunks.new.chunk_shape
    }

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        Ok(Some(self.chunks.wanted.clone()))
    }

    fn visit(
        &self,
        chunks: &[ChunkIndex],
        visit: &(dyn Fn(usize, BaseChunk<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), BaseError> {
        for (range, region) in self.chunks.blocks.groups(chunks) {
            let (first, chunks) = (range.start, chunks.get(range).unwrap_or_default());
            let visit = |position: usize, chunk: BaseChunk<'_>| visit(first + position, chunk);
            if self.visit_region(&region, chunks, &visit)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Strings, of fixed or of variable length, that become strings of variable length.
pub(super) struct TextSource {
    pub(super) chunks: VersionChunks,
}

impl StringSource for TextSource {
    fn shape(&self) -> &[u64] {
        self.chunks.dataset.shape()
    }

    fn chunk_shape(&self) -> &[u64] {
        &self.chunks.new.chunk_shape
    }

    fn stored(&self) -> Result<Option<Vec<ChunkIndex>>, BaseError> {
        Ok(Some(self.chunks.wanted.clone()))
    }

    fn strings(&self, chunk: ChunkIndex) -> Result<Option<Vec<Vec<u8>>>, BaseError> {
        let region = self.chunks.blocks.chunk(chunk);
        let strings = self.chunks.dataset.read_byte_strings(selection(&region))?;
        Ok(Some(strings.into_iter().collect()))
    }
}

/// The elements of a region. Datasets that exist end below `i64::MAX`.
fn selection(region: &Region) -> Selection {
    let bound = |value: u64| i64::try_from(value).ok();
    let axes = region.start.iter().zip(&region.shape).map(|(&start, &count)| {
        let stop = bound(start.saturating_add(count));
        AxisSelection::Slice { start: bound(start), stop, step: 1 }
    });
    Selection::axes(axes)
}
