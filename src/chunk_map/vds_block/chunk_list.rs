//! The list of mappings of a version's dataset, from the stored chunk behind each of its chunks.

use super::encode::{ListEncoder, selection_bytes};
use super::error::{EntryFault, VdsBlockError};
use crate::dims::{ChunkIndex, Dims, RawChunk, chunk_grid, element_count, unravel};
use crate::ondisk::{FieldWidth, lookup3};

/// The name of a source file that means the file of the virtual dataset (`H5Pset_virtual`).
const SAME_FILE: &[u8] = b".";

/// Where the mappings of a version's dataset lead from and to.
#[derive(Clone, Copy, Debug)]
pub struct ChunkSources<'a> {
    /// Shape of the version's dataset in elements.
    pub shape: &'a [u64],
    /// Shape of a chunk in elements.
    pub chunk_shape: &'a [u64],
    /// Path of the dataset with the stored chunks, in the same file.
    pub raw_data: &'a str,
}

/// Encodes the list of mappings of a version's dataset: one mapping a stored chunk, cut off where the dataset ends
/// (format-v4.md, "A version's dataset"). It is the heap object of the dataset, byte for byte what libhdf5 writes by
/// default.
///
/// `map`: the stored chunk behind each chunk that has one. Any order goes; in rising order it is fastest. A dataset
/// without stored chunks has no list at all rather than an empty one.
///
/// # Errors
/// [`VdsBlockError::Dims`] for shapes that do not belong together; [`VdsBlockError::Entry`] for a chunk outside the
/// grid, for a position beyond 64 bits, and for a NUL in the path; [`VdsBlockError::EntryCount`] if the number of
/// mappings does not fit a length of the file.
pub fn encode_list(
    sources: ChunkSources<'_>,
    map: impl IntoIterator<Item = (ChunkIndex, RawChunk)>,
    length_size: FieldWidth,
) -> Result<Vec<u8>, VdsBlockError> {
    let ChunkSources { shape, chunk_shape, raw_data } = sources;
    let grid = chunk_grid(shape, chunk_shape)?;
    let chunks = element_count(&grid)?;
    let map = map.into_iter();
    let (expected, _) = map.size_hint();
    let mut encoder =
        ListEncoder::new(length_size, shape.len(), expected, SAME_FILE, raw_data.as_bytes())
            .map_err(|fault| VdsBlockError::Entry { entry: 0, fault })?;

    let mut place = Place::new(shape, chunk_shape, &grid);
    let edge = chunk_shape.first().copied().unwrap_or(1);
    let mut source_start = Dims::from_elem(0, shape.len());
    for (ChunkIndex(chunk), RawChunk(raw)) in map {
        let entry = encoder.entries();
        let fault = |field, value| {
            let fault = EntryFault::Selection { field, value };
            VdsBlockError::Entry { entry, fault }
        };
        if chunk >= chunks {
            return Err(fault("chunk", chunk));
        }
        place.move_to(chunk);
        if let Some(row) = source_start.first_mut() {
            *row = raw.checked_mul(edge).ok_or_else(|| fault("stored chunk", raw))?;
        }
        encoder
            .push(&source_start, &place.start, &place.extent)
            .map_err(|fault| VdsBlockError::Entry { entry, fault })?;
    }
    encoder.finish()
}

/// Bytes of the list of so many mappings, as long as nothing is beyond 32 bits; 0 without any.
pub(crate) fn list_bytes(sources: ChunkSources<'_>, mappings: u64, length_size: FieldWidth) -> u64 {
    let names = SAME_FILE.len() + sources.raw_data.len() + 2;
    let mapping = (names + 2 * selection_bytes(sources.shape.len())) as u64;
    let around = (1 + length_size.bytes() + size_of::<u32>()) as u64;
    if mappings == 0 { 0 } else { mappings.saturating_mul(mapping).saturating_add(around) }
}

/// Checks that a list that was read from a file ends in its checksum, whatever version and mappings it is of.
///
/// # Errors
/// [`VdsBlockError::TooShort`], [`VdsBlockError::Checksum`].
pub fn check_list(list: &[u8]) -> Result<(), VdsBlockError> {
    let Some((covered, stored)) = list.split_last_chunk::<4>() else {
        return Err(VdsBlockError::TooShort { len: list.len() as u64 });
    };
    check_stored(u32::from_le_bytes(*stored), lookup3(covered))
}

/// Compares the checksum that a list ends in with that of its bytes.
pub(super) fn check_stored(stored: u32, computed: u32) -> Result<(), VdsBlockError> {
    if stored == computed { Ok(()) } else { Err(VdsBlockError::Checksum { stored, computed }) }
}

/// A chunk in the grid: its first element and its extent inside the shape.
struct Place<'g> {
    shape: &'g [u64],
    chunk_shape: &'g [u64],
    grid: &'g [u64],
    chunk: u64,
    coordinate: Dims,
    start: Dims,
    extent: Dims,
}

impl<'g> Place<'g> {
    /// The first chunk of a grid.
    fn new(shape: &'g [u64], chunk_shape: &'g [u64], grid: &'g [u64]) -> Self {
        let zeros = Dims::from_elem(0, shape.len());
        let extent = shape.iter().zip(chunk_shape).map(|(&size, &edge)| edge.min(size)).collect();
        let (coordinate, start) = (zeros.clone(), zeros);
        Self { shape, chunk_shape, grid, chunk: 0, coordinate, start, extent }
    }

    /// `chunk`: one of the grid.
    #[inline]
    fn move_to(&mut self, chunk: u64) {
        let last = self.chunk;
        self.chunk = chunk;
        match chunk.wrapping_sub(last) {
            0 => {}
            1 => self.step(),
            _ => self.jump(),
        }
    }

    /// To the next chunk in row-major order, without a division.
    #[inline]
    fn step(&mut self) {
        for axis in (0..self.grid.len()).rev() {
            let next = self.coordinate[axis] + 1;
            if next < self.grid[axis] {
                return self.set(axis, next);
            }
            self.set(axis, 0);
        }
    }

    #[cold]
    fn jump(&mut self) {
        let coordinate = unravel(self.chunk, self.grid);
        for (axis, &at) in coordinate.iter().enumerate() {
            self.set(axis, at);
        }
    }

    #[inline]
    fn set(&mut self, axis: usize, at: u64) {
        let edge = self.chunk_shape[axis];
        // Inside the grid a chunk begins inside the shape.
        let start = at * edge;
        self.coordinate[axis] = at;
        self.start[axis] = start;
        self.extent[axis] = edge.min(self.shape[axis] - start);
    }
}
