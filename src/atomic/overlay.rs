//! What a commit writes, over the file that it is for.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use h5strata_ffi::h5fd::Storage;

use super::commit::Stage;
use super::committed_end::HEAD;
use super::durability::Durability;
use super::error::{Action, JournalError, same_error};
use super::merge::{read_merged, read_up_to};
use super::page::{PageGrid, at_most};
use super::pages::Pages;
use super::tail::Tail;
use crate::ondisk::{ReadAt, WriteAt};

/// Bytes of pages in memory unless told otherwise.
const MEMORY_LIMIT: usize = 64 << 20;

/// Zeros that are written at once.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A file with what was written to it since its last commit.
///
/// What is written at or behind the committed end goes to the file itself, sooner or later: the tail. What is written below it goes to
/// pages of 4 KiB, in memory and, beyond a limit, in the sidecar; nothing below the committed end changes
/// in the file before [`apply`](Self::apply).
///
/// After the first write that fails, and when it was discarded, the overlay is *abandoned*: writes are accepted and dropped, since libhdf5 must
/// be able to close a file whose commit has failed; reads go on; committing gives that first error.
///
/// Dropping one that was not committed [discards](Self::discard) it. The caller holds the writer lock.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) committed_end: u64,
    pub(super) durability: Durability,
    pub(super) pages: Pages,
    /// The size as it is shown.
    ///
    /// Where it is below the committed end the file is longer, and so is the page that it lies in: what is behind the
    /// size is stale. Growing writes zeros there first.
    pub(super) size: u64,
    /// What was written at or behind the committed end and is not in the file yet.
    pub(super) tail: Tail,
    /// Whether the file was changed behind the committed end.
    pub(super) has_tail: bool,
    pub(super) failure: Option<io::Error>,
    pub(super) stage: Stage,
    /// The first bytes of the file, by which a commit of somebody else shows: its superblock.
    head: [u8; HEAD],
}

impl Overlay {
    /// An overlay without a write over `file`, open for reading and writing, whose path is `path` and which ends at
    /// byte `committed_end`.
    ///
    /// # Errors
    /// [`JournalError::Size`] for a file that ends elsewhere; [`JournalError::Io`].
    pub(crate) fn new(
        file: File,
        path: &Path,
        committed_end: u64,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        // The working directory may change before the sidecar is made.
        let path = std::fs::canonicalize(path).map_err(JournalError::io(path, Action::Open))?;
        let size = file.metadata().map_err(JournalError::io(&path, Action::Open))?.len();
        if size != committed_end {
            return Err(JournalError::Size { file: path, committed_end, size });
        }
        let mut head = [0; HEAD];
        read_up_to(&file, 0, &mut head).map_err(JournalError::io(&path, Action::Read))?;
        Ok(Self {
            file,
            path,
            committed_end,
            durability,
            pages: Pages::new(PageGrid::new(committed_end), MEMORY_LIMIT),
            size,
            tail: Tail::default(),
            has_tail: false,
            failure: None,
            stage: Stage::Writing,
            head,
        })
    }

    /// Whether nobody else has changed the file since.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub(crate) fn is_untouched(&self) -> io::Result<bool> {
        let mut head = [0; HEAD];
        read_up_to(&self.file, 0, &mut head)?;
        let size = self.file.metadata()?.len();
        Ok(head == self.head && size == self.size.max(self.committed_end))
    }

    /// Sets how many bytes of pages are held in memory before they go to the sidecar; one page is held at least.
    #[cfg(test)]
    pub(crate) fn set_memory_limit(&mut self, bytes: usize) {
        self.pages.set_memory_limit(bytes);
    }

    /// The first write that failed: from then on all are dropped.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Does a write, or drops it; remembers the first that fails.
    pub(super) fn attempt(
        &mut self,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.stage {
            Stage::Discarded => return Ok(()),
            _ if self.failure.is_some() => return Ok(()),
            Stage::Writing => {}
            _ => return Err(io::Error::other("a write to a file that is being committed")),
        }
        write(self).inspect_err(|error| self.failure = Some(same_error(error)))
    }

    fn write_both(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        let end = address.checked_add(bytes.len() as u64).filter(|&end| i64::try_from(end).is_ok());
        let end = end.ok_or(io::ErrorKind::FileTooLarge)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.zero_until(address)?;
        let below = at_most(self.committed_end.saturating_sub(address), bytes.len());
        let (head, tail) = bytes.split_at(below);
        self.pages.write(&self.path, &self.file, address, head)?;
        if !tail.is_empty() {
            self.has_tail = true;
            self.tail.write(&self.file, tail, address.saturating_add(below as u64))?;
        }
        self.size = self.size.max(end);
        Ok(())
    }

    /// Writes zeros from the size on up to `address`, as far as that lies below the committed end.
    fn zero_until(&mut self, address: u64) -> io::Result<()> {
        let end = address.min(self.committed_end);
        while self.size < end {
            let length = at_most(end - self.size, ZEROS.len());
            self.pages.write(&self.path, &self.file, self.size, &ZEROS[..length])?;
            self.size += length as u64;
        }
        Ok(())
    }

    fn resize(&mut self, size: u64) -> io::Result<()> {
        self.flush_tail()?;
        self.zero_until(size)?;
        let (file_size, new_file_size) =
            (self.size.max(self.committed_end), size.max(self.committed_end));
        if new_file_size != file_size {
            self.has_tail = true;
            self.file.set_len(new_file_size)?;
        }
        self.pages.cut(size);
        self.size = size;
        Ok(())
    }

    pub(super) fn flush_tail(&mut self) -> io::Result<()> {
        self.tail.flush(&self.file)
    }
}

impl Storage for Overlay {
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()> {
        self.read_at(out, address).map(|_| ())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.attempt(|overlay| overlay.write_both(address, bytes))
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.attempt(|overlay| overlay.resize(size))
    }
}

impl ReadAt for Overlay {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let inside = read_merged(&self.file, &self.pages, self.size, offset, buf)?;
        self.tail.lay_over(offset, &mut buf[..inside]);
        Ok(inside)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

impl WriteAt for Overlay {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        Storage::write(self, offset, bytes)
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        // Whoever wants to know calls it before; the next writer cuts what is left, and removes it.
        let _left_behind = self.discard();
    }
}
