use super::array::{Result, push};
use super::chunk::reserve;
use super::parallel::in_ranges;
use super::{Base, BaseChunk, ChunkState, StagedArray, StagedError};
use crate::dims::{Dims, DimsError, byte_count};
use crate::kernel::{Destination, KernelError, Slot};
use crate::plan::ReadPlan;
use crate::selection::Selection;

impl<B: Base> StagedArray<B> {
    /// Reads the selected elements: their bytes in C order, and the shape of the result in elements.
    ///
    /// # Errors
    /// [`StagedError::Plan`] if the selection does not fit the array, [`StagedError::Base`] if the base
    /// fails, [`StagedError::Memory`].
    pub fn read(&self, selection: &Selection) -> Result<(Vec<u8>, Dims), B> {
        let arena = bumpalo::Bump::new();
        let plan = ReadPlan::new(selection, &self.shape, &self.format.shape, &arena)?;
        let bytes = byte_count(plan.output_shape(), self.element_size())?;
        let bytes = usize::try_from(bytes).map_err(|_| DimsError::Overflow)?;
        let mut out = reserve(bytes)?;
        out.resize(bytes, 0);
        self.deliver(&plan, &mut out)?;
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
                    ChunkState::Base(chunk) => push(&mut from_base, (number, chunk))?,
                }
            }
            Ok::<_, StagedError<B::Error>>(from_base)
        })?;
        let Some(view) = &self.base else {
            return Ok(());
        };
        let (numbers, chunks): (Vec<_>, Vec<_>) = from_base.into_iter().flatten().unzip();
        view.visit(&chunks, &self.format, |position, chunk| {
            give(numbers[position], &|slot| match chunk {
                BaseChunk::Fill => slot.fill(self.fill()),
                BaseChunk::Bytes(bytes) => slot.copy_from(bytes, 0),
            })
        })
    }
}
