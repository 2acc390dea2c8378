use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::bytes::FileBytes;
use super::error::{ReadError, ReadFault};
use super::library::LibraryServer;
use super::raw_data::{RawData, RawPath};
use super::recent::RecentChunks;
use super::serve::Server;
use super::table::{StoredChunk, TableOf};
use super::threads::Threads;
use crate::chunk_map::ChunkMap;
use crate::dims::{ChunkIndex, RawChunk};
use crate::kernel::{Batch, HandOut};

/// Transfers that a thread takes at once, at most: enough to look ahead, few enough to share evenly.
const BATCH: u64 = 512;

/// Batches that each thread gets, at least, if it only copies.
const COPYING_TURNS: u64 = 4;

/// Batches that each thread gets, at least, if it decodes: the others wait for the last one, which takes longer then.
const DECODING_TURNS: u64 = 8;

/// Nanoseconds that a positional read of a few bytes takes.
const READ_CALL: u64 = 1_000;

/// Nanoseconds of work that make a second thread worth its start.
const PARALLEL: u64 = 200_000;

/// Everything that one read needs but the plan and the buffer.
pub(crate) struct Fetch<'f> {
    /// Positional reads, where there are any.
    pub(crate) file: Option<&'f FileBytes>,
    /// Counts what is read through libhdf5.
    pub(crate) library_reads: &'f AtomicU64,
    pub(crate) raw: &'f RawData,
    pub(crate) map: &'f ChunkMap,
    /// Bytes of the element that stands where no stored chunk is mapped.
    pub(crate) fill: &'f [u8],
    /// Bytes of the element that stands where the mapped chunk was never written.
    pub(crate) unwritten: &'f [u8],
    pub(crate) path: RawPath,
    pub(crate) threads: Threads<'f>,
}

impl Fetch<'_> {
    /// Brings every transfer that is handed out to its place. Calls `found` when it knows where the chunks are.
    pub(crate) fn run<'p>(
        &self,
        destination: &impl HandOut<'p>,
        found: impl FnOnce(),
    ) -> Result<(), ReadError> {
        let transfers = destination.plan().len();
        let table = self.table(destination).map_err(|fault| self.whole(destination, fault))?;
        found();
        let remembers = !self.raw.pipeline().is_empty()
            && RecentChunks::serves(transfers, self.raw.chunk_bytes());
        match (self.file, table) {
            (Some(file), Some(table)) => self.share(
                destination,
                || Server::new(self, file, &table, remembers),
                |server, batch| server.serve(batch),
            ),
            _ => self.share(
                destination,
                || LibraryServer::new(self, remembers),
                |server, batch| server.serve(batch),
            ),
        }
    }

    /// Where the chunks are that the destination's plan needs; `None` if libhdf5 is to read them.
    fn table<'p>(&self, destination: &impl HandOut<'p>) -> Result<Option<TableOf<'_>>, ReadFault> {
        let (Some(file), RawPath::Auto) = (self.file, self.path) else { return Ok(None) };
        let plan = destination.plan();
        self.raw.table_for(file, plan.len(), || {
            let mut wanted = Vec::new();
            let mut transfers = plan.transfers();
            while let Some(transfer) = transfers.advance() {
                wanted.extend(self.raw_chunk(transfer.chunk()));
            }
            wanted.sort_unstable();
            wanted.dedup();
            wanted
        })
    }

    /// Has threads take batches until none is left.
    fn share<'p, S>(
        &self,
        destination: &impl HandOut<'p>,
        server: impl Fn() -> S + Sync,
        serve: impl Fn(&mut S, Batch<'_, '_>) -> Result<(), ReadError> + Sync,
    ) -> Result<(), ReadError> {
        let threads = self.threads_for(destination);
        let transfers = destination.plan().len();
        let turns = if self.raw.pipeline().is_empty() { COPYING_TURNS } else { DECODING_TURNS };
        let size = (transfers / (threads * turns)).clamp(1, BATCH);
        let failed = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let work = || {
            let mut server = server();
            while !failed.load(Ordering::Relaxed) {
                let Some(batch) = destination.next_batch(size) else { break };
                if let Err(error) = serve(&mut server, batch) {
                    failed.store(true, Ordering::Relaxed);
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    failure.get_or_insert(error);
                }
            }
        };
        self.threads.spread(threads, work);
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// How many threads the work is worth, by a rough estimate of its nanoseconds.
    fn threads_for<'p>(&self, destination: &impl HandOut<'p>) -> u64 {
        let plan = destination.plan();
        let element_size = self.raw.element_size() as u64;
        // Bytes read of a chunk, as far as the first one tells, and what a byte costs: decoding takes about
        // 3 ns, copying from the page cache and to the buffer together a quarter of one.
        let work_a_chunk = if self.raw.pipeline().is_empty() {
            let span = plan.transfers().advance().map_or(0..0, |first| first.chunk_span());
            (span.end - span.start).saturating_mul(element_size) / 8
        } else {
            (self.raw.chunk_bytes() as u64).saturating_mul(3)
        };
        let delivered = plan.output_count().saturating_mul(element_size) / 8;
        let work_a_chunk = work_a_chunk.saturating_add(READ_CALL);
        let work = plan.len().saturating_mul(work_a_chunk).saturating_add(delivered);
        (self.threads.count() as u64).min(work / PARALLEL + 1).min(plan.len()).max(1)
    }

    /// A failure of the whole read, told of its first chunk.
    fn whole<'p>(&self, destination: &impl HandOut<'p>, fault: ReadFault) -> ReadError {
        let chunk = destination.plan().transfers().advance().map_or(ChunkIndex(0), |t| t.chunk());
        ReadError { chunk, raw: self.raw_chunk(chunk), fault }
    }

    pub(super) fn count_library_read(&self) {
        self.library_reads.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn raw_chunk(&self, chunk: ChunkIndex) -> Option<RawChunk> {
        self.map.get(chunk)
    }

    /// The bytes of a stored chunk in the file; without filters they must be those of a whole chunk.
    pub(super) fn stored_bytes(&self, stored: &StoredChunk) -> Result<Range<u64>, ReadFault> {
        let StoredChunk { address, size, .. } = *stored;
        let chunk_bytes = self.raw.chunk_bytes() as u64;
        if self.raw.pipeline().is_empty() && size != chunk_bytes {
            return Err(ReadFault::StoredSize { expected: chunk_bytes, found: size });
        }
        let end = address.checked_add(size).ok_or(ReadFault::Address { address, size })?;
        Ok(address..end)
    }
}
