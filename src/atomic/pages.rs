//! Pages of the committed part that were written: in memory, or in slots of the sidecar.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::{Action, JournalError, same_error};
use super::journal::{Checksum, Entry, checksum};
use super::merge::{PageLayer, pages_before};
use super::page::{PAGE_BYTES, PageGrid, Piece};
use super::sidecar::{Sidecar, slot_start};

/// A page, where its bytes are.
#[derive(Debug)]
enum Page {
    /// In memory; `slot` is the one that it had before, which it will have again.
    Resident { bytes: Box<[u8]>, slot: Option<u64>, is_changed: bool },
    /// In a slot of the sidecar, and still in memory where there is room for it.
    Stored { slot: u64, checksum: Checksum, copy: Option<Box<[u8]>> },
}

/// The written pages of a file. At most `limit` of them are in memory: when there would be more, all are moved to the
/// sidecar, which is created then.
#[derive(Debug)]
pub(super) struct Pages {
    grid: PageGrid,
    pages: BTreeMap<u64, Page>,
    resident: usize,
    limit: usize,
    sidecar: Option<Sidecar>,
}

impl Pages {
    /// No pages, over the committed part of a file.
    pub(super) fn new(grid: PageGrid, memory_limit: usize) -> Self {
        let (pages, sidecar) = (BTreeMap::new(), None);
        Self { grid, pages, resident: 0, limit: page_limit(memory_limit), sidecar }
    }

    #[cfg(test)]
    pub(super) fn set_memory_limit(&mut self, memory_limit: usize) {
        self.limit = page_limit(memory_limit);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub(super) fn sidecar(&self) -> Option<&Sidecar> {
        self.sidecar.as_ref()
    }

    /// The sidecar of `file`, which is opened as `base`; it is created if it is not there.
    pub(super) fn open_sidecar(
        &mut self,
        file: &Path,
        base: &File,
    ) -> Result<&mut Sidecar, JournalError> {
        let sidecar = match self.sidecar.take() {
            Some(sidecar) => sidecar,
            None => Sidecar::create(file, base)?,
        };
        Ok(self.sidecar.insert(sidecar))
    }

    /// Writes `bytes` from `address` on, all of them in the committed part. What else is in
    /// their pages comes from `base`, which is `file` opened.
    pub(super) fn write(
        &mut self,
        file: &Path,
        base: &File,
        address: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let (mut address, mut rest) = (address, bytes);
        while let Some(piece) =
            self.grid.piece(address, rest.len()).filter(|piece| piece.length > 0)
        {
            let (part, later) = rest.split_at(piece.length);
            self.write_piece(base, piece, part)?;
            if self.resident > self.limit {
                self.store(file, base).map_err(into_io)?;
                self.free();
            }
            address = address.saturating_add(piece.length as u64);
            rest = later;
        }
        Ok(())
    }

    fn write_piece(&mut self, base: &File, piece: Piece, part: &[u8]) -> io::Result<()> {
        let Piece { page, offset, length } = piece;
        if let Some(Page::Resident { bytes, is_changed, .. }) = self.pages.get_mut(&page) {
            put(&mut bytes[offset..offset + length], part, is_changed);
            return Ok(());
        }
        let mut bytes = vec![0; self.grid.length(page)].into_boxed_slice();
        let stored = match self.pages.get(&page) {
            Some(&Page::Stored { slot, .. }) => Some(slot),
            _ => None,
        };
        match (stored, &self.sidecar) {
            (Some(slot), Some(sidecar)) => sidecar.read_slot(slot, 0, &mut bytes)?,
            _ => base.read_exact_at(&mut bytes, PageGrid::start(page))?,
        }
        // What is in the sidecar was changed before.
        let mut is_changed = stored.is_some();
        put(&mut bytes[offset..offset + length], part, &mut is_changed);
        self.pages.insert(page, Page::Resident { bytes, slot: stored, is_changed });
        self.resident += 1;
        Ok(())
    }

    /// Writes the pages that are not there yet to the sidecar, in rising order.
    pub(super) fn store(&mut self, file: &Path, base: &File) -> Result<(), JournalError> {
        self.open_sidecar(file, base)?;
        let Some(sidecar) = &mut self.sidecar else { return Ok(()) };
        for page in self.pages.values_mut() {
            if let Page::Resident { slot, .. } = page {
                slot.get_or_insert_with(|| sidecar.new_slot());
            }
        }
        let failed = JournalError::io(sidecar.path(), Action::Write);
        let mut batch = sidecar.batch();
        for page in self.pages.values() {
            if let Page::Resident { bytes, slot: Some(slot), .. } = page {
                batch.push(slot_start(*slot), bytes).map_err(&failed)?;
            }
        }
        batch.flush().map_err(failed)?;
        for page in self.pages.values_mut() {
            if let Page::Resident { bytes, slot: Some(slot), .. } = page {
                let (slot, checksum) = (*slot, checksum(bytes));
                *page = Page::Stored { slot, checksum, copy: Some(std::mem::take(bytes)) };
            }
        }
        Ok(())
    }

    /// Lets go of the copies of stored pages.
    fn free(&mut self) {
        for page in self.pages.values_mut() {
            if let Page::Stored { copy, .. } = page {
                *copy = None;
            }
        }
        self.resident = 0;
    }

    /// Forgets the pages in memory that no write has changed.
    pub(super) fn forget_unchanged(&mut self) {
        self.pages.retain(|_, page| {
            !matches!(page, Page::Resident { slot: None, is_changed: false, .. })
        });
        self.resident = self.pages.values().filter(|page| page.is_in_memory()).count();
    }

    /// Calls `visit` with each stored page and its bytes, rising.
    pub(super) fn visit(
        &self,
        mut visit: impl FnMut(u64, &[u8]) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let mut buffer = [0; PAGE_BYTES];
        for (&number, page) in &self.pages {
            let (Page::Stored { slot, checksum: expected, copy }, Some(sidecar)) =
                (page, &self.sidecar)
            else {
                continue;
            };
            if let Some(bytes) = copy {
                visit(number, bytes)?;
                continue;
            }
            let bytes = &mut buffer[..self.grid.length(number)];
            let read = sidecar.read_slot(*slot, 0, bytes).and_then(|()| {
                match checksum(bytes) == *expected {
                    true => Ok(()),
                    false => Err(io::ErrorKind::InvalidData.into()),
                }
            });
            read.map_err(JournalError::io(sidecar.path(), Action::Read))?;
            visit(number, bytes)?;
        }
        Ok(())
    }

    /// Forgets the pages from byte `end` on. The one that `end` lies in stays.
    pub(super) fn cut(&mut self, end: u64) {
        let gone = self.pages.split_off(&pages_before(end));
        self.resident -= gone.values().filter(|page| page.is_in_memory()).count();
    }

    /// The pages as the journal lists them: those that are in the sidecar.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.pages.iter().filter_map(|(&page, held)| match *held {
            Page::Stored { slot, checksum, .. } => {
                Some(Entry { page, slot, length: self.grid.length(page), checksum })
            }
            Page::Resident { .. } => None,
        })
    }
}

impl PageLayer for Pages {
    fn grid(&self) -> PageGrid {
        self.grid
    }

    fn next_page(&self, page: u64) -> Option<u64> {
        self.pages.range(page..).next().map(|(&page, _)| page)
    }

    fn read_page(&self, page: u64, offset: usize, out: &mut [u8]) -> io::Result<()> {
        match (self.pages.get(&page), &self.sidecar) {
            (Some(Page::Resident { bytes, .. }), _) => {
                let part = bytes.get(offset..).and_then(|bytes| bytes.get(..out.len()));
                out.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            (Some(Page::Stored { slot, .. }), Some(sidecar)) => {
                sidecar.read_slot(*slot, offset, out)
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Page {
    fn is_in_memory(&self) -> bool {
        !matches!(self, Self::Stored { copy: None, .. })
    }
}

/// Puts bytes in the place of others, and tells if they differ.
fn put(place: &mut [u8], bytes: &[u8], is_changed: &mut bool) {
    *is_changed = *is_changed || place != bytes;
    place.copy_from_slice(bytes);
}

/// Pages that may be in memory, at least one: the one that is written.
fn page_limit(memory_limit: usize) -> usize {
    (memory_limit / PAGE_BYTES).max(1)
}

/// What a write to the overlay gives when the sidecar fails: the code of the operating system where there is one.
fn into_io(error: JournalError) -> io::Error {
    match error {
        JournalError::Io { source, .. } if source.raw_os_error().is_some() => same_error(&source),
        error => io::Error::other(error),
    }
}
