//! Reading the next slab while the last one is used.

use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use h5strata::store::DatasetFault;
use h5strata::{Dataset, Error};

use super::{Elements, Parts};
use crate::failure::Failure;
use crate::output::Progress;

/// Slabs in memory at once: one that is read, one that is used.
const BUFFERS: usize = 2;

/// Reads slab by slab and hands each to `consume`, in C order.
pub(crate) fn for_each_slab(
    dataset: &Dataset,
    parts: &Parts,
    consume: impl FnMut(&Elements) -> Result<(), Failure>,
) -> Result<(), Failure> {
    Slabs::new(dataset, parts, 1).for_each(consume)
}

/// The slabs of a dataset, for as many passes over them as are needed, and how far these have come.
pub(crate) struct Slabs<'d> {
    dataset: &'d Dataset,
    parts: &'d Parts,
    progress: Progress,
    /// The only slab, once it has been read, if there is more than one pass.
    only: Option<Elements>,
    keeps: bool,
}

impl<'d> Slabs<'d> {
    /// Prepares a number of passes. Each reads the slabs anew, unless there is a single one.
    pub(crate) fn new(dataset: &'d Dataset, parts: &'d Parts, passes: u64) -> Self {
        let label = format!("{} {}", dataset.version(), dataset.path());
        let total = parts.bytes().saturating_mul(passes);
        let progress = Progress::new(crate::output::visible(&label).into_owned(), total);
        let keeps = passes > 1 && parts.slabs().take(2).count() == 1;
        Self { dataset, parts, progress, only: None, keeps }
    }

    /// Shows no progress from here on: a bar on the terminal that the elements go to would stand between them.
    pub(crate) fn hide_progress(&mut self) {
        self.progress.hide();
    }

    /// One pass: hands each slab to `consume`, in C order.
    pub(crate) fn for_each(
        &mut self,
        mut consume: impl FnMut(&Elements) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(elements) = &self.only {
            consume(elements)?;
            self.progress.advance(self.parts.bytes());
            return Ok(());
        }
        let (keeps, only) = (self.keeps, &mut self.only);
        read_ahead(self.dataset, self.parts, &mut self.progress, |elements| {
            consume(elements)?;
            if keeps {
                *only = Some(std::mem::take(elements));
            }
            Ok(())
        })
    }
}

/// Reads the next slab while `consume` works on the last one.
fn read_ahead(
    dataset: &Dataset,
    parts: &Parts,
    progress: &mut Progress,
    mut consume: impl FnMut(&mut Elements) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (used, unused) = channel::<Elements>();
    let (full, next) = sync_channel::<Result<(Elements, u64), Error>>(0);
    // What the closure owns is dropped when it ends early, which ends the reader's waiting too.
    thread::scope(move |scope| {
        scope.spawn(move || {
            let mut fresh = BUFFERS;
            let mut before = 0u64;
            for (selection, count) in parts.slabs() {
                let mut elements = if fresh > 0 {
                    fresh -= 1;
                    Elements::default()
                } else {
                    match unused.recv() {
                        Ok(elements) => elements,
                        Err(_) => return,
                    }
                };
                let outcome = elements
                    .read(dataset, &selection, count)
                    .map_err(|error| count_from_the_start(error, before));
                before += count;
                let failed = outcome.is_err();
                // Nobody waits after a failure of their own.
                if full.send(outcome.map(|()| (elements, count))).is_err() || failed {
                    return;
                }
            }
        });
        let element_bytes = parts.bytes() / parts.elements().max(1);
        for slab in next {
            let (mut elements, count) = slab?;
            consume(&mut elements)?;
            progress.advance(count.saturating_mul(element_bytes));
            // The reader may be done.
            drop(used.send(elements));
        }
        Ok(())
    })
}

/// An error that tells of an element of the whole selection instead of one of a slab.
fn count_from_the_start(mut error: Error, before: u64) -> Error {
    if let Error::Dataset { fault, .. } = &mut error
        && let DatasetFault::String { element, .. } = fault.as_mut()
    {
        *element = element.saturating_add(before);
    }
    error
}
