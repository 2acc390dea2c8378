//! One thread's share of a read through `H5Dread_chunk`.

use super::deliver::Delivery;
use super::error::{ReadError, ReadFault, at};
use super::fetch::Fetch;
use crate::dims::RawChunk;
use crate::kernel::{Batch, Slot};

/// A thread's buffers, kept from batch to batch.
pub(super) struct LibraryServer<'f> {
    fetch: &'f Fetch<'f>,
    /// Bytes as they are stored.
    stored: Vec<u8>,
    delivery: Delivery<'f>,
}

impl<'f> LibraryServer<'f> {
    pub(super) fn new(fetch: &'f Fetch<'f>, remembers: bool) -> Self {
        Self { fetch, stored: Vec::new(), delivery: Delivery::new(fetch, remembers) }
    }

    /// Serves every transfer of a batch.
    pub(super) fn serve(&mut self, mut batch: Batch<'_, '_>) -> Result<(), ReadError> {
        while let Some(mut slot) = batch.advance() {
            let chunk = slot.transfer().chunk();
            let raw = self.fetch.raw_chunk(chunk);
            let fill = match raw {
                Some(raw) if self.serve_raw(raw, &mut slot).map_err(at(chunk, raw))? => continue,
                Some(_) => self.fetch.unwritten,
                None => self.fetch.fill,
            };
            slot.fill(fill).map_err(|fault| ReadError::fill(chunk, fault))?;
        }
        Ok(())
    }

    /// Serves a transfer from a raw chunk; `false` if that is not stored.
    fn serve_raw(&mut self, raw: RawChunk, slot: &mut Slot<'_>) -> Result<bool, ReadFault> {
        if let Some(chunk) = self.delivery.recall(raw) {
            slot.copy_from(&chunk, 0)?;
            return Ok(true);
        }
        let data = self.fetch.raw;
        self.fetch.count_library_read();
        let Some((stored, mask)) = data.read_stored(raw, &mut self.stored)? else {
            return Ok(false);
        };
        if data.pipeline().is_empty() {
            slot.copy_from(stored, 0)?;
        } else if data.pipeline().needs_library(mask) {
            self.delivery.decode_by_library(raw, slot)?;
        } else {
            self.delivery.decode(raw, stored, mask, slot)?;
        }
        Ok(true)
    }
}
