use bumpalo::Bump;
use smallvec::smallvec;

use super::axis::{AxisPlan, StridedAxis};
use super::group::{group_keys, group_mask};
use super::transfer::Strides;
use super::transfers::Transfers;
use crate::dims::{
    ChunkIndex, Dims, DimsError, PerAxis, check_chunk_shape, chunk_grid, element_count, strides,
    unravel,
};
use crate::selection::{
    Resolved, ResolvedAxis, ResolvedKind, Selection, SelectionError, wrap_index,
};

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The selection does not fit the shape.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The shape, the chunk shape or the result does not fit 64 bits.
    #[error(transparent)]
    Dims(#[from] DimsError),
}

/// The transfers that bring the selected elements of a chunked dataset into one buffer.
///
/// ```
/// use h5strata::{ReadPlan, Selection};
/// let arena = bumpalo::Bump::new();
/// let selection: Selection = "1:6:2, ::-1".parse()?;
/// let plan = ReadPlan::new(&selection, &[8, 3], &[4, 2], &arena)?;
/// assert_eq!(plan.output_shape(), [3, 3]);
/// assert_eq!(
///     plan.to_string(),
///     "chunk (0, 0): [1:4:2, 0:2] -> [0:2, 2:0:-1]\n\
///      chunk (0, 1): [1:4:2, 0] -> [0:2, 0]\n\
///      chunk (1, 0): [1, 0:2] -> [2, 2:0:-1]\n\
///      chunk (1, 1): [1, 0] -> [2, 0]\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReadPlan<'p> {
    pub(super) axes: PerAxis<AxisPlan<'p>>,
    /// Distance in chunks between neighbours of the chunk grid, for each axis plan.
    pub(super) grid_strides: Dims,
    pub(super) strides: Strides,
    grid: Dims,
    output_shape: Dims,
    output_count: u64,
    chunk_count: u64,
    transfers: u64,
}

impl<'p> ReadPlan<'p> {
    /// Plans the transfers of `selection` for a dataset of `shape` and `chunk_shape`, both in
    /// elements. `arena` lends scratch memory for index arrays, masks and points; it stays empty
    /// for integers and slices.
    ///
    /// # Errors
    /// [`PlanError::Selection`] if the selection does not fit the shape, [`PlanError::Dims`] if the
    /// chunk shape does not or a product passes 64 bits.
    pub fn new(
        selection: &'p Selection,
        shape: &[u64],
        chunk_shape: &[u64],
        arena: &'p Bump,
    ) -> Result<Self, PlanError> {
        Self::from_resolved(&selection.resolve(shape)?, shape, chunk_shape, arena)
    }

    /// Plans a selection that has been resolved against `shape`.
    pub(crate) fn from_resolved(
        resolved: &Resolved<'p>,
        shape: &[u64],
        chunk_shape: &[u64],
        arena: &'p Bump,
    ) -> Result<Self, PlanError> {
        check_chunk_shape(shape.len(), chunk_shape)?;
        let chunk_count = element_count(chunk_shape)?;
        let grid = chunk_grid(shape, chunk_shape)?;
        // Keys of elements count whole chunks, so the padded dataset must fit 64 bits too.
        element_count(&grid)?.checked_mul(chunk_count).ok_or(DimsError::Overflow)?;
        let output_shape = resolved.output_shape(shape.len());
        let output_count = element_count(&output_shape)?;

        let mut plan = Self {
            axes: PerAxis::new(),
            grid_strides: smallvec![1],
            strides: Strides { chunk: smallvec![1], buffer: smallvec![1] },
            grid,
            output_shape,
            output_count,
            chunk_count,
            transfers: 0,
        };
        match &resolved.kind {
            ResolvedKind::Axes(axes) => plan.add_axes(axes, shape, chunk_shape, arena)?,
            ResolvedKind::Points(coordinates) => {
                let keys = coordinates.chunks_exact(shape.len()).map(|point| {
                    let element: Dims = point
                        .iter()
                        .zip(shape)
                        .map(|(&index, &size)| wrap_index(index, size))
                        .collect();
                    key(&element, &plan.grid, chunk_shape)
                });
                plan.axes.push(AxisPlan::Grouped(group_keys(arena, keys, chunk_count)));
            }
            ResolvedKind::Mask { mask, count } => {
                let mut chosen = (0u64..).zip(mask.iter()).filter(|(_, chosen)| **chosen);
                let keys =
                    (0..usize::try_from(*count).map_err(|_| DimsError::Overflow)?).map(|_| {
                        let position = chosen.next().map_or(0, |(position, _)| position);
                        key(&unravel(position, shape), &plan.grid, chunk_shape)
                    });
                plan.axes.push(AxisPlan::Grouped(group_keys(arena, keys, chunk_count)));
            }
        }
        plan.transfers = plan
            .axes
            .iter()
            .try_fold(1u64, |product, axis| product.checked_mul(axis.touched()))
            .ok_or(DimsError::Overflow)?;
        Ok(plan)
    }

    fn add_axes(
        &mut self,
        axes: &[ResolvedAxis<'p>],
        shape: &[u64],
        chunk_shape: &[u64],
        arena: &'p Bump,
    ) -> Result<(), DimsError> {
        let counts: Dims = axes.iter().map(ResolvedAxis::count).collect();
        self.grid_strides = strides(&self.grid)?;
        self.strides = Strides { chunk: strides(chunk_shape)?, buffer: strides(&counts)? };
        for (number, axis) in axes.iter().enumerate() {
            let chunk = chunk_shape[number];
            self.axes.push(match *axis {
                ResolvedAxis::Strided { start, step, count, .. } => {
                    AxisPlan::Strided(StridedAxis::new(start, step, count, chunk))
                }
                ResolvedAxis::Indices(indices) => {
                    let keys = indices.iter().map(|&index| wrap_index(index, shape[number]));
                    AxisPlan::Grouped(group_keys(arena, keys, chunk))
                }
                ResolvedAxis::Mask { mask, .. } => {
                    AxisPlan::Grouped(group_mask(arena, mask, chunk))
                }
            });
        }
        Ok(())
    }

    /// Shape of the result in elements; integers drop their axis.
    pub fn output_shape(&self) -> &[u64] {
        &self.output_shape
    }

    /// Number of elements of the result.
    pub fn output_count(&self) -> u64 {
        self.output_count
    }

    /// Number of elements of a whole chunk.
    pub fn chunk_count(&self) -> u64 {
        self.chunk_count
    }

    /// Number of transfers, one for each chunk that holds a selected element.
    pub fn len(&self) -> u64 {
        self.transfers
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.transfers == 0
    }

    /// Number of chunks along each axis.
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Coordinate in the chunk grid of a transfer's chunk.
    pub fn chunk_coordinate(&self, chunk: ChunkIndex) -> Dims {
        unravel(chunk.0, &self.grid)
    }

    /// Walks all transfers.
    pub fn transfers(&self) -> Transfers<'_, 'p> {
        self.transfers_in(0..self.transfers)
    }

    /// Walks the transfers whose numbers, from 0, lie in `range`, clipped to those there are.
    pub fn transfers_in(&self, range: std::ops::Range<u64>) -> Transfers<'_, 'p> {
        Transfers::new(self, range.start..range.end.min(self.transfers))
    }
}

/// `chunk * chunk_volume + offset` of an element: its place if chunks lay one after the other.
fn key(element: &[u64], grid: &[u64], chunk_shape: &[u64]) -> u64 {
    let (mut chunk, mut offset, mut volume) = (0, 0, 1);
    for axis in 0..element.len() {
        chunk = chunk * grid[axis] + element[axis] / chunk_shape[axis];
        offset = offset * chunk_shape[axis] + element[axis] % chunk_shape[axis];
        volume *= chunk_shape[axis];
    }
    chunk * volume + offset
}
