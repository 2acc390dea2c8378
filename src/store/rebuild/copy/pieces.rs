//! Stored chunks read in large pieces, in the order in which they are copied.

use super::super::super::error::DatasetFault;
use super::super::super::file::FileInner;
use super::super::super::storage::Storage;
use super::survey::Survey;
use crate::raw::{StoredChunk, read_stored_to};

/// Bytes of a piece, unless one chunk has more.
const PIECE: u64 = 4 << 20;

/// The chunks that are to be read.
pub(super) struct Pieces {
    /// In the order in which they are to lie in the new file. Raw chunks that are mapped but were never written are not
    /// among them.
    chunks: Vec<StoredChunk>,
    /// How many of them were read.
    done: usize,
}

/// Chunks that were read.
#[derive(Default)]
pub(super) struct Piece {
    chunks: Vec<StoredChunk>,
    /// One behind the other, then what is left of larger pieces.
    bytes: Vec<u8>,
}

impl Pieces {
    /// Those that are kept.
    pub(super) fn new(
        file: &FileInner,
        storage: &Storage,
        survey: &Survey,
    ) -> Result<Self, DatasetFault> {
        let stored = storage.raw.stored(file.addresses()).map_err(DatasetFault::Index)?;
        let find = |raw| stored.binary_search_by_key(&raw, |chunk| chunk.raw).ok();
        let chunks = survey.in_order().filter_map(|raw| stored.get(find(raw)?).copied());
        Ok(Self { chunks: chunks.collect(), done: 0 })
    }

    /// All of them.
    pub(super) fn chunks(&self) -> &[StoredChunk] {
        &self.chunks
    }

    /// Reads the next ones, none if all were read or the file is not read by addresses. Those that lie behind each other
    /// are read at once.
    pub(super) fn read_next(
        &mut self,
        file: &FileInner,
        piece: &mut Piece,
    ) -> Result<(), DatasetFault> {
        piece.chunks.clear();
        let Some(file) = file.addresses() else { return Ok(()) };
        let mut rest = self.chunks.get(self.done..).unwrap_or_default();
        let (mut taken, mut end) = (0, 0);
        while let Some((first, run)) = next_run(rest, PIECE.saturating_sub(taken), taken == 0) {
            let size = run.iter().map(|chunk| chunk.size).fold(0, u64::saturating_add);
            let read = read_stored_to(file, first.address, size, &mut piece.bytes, end);
            end = read.map_err(|fault| DatasetFault::StoredChunk { raw: first.raw.0, fault })?;
            taken = taken.saturating_add(size);
            piece.chunks.extend_from_slice(run);
            rest = rest.get(run.len()..).unwrap_or_default();
        }
        self.done += piece.chunks.len();
        Ok(())
    }
}

/// The first of some chunks, and all that lie behind each other from it on and have no more than so many bytes together;
/// `None` if there are none. `is_any`: the first one may have more.
fn next_run(
    chunks: &[StoredChunk],
    most: u64,
    is_any: bool,
) -> Option<(&StoredChunk, &[StoredChunk])> {
    let first = chunks.first().filter(|first| is_any || first.size <= most)?;
    let (mut end, mut size) = (first.address, 0_u64);
    let behind = chunks.iter().enumerate().take_while(|&(at, chunk)| {
        size = size.saturating_add(chunk.size);
        let joins = chunk.address == end && (size <= most || at == 0);
        end = end.saturating_add(chunk.size);
        joins
    });
    Some((first, chunks.get(..behind.count())?))
}

impl Piece {
    /// The chunks with their bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&StoredChunk, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.chunks.iter().map(move |chunk| {
            // They are as long as they are together.
            let size = usize::try_from(chunk.size).unwrap_or(usize::MAX).min(rest.len());
            let (bytes, later) = rest.split_at(size);
            rest = later;
            (chunk, bytes)
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::RawChunk;

    #[test]
    fn what_lies_behind_each_other_is_read_at_once_up_to_a_limit() {
        // Two behind each other, one elsewhere, three behind each other of which the last is longer.
        let places = [(100, 10), (110, 10), (300, 10), (400, 10), (410, 10), (420, 50)];
        let chunks = (0..).zip(places).map(|(raw, (address, size))| StoredChunk {
            raw: RawChunk(raw),
            address,
            size,
            filter_mask: 0,
        });
        let chunks: Vec<StoredChunk> = chunks.collect();
        let run = |at: usize, most, is_any| {
            next_run(&chunks[at..], most, is_any).map(|(first, run)| (first.raw.0, run.len()))
        };
        assert_eq!(run(0, 1000, true), Some((0, 2)));
        assert_eq!(run(2, 1000, true), Some((2, 1)));
        assert_eq!(run(3, 1000, true), Some((3, 3)));
        assert_eq!(run(3, 69, true), Some((3, 2)));
        // One that is too long is read alone, where nothing was read before.
        assert_eq!(run(5, 10, true), Some((5, 1)));
        assert_eq!(run(5, 10, false), None);
        assert_eq!(run(6, 1000, true), None);
        // Sizes and addresses come from the file.
        let far =
            StoredChunk { raw: RawChunk(0), address: u64::MAX, size: u64::MAX, filter_mask: 0 };
        assert_eq!(next_run(&[far, far], u64::MAX, true).map(|(_, run)| run.len()), Some(2));
    }
}
