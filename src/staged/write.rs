use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bumpalo::Bump;

use super::array::Result;
use super::broadcast::{check_size, value_strides};
use super::chunk::reserve;
use super::parallel::each;
use super::source::Source;
use super::targets::{Fresh, Targets};
use super::view::Loaded;
use super::{Base, StagedArray, StagedError};
use crate::dims::{ChunkIndex, Dims, element_count};
use crate::plan::{ReadPlan, Transfer};
use crate::selection::{Resolved, Selection};

impl<B: Base> StagedArray<B> {
    /// Writes `value`, the bytes of an array of `value_shape` in C order, to the selected elements. The
    /// value is broadcast to the shape of the selection by NumPy's rules, without being copied for it. An
    /// element that is selected more than once gets the last of its values.
    ///
    /// # Errors
    /// [`StagedError::Plan`] if the selection does not fit the array, [`StagedError::ValueSize`] or
    /// [`StagedError::Broadcast`] if the value does not fit the selection, [`StagedError::Base`] if
    /// the base fails, [`StagedError::Memory`]; the array is unchanged then.
    pub fn write(
        &mut self,
        selection: &Selection,
        value: &[u8],
        value_shape: &[u64],
    ) -> Result<(), B> {
        let arena = Bump::new();
        let resolved = selection.resolve(&self.shape)?;
        let output = resolved.output_shape(self.shape.len());
        check_size(value, value_shape, self.element_size())?;
        let strides = value_strides(&resolved, &output, value_shape)?;
        let source = if value.len() == self.element_size() {
            Source::Element(value)
        } else if element_count(value_shape)? == element_count(&output)? {
            Source::Array(value)
        } else {
            Source::Broadcast { value, strides: &strides }
        };
        self.write_from(&resolved, &source, &arena)
    }

    /// Writes `element`, the bytes of one element, to all selected elements. Chunks that are covered wholly
    /// share one buffer.
    ///
    /// # Errors
    /// As [`write`](Self::write), and [`StagedError::ElementSize`] if `element` is not one element.
    pub fn write_scalar(&mut self, selection: &Selection, element: &[u8]) -> Result<(), B> {
        let (expected, found) = (self.element_size(), element.len());
        if expected != found {
            return Err(StagedError::ElementSize { expected, found });
        }
        let arena = Bump::new();
        let resolved = selection.resolve(&self.shape)?;
        self.write_from(&resolved, &Source::Element(element), &arena)
    }

    fn write_from<'p>(
        &mut self,
        selection: &Resolved<'p>,
        source: &Source<'_>,
        arena: &'p Bump,
    ) -> Result<(), B> {
        let plan = ReadPlan::from_resolved(selection, &self.shape, &self.format.shape, arena)?;
        // All that can fail comes first, and changes no value.
        let targets = self.targets(&plan, source)?;
        let fresh = self.make_fresh(&plan, source, &targets.fresh)?;
        let loaded = self.make_partial(&plan, source, &targets)?;
        self.unshare(targets.in_place.iter().map(|target| target.chunk))?;
        let mut taken = reserve(targets.in_place.len())?;

        let staged = Arc::make_mut(&mut self.staged);
        for target in &targets.in_place {
            taken.extend(staged.remove(&target.chunk).map(|buffer| (target, buffer)));
        }
        let size = self.format.element_size();
        let result = each(&mut taken, self.format.bytes, |(target, buffer)| {
            with_transfer(&plan, target.number, |transfer| {
                // The buffer is this array's own, so that nothing is copied here. Chunk and value have
                // the sizes that the plan was made for, so that nothing fails.
                Ok(source.put(transfer, &mut Arc::make_mut(buffer)[..], size)?)
            })
        });
        staged.extend(taken.into_iter().map(|(target, buffer)| (target.chunk, buffer)));
        staged.extend(fresh);
        let partial = targets.partial.iter().map(|target| target.chunk);
        self.insert(partial.zip(loaded));
        result
    }

    /// The buffers of chunks of which nothing is kept but fill.
    fn make_fresh(
        &self,
        plan: &ReadPlan<'_>,
        source: &Source<'_>,
        fresh: &[Fresh],
    ) -> Result<Vec<Made>, B> {
        let equal = Mutex::default();
        let is_shared = |fresh: &Fresh| fresh.whole && matches!(source, Source::Element(_));
        // All by one thread: memory of its own that each thread would take from the system a chunk at a time costs more.
        let mut made = reserve(fresh.len())?;
        for fresh in fresh {
            let room = if is_shared(fresh) { Vec::new() } else { reserve(self.format.bytes)? };
            made.push((fresh, Arc::new(room)));
        }
        each(&mut made, self.format.bytes, |(fresh, buffer)| {
            with_transfer(plan, fresh.number, |transfer| {
                if is_shared(fresh) {
                    *buffer = self.make_equal(transfer, source, &equal)?;
                } else if let Some(buffer) = Arc::get_mut(buffer) {
                    self.make_one(transfer, source, buffer)?;
                }
                Ok(())
            })
        })?;
        Ok(made.into_iter().map(|(fresh, buffer)| (fresh.chunk, buffer)).collect())
    }

    /// A buffer that is the same for all chunks of the same extent that one element covers wholly.
    fn make_equal(
        &self,
        transfer: &Transfer<'_>,
        source: &Source<'_>,
        equal: &Mutex<HashMap<Dims, Arc<Vec<u8>>>>,
    ) -> Result<Arc<Vec<u8>>, B> {
        let extent = self.format.extent_at(transfer.chunk().0, &self.grid, &self.shape);
        let mut equal = equal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = equal.get(&extent) {
            return Ok(Arc::clone(buffer));
        }
        let mut buffer = reserve(self.format.bytes)?;
        self.make_one(transfer, source, &mut buffer)?;
        let buffer = Arc::new(buffer);
        equal.insert(extent, Arc::clone(&buffer));
        Ok(buffer)
    }

    /// Fills a buffer, which has room for a chunk.
    fn make_one(
        &self,
        transfer: &Transfer<'_>,
        source: &Source<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), B> {
        if let Some(bytes) = source.whole_chunk(transfer, self.element_size(), self.format.bytes) {
            buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.format.fill(buffer);
        Ok(source.put(transfer, buffer, self.element_size())?)
    }

    /// The buffers of chunks of which a part is kept that stands in the base.
    fn make_partial(
        &self,
        plan: &ReadPlan<'_>,
        source: &Source<'_>,
        targets: &Targets,
    ) -> Result<Vec<Loaded>, B> {
        let Some(view) = &self.base else {
            return Ok(Vec::new());
        };
        view.load(&targets.positions, &self.format, |position, chunk| {
            let target = targets.partial[position];
            let extent = self.format.extent_at(target.chunk.0, &self.grid, &self.shape);
            let mut buffer = match self.trimmed(chunk, &extent)? {
                Some(buffer) => buffer,
                None => self.format.filled()?,
            };
            with_transfer(plan, target.number, |transfer| {
                Ok(source.put(transfer, &mut buffer, self.element_size())?)
            })?;
            Ok(Some(buffer))
        })
    }
}

/// A chunk and its new buffer.
type Made = (ChunkIndex, Arc<Vec<u8>>);

/// Calls `work` with the transfer `number` of a plan.
fn with_transfer<E: std::error::Error + 'static>(
    plan: &ReadPlan<'_>,
    number: u64,
    work: impl FnOnce(&Transfer<'_>) -> std::result::Result<(), StagedError<E>>,
) -> std::result::Result<(), StagedError<E>> {
    plan.transfers_in(number..number.saturating_add(1)).advance().map_or(Ok(()), |t| work(&t))
}
