use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk::{ChunkFormat, NoMemory, copy};
use super::view::{BaseView, Loaded};
use super::{Base, BaseChunk, StagedError};
use crate::dims::{ChunkIndex, Dims, element_count, unravel};

/// What can fail on a staged array with base `B`.
pub(super) type Result<T, B> = std::result::Result<T, StagedError<<B as Base>::Error>>;

/// The chunks that have a buffer of their own, by their position in the current grid.
pub(super) type Staged = BTreeMap<ChunkIndex, Arc<Vec<u8>>>;

/// An array that is being changed, chunk by chunk, on top of a [`Base`] that never is.
///
/// Elements are bytes of a known size; the rules are in the [module](super). A clone costs O(1).
///
/// ```
/// use std::sync::Arc;
/// use h5strata::Selection;
/// use h5strata::staged::{MemoryBase, StagedArray};
///
/// let base = MemoryBase::new(&[6], &[4], 1, vec![1u8, 2, 3, 4, 5, 6])?;
/// let mut array = StagedArray::on(Arc::new(base), &[0])?;
/// array.resize(&[9])?;
/// array.write(&"1:3".parse()?, &[20, 30], &[2])?;
/// array.write_scalar(&"-1".parse()?, &[90])?;
/// let (elements, shape) = array.read(&Selection::all())?;
/// assert_eq!(elements, [1, 20, 30, 4, 5, 6, 0, 0, 90]);
/// assert_eq!(shape.as_slice(), [9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StagedArray<B> {
    pub(super) shape: Dims,
    pub(super) grid: Dims,
    pub(super) format: ChunkFormat,
    pub(super) base: Option<BaseView<B>>,
    pub(super) staged: Arc<Staged>,
}

impl<B> Clone for StagedArray<B> {
    fn clone(&self) -> Self {
        Self {
            shape: self.shape.clone(),
            grid: self.grid.clone(),
            format: self.format.clone(),
            base: self.base.clone(),
            staged: Arc::clone(&self.staged),
        }
    }
}

/// What stands in a chunk of a [`StagedArray`].
#[derive(Clone, Copy, Debug)]
pub enum ChunkState<'a> {
    /// Fill: never written, and outside of what is left of the base.
    Fill,
    /// This chunk of the base's grid, unchanged, with the same extent inside the bounds.
    Base(ChunkIndex),
    /// Its own bytes: the whole chunk in C order, fill beyond the bounds of the array. Chunks may share
    /// one buffer.
    Staged(&'a Arc<Vec<u8>>),
}

impl<B: Base> StagedArray<B> {
    /// An array that holds nothing but `fill`, the bytes of one element. Shapes are in elements.
    ///
    /// # Errors
    /// [`StagedError::EmptyElement`] if `fill` is empty, [`StagedError::Dims`] if the shapes do not
    /// belong together or are too large.
    pub fn filled(shape: &[u64], chunk_shape: &[u64], fill: &[u8]) -> Result<Self, B> {
        if fill.is_empty() {
            return Err(StagedError::EmptyElement);
        }
        let format = ChunkFormat::new(chunk_shape, fill)?;
        let grid = format.grid(shape)?;
        Ok(Self { shape: shape.into(), grid, format, base: None, staged: Arc::default() })
    }

    /// An array that holds what `base` holds, in its shape and its chunks. Reads nothing. `fill`, the
    /// bytes of one element, is the value of [`BaseChunk::Fill`] and of elements that a resize adds.
    ///
    /// # Errors
    /// As [`filled`](Self::filled).
    pub fn on(base: Arc<B>, fill: &[u8]) -> Result<Self, B> {
        let mut array = Self::filled(base.shape(), base.chunk_shape(), fill)?;
        array.base = Some(BaseView::new(base, &array.format)?);
        Ok(array)
    }

    /// Shape in elements.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Shape of a chunk in elements.
    pub fn chunk_shape(&self) -> &[u64] {
        &self.format.shape
    }

    /// Number of chunks along each axis.
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Bytes of an element.
    pub fn element_size(&self) -> usize {
        self.format.element_size()
    }

    /// Bytes of an element that was never written.
    pub fn fill(&self) -> &[u8] {
        &self.format.fill
    }

    /// The base, as long as the array stands on it.
    pub fn base(&self) -> Option<&Arc<B>> {
        self.base.as_ref().map(|view| &view.base)
    }

    /// What stands in a chunk of the current grid; outside of it, fill.
    pub fn state(&self, chunk: ChunkIndex) -> ChunkState<'_> {
        match self.staged.get(&chunk) {
            Some(buffer) => ChunkState::Staged(buffer),
            None => self.unstaged(chunk).map_or(ChunkState::Fill, ChunkState::Base),
        }
    }

    /// The chunk of the base's grid behind a chunk that is not staged.
    fn unstaged(&self, chunk: ChunkIndex) -> Option<ChunkIndex> {
        let view = self.base.as_ref()?;
        let inside = element_count(&self.grid).is_ok_and(|chunks| chunk.0 < chunks);
        if inside { view.position(&unravel(chunk.0, &self.grid)) } else { None }
    }

    /// The chunk of the base's grid that stood in the place of a chunk, staged since or not, and has the same extent
    /// inside the bounds.
    pub fn in_base(&self, chunk: ChunkIndex) -> Option<ChunkIndex> {
        let there = self.unstaged(chunk)?;
        let base = self.base()?.shape();
        let coordinate = unravel(chunk.0, &self.grid);
        let is_same =
            self.format.extent(&coordinate, base) == self.format.extent(&coordinate, &self.shape);
        is_same.then_some(there)
    }

    /// The staged chunks in rising order of their positions in the current grid.
    pub fn staged(&self) -> impl ExactSizeIterator<Item = (ChunkIndex, &Arc<Vec<u8>>)> {
        self.staged.iter().map(|(&chunk, buffer)| (chunk, buffer))
    }

    /// Whether every chunk of the base is at its place in a grid of the same shape, unless it is staged.
    pub fn has_grid_of_base(&self) -> bool {
        self.keeps_base() && self.base.as_ref().is_some_and(|view| view.grid == self.grid)
    }

    /// Whether nothing of the base was cut off, not even if it has grown again since.
    pub fn keeps_base(&self) -> bool {
        self.base.as_ref().is_some_and(|view| view.visible == view.grid)
    }

    /// Whether a chunk is staged.
    pub fn is_staged(&self, chunk: ChunkIndex) -> bool {
        self.staged.contains_key(&chunk)
    }

    /// Number of staged chunks.
    pub fn staged_count(&self) -> usize {
        self.staged.len()
    }

    /// Whether the array may differ from its base: a chunk is staged, or a resize has changed the shape or
    /// cut something off. An array without base is always changed.
    pub fn is_changed(&self) -> bool {
        match &self.base {
            Some(view) => {
                !self.staged.is_empty()
                    || self.shape.as_slice() != view.base.shape()
                    || view.visible != view.grid
            }
            None => true,
        }
    }

    /// Brings every chunk that still stands in the base into memory, and lets go of the base if there
    /// was one: the array then counts as changed.
    ///
    /// # Errors
    /// [`StagedError::Base`] if the base fails, [`StagedError::Memory`]; the array is unchanged then.
    pub fn load(&mut self) -> Result<(), B> {
        let Some(view) = &self.base else {
            return Ok(());
        };
        let visible = element_count(&view.visible)?;
        if visible == 0 {
            return Ok(());
        }
        let mut chunks = Vec::new();
        let mut positions = Vec::new();
        for number in 0..visible {
            let coordinate = unravel(number, &view.visible);
            let (Some(position), Some(chunk)) =
                (view.position(&coordinate), self.chunk_at(&coordinate))
            else {
                continue;
            };
            if !self.staged.contains_key(&chunk) {
                push(&mut chunks, chunk)?;
                push(&mut positions, position)?;
            }
        }
        let loaded = view.load(&positions, &self.format, |number, bytes| {
            let extent = self.format.extent_at(chunks[number].0, &self.grid, &self.shape);
            self.trimmed(bytes, &extent)
        })?;
        self.insert(chunks.into_iter().zip(loaded));
        self.base = None;
        Ok(())
    }

    /// The position in the current grid of a coordinate in it.
    pub(super) fn chunk_at(&self, coordinate: &[u64]) -> Option<ChunkIndex> {
        crate::dims::ravel(coordinate, &self.grid).map(ChunkIndex)
    }

    /// A buffer with what the base brought inside `extent`, and fill beyond; none where it is all fill.
    pub(super) fn trimmed(
        &self,
        chunk: BaseChunk<'_>,
        extent: &[u64],
    ) -> Result<Option<Vec<u8>>, B> {
        let BaseChunk::Bytes(bytes) = chunk else {
            return Ok(None);
        };
        let mut buffer = copy(bytes)?;
        self.format.clear_beyond(extent, &mut buffer);
        Ok(Some(buffer))
    }

    /// Stages chunks that came from the base.
    pub(super) fn insert(&mut self, chunks: impl Iterator<Item = (ChunkIndex, Loaded)>) {
        let staged = Arc::make_mut(&mut self.staged);
        staged.extend(chunks.filter_map(|(chunk, buffer)| Some((chunk, buffer?))));
    }

    /// Makes the buffers of staged chunks this array's own, so that they can be changed in place.
    /// No value changes.
    pub(super) fn unshare(&mut self, chunks: impl Iterator<Item = ChunkIndex>) -> Result<(), B> {
        let staged = Arc::make_mut(&mut self.staged);
        for chunk in chunks {
            if let Some(buffer) = staged.get_mut(&chunk)
                && Arc::get_mut(buffer).is_none()
            {
                *buffer = Arc::new(copy(buffer)?);
            }
        }
        Ok(())
    }
}

impl<E: std::error::Error + 'static> From<NoMemory> for StagedError<E> {
    fn from(NoMemory { bytes }: NoMemory) -> Self {
        Self::Memory { bytes }
    }
}

/// Appends to a list that may grow as long as an array has chunks.
pub(super) fn push<T>(items: &mut Vec<T>, item: T) -> std::result::Result<(), NoMemory> {
    if items.len() == items.capacity() && items.try_reserve(1).is_err() {
        return Err(NoMemory { bytes: (items.len() as u64).saturating_mul(size_of::<T>() as u64) });
    }
    items.push(item);
    Ok(())
}
