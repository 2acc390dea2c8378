use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::KernelError;
use super::copy::{ToBuffer, copy, fill};
use super::geometry::{Geometry, Run};
use crate::plan::{ReadPlan, Transfer, Transfers};

/// The buffer of one read, open to several threads: each takes batches of transfers and alone may
/// write their elements.
#[derive(Debug)]
pub struct Destination<'d, 'p> {
    plan: &'d ReadPlan<'p>,
    buffer: *mut u8,
    element_size: usize,
    /// Number of the first transfer that nobody took yet.
    next: AtomicU64,
    exclusive: PhantomData<&'d mut [u8]>,
}

// SAFETY: the buffer is borrowed exclusively for 'd, and shared access writes to it only through
// batches. `take`, here and by number, hands every transfer out once, and no two transfers of a plan share a buffer
// position (guarantee "Once" of the plan module), so no byte is written by two threads.
unsafe impl Sync for Destination<'_, '_> {}
// SAFETY: as above; nothing is tied to the thread that made it.
unsafe impl Send for Destination<'_, '_> {}

impl<'d, 'p> Destination<'d, 'p> {
    /// Opens `buffer` for the transfers of `plan`, whose elements have `element_size` bytes.
    ///
    /// # Errors
    /// [`KernelError::BufferSize`] unless the buffer has exactly the bytes of the result.
    pub fn new(
        plan: &'d ReadPlan<'p>,
        buffer: &'d mut [u8],
        element_size: usize,
    ) -> Result<Self, KernelError> {
        let expected = plan.output_count().saturating_mul(element_size as u64);
        if buffer.len() as u64 != expected {
            return Err(KernelError::BufferSize { expected, found: buffer.len() as u64 });
        }
        Ok(Self {
            plan,
            buffer: buffer.as_mut_ptr(),
            element_size,
            next: AtomicU64::new(0),
            exclusive: PhantomData,
        })
    }

    /// The plan whose transfers are handed out.
    pub fn plan(&self) -> &'d ReadPlan<'p> {
        self.plan
    }

    /// Takes up to `most` of the transfers that nobody took yet; `None` when all are taken.
    pub fn take(&self, most: u64) -> Option<Batch<'_, 'p>> {
        let most = most.max(1);
        // `fetch_update` keeps the counter from passing the end, so it cannot wrap.
        let start = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
                (next < self.plan.len()).then(|| next.saturating_add(most).min(self.plan.len()))
            })
            .ok()?;
        Some(self.batch(start..start.saturating_add(most).min(self.plan.len())))
    }

    /// Lets every transfer be taken by its number instead of in order.
    ///
    /// # Errors
    /// [`KernelError::Memory`] if there is no memory for one bit a transfer.
    pub fn by_number(self) -> Result<NumberedDestination<'d, 'p>, KernelError> {
        let taken = self.next.load(Ordering::Relaxed).min(self.plan.len());
        let words = self.plan.len().div_ceil(BITS);
        let mut claims = Vec::new();
        match usize::try_from(words).map(|words| claims.try_reserve_exact(words)) {
            Ok(Ok(())) => {}
            _ => return Err(KernelError::Memory { bytes: words.saturating_mul(BITS / 8) }),
        }
        claims.extend((0..words).map(|word| {
            let before = taken.saturating_sub(word * BITS).min(BITS);
            AtomicU64::new(if before == BITS { u64::MAX } else { (1 << before) - 1 })
        }));
        Ok(NumberedDestination { destination: self, claims, next: Mutex::new(taken) })
    }

    /// A batch of transfers that nobody else has or will get.
    fn batch(&self, range: Range<u64>) -> Batch<'_, 'p> {
        Batch {
            transfers: self.plan.transfers_in(range.clone()),
            range,
            plan: self.plan,
            buffer: self.buffer,
            element_size: self.element_size,
            exclusive: PhantomData,
        }
    }
}

/// Transfers in one word of [`NumberedDestination`]'s claims.
const BITS: u64 = 64;

/// A [`Destination`] whose transfers are taken one by one, in any order.
#[derive(Debug)]
pub struct NumberedDestination<'d, 'p> {
    destination: Destination<'d, 'p>,
    /// One bit a transfer, set once it is taken.
    claims: Vec<AtomicU64>,
    /// Number of a transfer before which all are taken.
    next: Mutex<u64>,
}

impl<'d, 'p> NumberedDestination<'d, 'p> {
    /// The plan whose transfers are handed out.
    pub fn plan(&self) -> &'d ReadPlan<'p> {
        self.destination.plan
    }

    /// Takes the transfer `number`, from 0, alone; `None` if there is none or it was taken before.
    pub fn take(&self, number: u64) -> Option<Batch<'_, 'p>> {
        let free = number < self.destination.plan.len() && self.claim(number);
        free.then(|| self.destination.batch(number..number + 1))
    }

    /// Takes up to `most` transfers that nobody took yet and that follow one another; `None` when all are taken.
    pub fn take_rest(&self, most: u64) -> Option<Batch<'_, 'p>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let end = self.destination.plan.len();
        let start = (*next..end).find(|&number| self.claim(number));
        let Some(start) = start else {
            *next = end;
            return None;
        };
        let most = start.saturating_add(most.max(1)).min(end);
        *next = (start + 1..most).find(|&number| !self.claim(number)).unwrap_or(most);
        Some(self.destination.batch(start..*next))
    }

    /// Whether a transfer of the plan was free until now.
    fn claim(&self, number: u64) -> bool {
        let bit = 1 << (number % BITS);
        let word = usize::try_from(number / BITS).ok().and_then(|word| self.claims.get(word));
        word.is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0)
    }
}

/// A buffer whose transfers are handed out in batches until none is left.
pub trait HandOut<'p>: Sync {
    /// The plan whose transfers are handed out.
    fn plan(&self) -> &ReadPlan<'p>;

    /// Up to `most` transfers that nobody has, in their order; `None` when there are none.
    fn next_batch(&self, most: u64) -> Option<Batch<'_, 'p>>;
}

impl<'p> HandOut<'p> for Destination<'_, 'p> {
    fn plan(&self) -> &ReadPlan<'p> {
        self.plan
    }

    fn next_batch(&self, most: u64) -> Option<Batch<'_, 'p>> {
        self.take(most)
    }
}

impl<'p> HandOut<'p> for NumberedDestination<'_, 'p> {
    fn plan(&self) -> &ReadPlan<'p> {
        self.destination.plan
    }

    fn next_batch(&self, most: u64) -> Option<Batch<'_, 'p>> {
        self.take_rest(most)
    }
}

/// Consecutive transfers that one thread has taken.
#[derive(Debug)]
pub struct Batch<'b, 'p> {
    transfers: Transfers<'b, 'p>,
    range: Range<u64>,
    plan: &'b ReadPlan<'p>,
    buffer: *mut u8,
    element_size: usize,
    exclusive: PhantomData<&'b mut [u8]>,
}

impl<'b, 'p> Batch<'b, 'p> {
    /// Walks the batch's transfers from the first one, to look ahead.
    pub fn transfers(&self) -> Transfers<'b, 'p> {
        self.plan.transfers_in(self.range.clone())
    }

    /// The next transfer together with its part of the buffer.
    pub fn advance(&mut self) -> Option<Slot<'_>> {
        let transfer = self.transfers.advance()?;
        Some(Slot {
            transfer,
            buffer: self.buffer,
            element_size: self.element_size,
            exclusive: PhantomData,
        })
    }

    /// The bytes of the next `count` transfers, which are used up, if they lie one after the other in
    /// the buffer and each in its chunk; else `None`.
    pub fn advance_run(&mut self, count: u64) -> Option<&mut [u8]> {
        let mut run: Option<Range<usize>> = None;
        for _ in 0..count {
            let next = Run::of(&self.transfers.advance()?)?;
            match &mut run {
                Some(run) if run.end == next.buffer => run.end += next.count,
                Some(_) => return None,
                None => run = Some(next.buffer..next.buffer + next.count),
            }
        }
        let run = run?;
        // SAFETY: the elements of `run` are those of transfers of this batch, inside the buffer
        // (guarantee "Inside" and the length checked in `Destination::new`). No other batch
        // reaches them, and the batch stays mutably borrowed while the slice lives.
        Some(unsafe {
            std::slice::from_raw_parts_mut(
                self.buffer.add(run.start * self.element_size),
                run.len() * self.element_size,
            )
        })
    }
}

/// One transfer and the elements of the buffer that belong to it.
#[derive(Debug)]
pub struct Slot<'s> {
    transfer: Transfer<'s>,
    buffer: *mut u8,
    element_size: usize,
    exclusive: PhantomData<&'s mut [u8]>,
}

impl<'s> Slot<'s> {
    /// The transfer.
    pub fn transfer(&self) -> &Transfer<'s> {
        &self.transfer
    }

    /// Writes the transfer's elements from `chunk`, the chunk's bytes from the element `first` on.
    ///
    /// # Errors
    /// [`KernelError::ChunkSize`] if `chunk` does not hold every element of the transfer.
    pub fn copy_from(&mut self, chunk: &[u8], first: u64) -> Result<(), KernelError> {
        let needed = self.transfer.chunk_span();
        let found = first..first.saturating_add((chunk.len() / self.element_size.max(1)) as u64);
        if needed.start < found.start || needed.end > found.end {
            return Err(KernelError::ChunkSize { needed, found });
        }
        let chunk = chunk.as_ptr().cast_mut();
        Geometry::of(&self.transfer, |geometry| {
            // `first` is at most an offset into a chunk, which fits memory.
            geometry.rebase(usize::try_from(first).unwrap_or(usize::MAX));
            // SAFETY: chunk offsets lie in the span that `chunk` was just shown to cover; buffer positions
            // lie inside the buffer (guarantee "Inside", length checked in `Destination::new`) and belong
            // to this transfer alone (guarantee "Once"); the buffer is borrowed exclusively, so `chunk`
            // cannot be part of it. Nothing is written to `chunk`.
            unsafe { copy::<ToBuffer>(geometry, chunk, self.buffer, self.element_size) };
        });
        Ok(())
    }

    /// Writes `value`, the bytes of one element, to every element of the transfer.
    ///
    /// # Errors
    /// [`KernelError::FillSize`] if `value` is not one element.
    pub fn fill(&mut self, value: &[u8]) -> Result<(), KernelError> {
        if value.len() != self.element_size {
            return Err(KernelError::FillSize { expected: self.element_size, found: value.len() });
        }
        Geometry::of(&self.transfer, |geometry| {
            // SAFETY: buffer positions as in `copy_from`; `value` has the size of an element.
            unsafe { fill(geometry, value, self.buffer) };
        });
        Ok(())
    }

    /// The transfer's part of the buffer, if its elements lie one after the other both there and in the
    /// chunk.
    pub fn contiguous(&mut self) -> Option<&mut [u8]> {
        let run = Run::of(&self.transfer)?;
        // SAFETY: as in `Batch::advance_run`, for one transfer.
        Some(unsafe {
            std::slice::from_raw_parts_mut(
                self.buffer.add(run.buffer * self.element_size),
                run.count * self.element_size,
            )
        })
    }
}
