use bytemuck::Pod;

use super::array::{Result, push};
use super::parallel::in_ranges;
use super::{Base, BaseChunk, ChunkState, StagedArray, StagedError, Wanted, WantedChunk};
use crate::dims::{ChunkIndex, Dims, DimsError, byte_count};
use crate::kernel::{Destination, KernelError, Slot};
use crate::memory::zeroed;
use crate::plan::ReadPlan;
use crate::selection::Selection;

impl<B: Base> StagedArray<B> {
    /// Reads the selected elements: their bytes in C order, and the shape of the result in elements.
    ///
    /// # Errors
    /// [`StagedError::Plan`] if the selection does not fit the array, [`StagedError::Base`] if the base
    /// fails, [`StagedError::Memory`].
    pub fn read(&self, selection: &Selection) -> Result<(Vec<u8>, Dims), B> {
        self.read_as(selection)
    }

    /// As [`read`](Self::read), in values that an element has one or more of.
    pub(crate) fn read_as<T: Pod>(&self, selection: &Selection) -> Result<(Vec<T>, Dims), B> {
        let arena = bumpalo::Bump::new();
        let plan = ReadPlan::new(selection, &self.shape, &self.format.shape, &arena)?;
        let bytes = byte_count(plan.output_shape(), self.element_size())?;
        let count = usize::try_from(bytes).map_err(|_| DimsError::Overflow)? / size_of::<T>();
        let mut out = zeroed(count).ok_or(StagedError::Memory { bytes })?;
        self.deliver(&plan, bytemuck::cast_slice_mut(&mut out))?;
        Ok((out, plan.output_shape().into()))
    }

    /// Reads the selected elements into `out`, which has exactly their bytes, in C order.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`StagedError::Kernel`] if `out` has another size.
    pub fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<(), B> {
        let arena = bumpalo::Bump::new();
        let plan = ReadPlan::new(selection, &self.shape, &self.format.shape, &arena)?;
        self.deliver(&plan, out)
    }

    fn deliver(&self, plan: &ReadPlan<'_>, out: &mut [u8]) -> Result<(), B> {
        let bytes = out.len() as u64;
        let destination = Destination::new(plan, out, self.element_size())?.by_number()?;
        let give =
            |number: u64, write: &dyn Fn(&mut Slot<'_>) -> std::result::Result<(), KernelError>| {
                // Each number is asked for once, by the thread that owns its range or by the base.
                match destination
                    .take(number)
                    .as_mut()
                    .and_then(|batch| batch.advance().map(|mut slot| write(&mut slot)))
                {
                    Some(result) => result.map_err(StagedError::from),
                    None => Ok(()),
                }
            };
        let from_base = in_ranges(plan.len(), bytes, |range| {
            let mut from_base = Vec::new();
            let mut transfers = plan.transfers_in(range.clone());
            for number in range {
                let Some(transfer) = transfers.advance() else {
                    break;
                };
                match self.state(transfer.chunk()) {
                    ChunkState::Staged(buffer) => give(number, &|slot| slot.copy_from(buffer, 0))?,
                    ChunkState::Fill => give(number, &|slot| slot.fill(self.fill()))?,
                    ChunkState::Base(there) => {
                        let here = transfer.chunk();
                        push(&mut from_base, WantedChunk { number, here, there })?;
                    }
                }
            }
            Ok::<_, StagedError<B::Error>>(from_base)
        })?;
        let Some(view) = &self.base else {
            return Ok(());
        };
        let wanted: Vec<WantedChunk> = from_base.into_iter().flatten().collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let rest = Wanted { destination: &destination, chunks: &wanted };
        if let Some(fetched) = view.base.fetch(&rest) {
            return fetched.map_err(StagedError::Base);
        }
        let chunks: Vec<ChunkIndex> = wanted.iter().map(|chunk| chunk.there).collect();
        view.visit(&chunks, &self.format, |position, chunk| {
            give(wanted[position].number, &|slot| match chunk {
                BaseChunk::Fill => slot.fill(self.fill()),
                BaseChunk::Bytes(bytes) => slot.copy_from(bytes, 0),
            })
        })
    }
}
