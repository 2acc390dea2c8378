use super::error::ReadFault;
use super::fetch::Fetch;
use super::raw_data::{RawData, grow};
use crate::codec::Scratch;
use crate::dims::RawChunk;
use crate::kernel::{Run, Slot};

/// Brings filtered chunks to the buffer; its memory is kept from chunk to chunk.
#[derive(Default)]
pub(super) struct Delivery {
    /// A chunk whose filters are undone.
    chunk: Vec<u8>,
    scratch: Scratch,
}

impl Delivery {
    /// Undoes the filters of `stored` and copies what the slot's transfer needs; a chunk that the buffer
    /// wants as it is gets decoded in place.
    pub(super) fn decode(
        &mut self,
        raw: &RawData,
        stored: &[u8],
        filter_mask: u32,
        slot: &mut Slot<'_>,
    ) -> Result<(), ReadFault> {
        let chunk_bytes = raw.chunk_bytes();
        let run = Run::of(slot.transfer());
        if run.is_some_and(|run| run.chunk == 0 && run.count * raw.element_size() == chunk_bytes) {
            let out = slot.contiguous().ok_or(ReadFault::Run)?;
            return Ok(raw.pipeline().decode_into(stored, filter_mask, &mut self.scratch, out)?);
        }
        grow(&mut self.chunk, chunk_bytes)?;
        let out = &mut self.chunk[..chunk_bytes];
        raw.pipeline().decode_into(stored, filter_mask, &mut self.scratch, out)?;
        Ok(slot.copy_from(out, 0)?)
    }

    /// Has libhdf5 undo the filters of a raw chunk.
    pub(super) fn decode_by_library(
        &mut self,
        fetch: &Fetch<'_>,
        raw: RawChunk,
        slot: &mut Slot<'_>,
    ) -> Result<(), ReadFault> {
        let chunk_bytes = fetch.raw.chunk_bytes();
        grow(&mut self.chunk, chunk_bytes)?;
        fetch.count_library_read();
        fetch.raw.read_decoded(raw, &mut self.chunk[..chunk_bytes])?;
        Ok(slot.copy_from(&self.chunk[..chunk_bytes], 0)?)
    }
}
