//! One thread's share of a read by positional reads: batches of transfers, their bytes, the buffer.

use std::ops::Range;
use std::sync::Arc;

use super::bytes::{FileBytes, ThreadBytes};
use super::deliver::Delivery;
use super::error::{ReadError, ReadFault, at};
use super::fetch::Fetch;
use super::need::{needed_ranges, single_range};
use super::raw_data::grow;
use super::table::{ChunkTable, StoredChunk};
use crate::dims::{ChunkIndex, RawChunk};
use crate::kernel::{Batch, Run};
use crate::ondisk::{OndiskError, ReadAt, Structure};
use crate::plan::Transfer;

/// Bytes that one read of several chunks fetches at most: what stays in a core's own cache.
const WINDOW: u64 = 256 << 10;

/// Bytes from which a read straight into the buffer beats sharing a window with its neighbours.
const DIRECT: u64 = 4 << 10;

/// A thread's buffers, kept from batch to batch.
pub(super) struct Server<'f> {
    fetch: &'f Fetch<'f>,
    file: &'f FileBytes,
    /// The same file, to read chunks.
    bytes: ThreadBytes<'f>,
    table: &'f ChunkTable,
    /// Bytes as they are in the file.
    window: Vec<u8>,
    /// Whose bytes the pending window holds, in the order of their transfers.
    reads: Vec<Read>,
    delivery: Delivery<'f>,
}

/// The bytes of a stored chunk that one transfer needs.
#[derive(Clone)]
struct Read {
    chunk: ChunkIndex,
    stored: StoredChunk,
    /// From the start of the file.
    bytes: Range<u64>,
    /// Where they go, if they are the buffer's bytes as they are.
    run: Option<Run>,
}

/// What one look ahead says about a transfer.
enum Need<'f> {
    /// Nothing is stored: an element's bytes, over and over.
    Fill(&'f [u8]),
    /// One range of the file.
    One(Read),
    /// Several ranges of one unfiltered chunk.
    Several(ChunkIndex, StoredChunk),
    /// A chunk that an earlier read has decoded.
    Decoded(ChunkIndex, RawChunk, Arc<[u8]>),
    /// A chunk whose filters only libhdf5 can undo.
    Library(ChunkIndex, StoredChunk),
}

/// Transfers that were looked at and that one step can serve.
enum Pending<'f> {
    Fill {
        value: &'f [u8],
        count: u64,
    },
    /// Bytes that lie one after the other both in the file and in the buffer.
    Direct {
        first: Read,
        bytes: Range<u64>,
        buffer_end: usize,
        count: u64,
    },
    /// Bytes of one window; `Server::reads` tells whose.
    Window {
        bytes: Range<u64>,
    },
}

impl<'f> Server<'f> {
    pub(super) fn new(
        fetch: &'f Fetch<'f>,
        file: &'f FileBytes,
        table: &'f ChunkTable,
        remembers: bool,
    ) -> Self {
        let (window, reads) = (Vec::new(), Vec::new());
        let delivery = Delivery::new(fetch, remembers);
        Self { fetch, file, bytes: ThreadBytes::new(file), table, window, reads, delivery }
    }

    /// Serves every transfer of a batch.
    pub(super) fn serve(&mut self, mut batch: Batch<'_, '_>) -> Result<(), ReadError> {
        self.bytes.refresh();
        self.read_ahead_if_cold(&batch)?;
        let mut ahead = batch.transfers();
        let mut pending: Option<Pending<'f>> = None;
        while let Some(transfer) = ahead.advance() {
            let need = self.look(&transfer)?;
            let need = match &mut pending {
                Some(pending) => match self.join(pending, need) {
                    None => continue,
                    Some(need) => need,
                },
                None => need,
            };
            if let Some(pending) = pending.take() {
                self.flush(pending, &mut batch)?;
            }
            pending = self.begin(need, &mut batch)?;
        }
        pending.map_or(Ok(()), |pending| self.flush(pending, &mut batch))
    }

    /// What a transfer needs of the file.
    fn look(&self, transfer: &Transfer<'_>) -> Result<Need<'f>, ReadError> {
        let chunk = transfer.chunk();
        let Some(raw) = self.fetch.raw_chunk(chunk) else {
            return Ok(Need::Fill(self.fetch.fill));
        };
        // What is mapped and not stored holds the fill value, as in any chunked dataset.
        let Some(&stored) = self.table.get(raw) else {
            return Ok(Need::Fill(self.fetch.unwritten));
        };
        let whole = self.fetch.stored_bytes(&stored).map_err(at(chunk, raw))?;
        if !self.fetch.raw.pipeline().is_empty() {
            return Ok(if let Some(decoded) = self.delivery.recall(raw) {
                Need::Decoded(chunk, raw, decoded)
            } else if self.fetch.raw.pipeline().needs_library(stored.filter_mask) {
                Need::Library(chunk, stored)
            } else {
                Need::One(Read { chunk, stored, bytes: whole, run: None })
            });
        }
        let element_size = self.fetch.raw.element_size();
        let Some(part) = single_range(transfer, element_size as u64) else {
            return Ok(Need::Several(chunk, stored));
        };
        let bytes = whole.start + part.start..whole.start + part.end;
        // Elements in one piece fill their range, so a short range needs no closer look.
        let run = if part.end - part.start < DIRECT { None } else { Run::of(transfer) };
        Ok(Need::One(Read { chunk, stored, bytes, run }))
    }

    /// Adds a transfer to what is pending, or gives it back if it does not continue it.
    fn join(&mut self, pending: &mut Pending<'f>, need: Need<'f>) -> Option<Need<'f>> {
        match (pending, need) {
            (Pending::Fill { value, count }, Need::Fill(next)) if *value == next => *count += 1,
            (
                Pending::Direct { bytes, buffer_end, count, .. },
                Need::One(Read { bytes: next, run: Some(run), .. }),
            ) if next.start == bytes.end && run.buffer == *buffer_end => {
                bytes.end = next.end;
                *buffer_end += run.count;
                *count += 1;
            }
            (Pending::Window { bytes }, Need::One(read))
                if read.run.is_none()
                    && read.bytes.start >= bytes.end
                    && read.bytes.start - bytes.end <= super::need::GAP
                    && read.bytes.end - bytes.start <= WINDOW =>
            {
                bytes.end = read.bytes.end;
                self.reads.push(read);
            }
            (_, need) => return Some(need),
        }
        None
    }

    /// Starts a new step with a transfer, or serves it at once.
    fn begin(
        &mut self,
        need: Need<'f>,
        batch: &mut Batch<'_, '_>,
    ) -> Result<Option<Pending<'f>>, ReadError> {
        Ok(match need {
            Need::Fill(value) => Some(Pending::Fill { value, count: 1 }),
            Need::One(read) => Some(match read.run {
                Some(run) => Pending::Direct {
                    bytes: read.bytes.clone(),
                    buffer_end: run.buffer + run.count,
                    count: 1,
                    first: read,
                },
                None => {
                    let bytes = read.bytes.clone();
                    self.reads.clear();
                    self.reads.push(read);
                    Pending::Window { bytes }
                }
            }),
            Need::Several(chunk, stored) => {
                self.serve_ranges(&stored, batch).map_err(at(chunk, stored.raw))?;
                None
            }
            Need::Decoded(chunk, raw, decoded) => {
                let served = batch.advance().map_or(Ok(()), |mut slot| slot.copy_from(&decoded, 0));
                served.map_err(|fault| at(chunk, raw)(fault.into()))?;
                None
            }
            Need::Library(chunk, stored) => {
                self.serve_decoded(&stored, batch).map_err(at(chunk, stored.raw))?;
                None
            }
        })
    }

    fn flush(&mut self, pending: Pending<'f>, batch: &mut Batch<'_, '_>) -> Result<(), ReadError> {
        match pending {
            Pending::Fill { value, count } => {
                for _ in 0..count {
                    let Some(mut slot) = batch.advance() else { break };
                    let chunk = slot.transfer().chunk();
                    slot.fill(value).map_err(|fault| ReadError::fill(chunk, fault))?;
                }
                Ok(())
            }
            Pending::Direct { first, bytes, count, .. } => {
                let file = &self.bytes;
                match batch.advance_run(count) {
                    Some(run) => file
                        .read_exact_at(run, bytes.start, Structure::Chunk)
                        .map_err(ReadFault::from),
                    None => Err(ReadFault::Run),
                }
                .map_err(at(first.chunk, first.stored.raw))
            }
            Pending::Window { bytes } => self.serve_window(&bytes, batch),
        }
    }

    /// Reads a window and serves the transfers whose bytes it holds.
    fn serve_window(
        &mut self,
        bytes: &Range<u64>,
        batch: &mut Batch<'_, '_>,
    ) -> Result<(), ReadError> {
        let Some(first) = self.reads.first() else { return Ok(()) };
        let of_first = at(first.chunk, first.stored.raw);
        self.read_window(bytes).map_err(of_first)?;
        for read in &self.reads {
            let Some(mut slot) = batch.advance() else { break };
            // A window is in memory, so distances in it fit usize.
            let start = usize::try_from(read.bytes.start - bytes.start).unwrap_or(usize::MAX);
            let end = usize::try_from(read.bytes.end - bytes.start).unwrap_or(usize::MAX);
            let stored = self.window.get(start..end).unwrap_or_default();
            let delivered = if self.fetch.raw.pipeline().is_empty() {
                let first = (read.bytes.start - read.stored.address)
                    / self.fetch.raw.element_size().max(1) as u64;
                slot.copy_from(stored, first).map_err(ReadFault::from)
            } else {
                self.delivery.decode(read.stored.raw, stored, read.stored.filter_mask, &mut slot)
            };
            delivered.map_err(at(read.chunk, read.stored.raw))?;
        }
        Ok(())
    }

    /// Reads a range of the file to the start of the window.
    fn read_window(&mut self, bytes: &Range<u64>) -> Result<(), ReadFault> {
        let wanted = self.grow_window(bytes)?;
        let window = &mut self.window[..wanted];
        Ok(self.bytes.read_exact_at(window, bytes.start, Structure::Chunk)?)
    }

    /// Makes room in the window for a range of the file, and gives its length. The window grows only as far
    /// as the file can fill it: stored sizes come from the file.
    fn grow_window(&mut self, bytes: &Range<u64>) -> Result<usize, ReadFault> {
        let len = bytes.end - bytes.start;
        let Ok(wanted) = usize::try_from(len) else { return Err(ReadFault::Memory { bytes: len }) };
        if wanted > self.window.len() {
            let size = self.bytes.size().map_err(|source| OndiskError::FileSize { source })?;
            if bytes.end > size {
                return Err(ReadFault::Beyond { end: bytes.end, size });
            }
        }
        grow(&mut self.window, wanted)?;
        Ok(wanted)
    }

    /// Serves the next transfer from several ranges of one unfiltered chunk.
    fn serve_ranges(
        &mut self,
        stored: &StoredChunk,
        batch: &mut Batch<'_, '_>,
    ) -> Result<(), ReadFault> {
        let Some(mut slot) = batch.advance() else { return Ok(()) };
        let element_size = self.fetch.raw.element_size() as u64;
        let span = slot.transfer().chunk_span();
        let start = span.start * element_size;
        // The window is an image of the chunk from the first needed byte on; gaps are not read.
        let needed = stored.address + start..stored.address + span.end * element_size;
        let len = self.grow_window(&needed)?;
        let (file, window) = (&self.bytes, &mut self.window);
        needed_ranges(slot.transfer(), element_size, |range| {
            let within = usize::try_from(range.start - start).unwrap_or(usize::MAX)
                ..usize::try_from(range.end - start).unwrap_or(usize::MAX);
            let target = window.get_mut(within).ok_or(ReadFault::Run)?;
            Ok::<(), ReadFault>(file.read_exact_at(
                target,
                stored.address + range.start,
                Structure::Chunk,
            )?)
        })?;
        Ok(slot.copy_from(&self.window[..len], span.start)?)
    }

    /// Serves the next transfer from a chunk that libhdf5 decodes.
    fn serve_decoded(
        &mut self,
        stored: &StoredChunk,
        batch: &mut Batch<'_, '_>,
    ) -> Result<(), ReadFault> {
        let Some(mut slot) = batch.advance() else { return Ok(()) };
        self.delivery.decode_by_library(stored.raw, &mut slot)
    }

    /// Tells the kernel what the batch will read if its first byte has to come from the medium: then the
    /// depth of the queue is what counts.
    fn read_ahead_if_cold(&self, batch: &Batch<'_, '_>) -> Result<(), ReadError> {
        let file = self.file;
        let mut ahead = batch.transfers();
        let mut known_cold = false;
        while let Some(transfer) = ahead.advance() {
            let bytes = match self.look(&transfer)? {
                Need::One(read) => read.bytes,
                Need::Several(_, stored) | Need::Library(_, stored) => {
                    stored.address..stored.address.saturating_add(stored.size)
                }
                Need::Fill(_) | Need::Decoded(..) => continue,
            };
            if !known_cold {
                if !file.is_cold(bytes.start) {
                    return Ok(());
                }
                known_cold = true;
            }
            file.read_ahead(bytes.start, bytes.end - bytes.start);
        }
        Ok(())
    }
}
