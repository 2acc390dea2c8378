use std::sync::Arc;

use super::error::ReadFault;
use super::fetch::Fetch;
use super::raw_data::grow;
use crate::codec::Scratch;
use crate::dims::RawChunk;
use crate::kernel::{Run, Slot};

/// Brings filtered chunks to the buffer; its memory is kept from chunk to chunk.
pub(super) struct Delivery<'f> {
    fetch: &'f Fetch<'f>,
    /// Whether decoded chunks are kept from this read and looked for in earlier ones.
    remembers: bool,
    /// A chunk whose filters are undone.
    chunk: Vec<u8>,
    scratch: Scratch,
}

impl<'f> Delivery<'f> {
    pub(super) fn new(fetch: &'f Fetch<'f>, remembers: bool) -> Self {
        Self { fetch, remembers, chunk: Vec::new(), scratch: Scratch::default() }
    }

    /// The bytes of a chunk that an earlier read has decoded.
    pub(super) fn recall(&self, raw: RawChunk) -> Option<Arc<[u8]>> {
        if self.remembers { self.fetch.raw.recent.get(raw) } else { None }
    }

    /// Undoes the filters of `stored` and copies what the slot's transfer needs; a chunk that the buffer
    /// wants as it is gets decoded in place.
    pub(super) fn decode(
        &mut self,
        raw: RawChunk,
        stored: &[u8],
        filter_mask: u32,
        slot: &mut Slot<'_>,
    ) -> Result<(), ReadFault> {
        let data = self.fetch.raw;
        let chunk_bytes = data.chunk_bytes();
        let whole = Run::of(slot.transfer())
            .is_some_and(|run| run.chunk == 0 && run.count * data.element_size() == chunk_bytes);
        if whole {
            let out = slot.contiguous().ok_or(ReadFault::Run)?;
            data.pipeline().decode_into(stored, filter_mask, &mut self.scratch, out)?;
            self.remember(raw, out);
            return Ok(());
        }
        grow(&mut self.chunk, chunk_bytes)?;
        let out = &mut self.chunk[..chunk_bytes];
        data.pipeline().decode_into(stored, filter_mask, &mut self.scratch, out)?;
        self.deliver(raw, slot)
    }

    /// Has libhdf5 undo the filters of a raw chunk.
    pub(super) fn decode_by_library(
        &mut self,
        raw: RawChunk,
        slot: &mut Slot<'_>,
    ) -> Result<(), ReadFault> {
        let chunk_bytes = self.fetch.raw.chunk_bytes();
        grow(&mut self.chunk, chunk_bytes)?;
        self.fetch.count_library_read();
        self.fetch.raw.read_decoded(raw, &mut self.chunk[..chunk_bytes])?;
        self.deliver(raw, slot)
    }

    /// Copies what the slot's transfer needs from the decoded chunk.
    fn deliver(&self, raw: RawChunk, slot: &mut Slot<'_>) -> Result<(), ReadFault> {
        let chunk = &self.chunk[..self.fetch.raw.chunk_bytes()];
        self.remember(raw, chunk);
        Ok(slot.copy_from(chunk, 0)?)
    }

    /// Keeps the bytes of a chunk for later reads.
    fn remember(&self, raw: RawChunk, chunk: &[u8]) {
        if self.remembers {
            self.fetch.raw.recent.put(raw, chunk);
        }
    }
}
