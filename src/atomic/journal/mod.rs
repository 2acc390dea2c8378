//! The journal of a commit: the pages that it changes below the committed end.
//!
//! # Format, version 2
//!
//! All numbers are unsigned and little endian; digests are SHA-256 (32 bytes), checksums XXH3 of 128 bits without a seed.
//! The journal of `FILE` is `FILE.h5strata-journal`.
//!
//! ```text
//! byte 0      header, 512 bytes, written last
//! byte 512    unused
//! byte 4096   slots of 4096 bytes, each with one page or unused
//! index_start index: entries of 40 bytes, page_count of them
//!
//! header: 0 magic, 89 68 35 73 6a 0d 0a 1a   8 version u32          12 reserved u32, 0
//!        16 page size u64, 4096             24 old_end u64         32 new_end u64
//!        40 page_count u64                  48 index_start u64     56 digest of the index
//!        88 device u64                      96 inode u64          104 fingerprint of the file
//!       136 reserved, 0                    480 digest of bytes 0 to 479
//!
//! entry:  0 page u64                         8 slot u64            16 length u64
//!        24 checksum of the page
//! ```
//!
//! * `old_end` is the committed end before the commit, `new_end` the size of the file after it. What lies between,
//!   the tail, is in the file already.
//! * Page `p` stands for the bytes from `4096 p` of the file on; `length` of them, 4096 but for the page that `old_end` lies
//!   in, which ends there. Entries rise by page. Slot `s` begins at byte `4096 (s + 1)` of the journal, and ends
//!   before `index_start`, a multiple of 4096.
//! * `device`, `inode` and `fingerprint` tell the file: see `Identity`.
//! * A header of any version has 512 bytes, and its digest and version stand where they do here.
//!
//! A journal is *complete* if all of them fit: the digest of the header, that of the index that the header tells of, and the
//! checksum of each page that the index tells of. Any other is incomplete: either its commit had not begun to change the file,
//! or it was damaged later. To *apply* it is to write the pages to the file, and then to cut the file at `new_end` where that
//! is less than `old_end`.

mod header;
mod index;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::batch::{Batch, Target};
use super::durability::Durability;
use super::error::{Action, JournalError};
use super::identity::{Belonging, Identity};
use super::merge::{PageLayer, read_up_to};
use super::page::{PAGE_BYTES, PAGE_SIZE, PageGrid};
use super::sidecar::slot_start;
pub(super) use header::Header;
use header::{DecodedHeader, HEADER_SIZE};
use index::read_index;
pub(super) use index::{Entry, write_index};

/// First byte of the first slot.
pub(super) const SLOTS_START: u64 = PAGE_SIZE;

/// A SHA-256.
pub(super) type Digest = [u8; 32];

/// An XXH3 of 128 bits.
pub(super) type Checksum = [u8; 16];

/// By which a page shows that it was not written, or not wholly.
pub(super) fn checksum(page: &[u8]) -> Checksum {
    xxh3_128(page).to_le_bytes()
}

/// Slots in front of an index; 0 where it begins at no end of a slot.
fn slot_count(index_start: u64) -> u64 {
    match index_start % PAGE_SIZE {
        0 => (index_start / PAGE_SIZE).saturating_sub(1),
        _ => 0,
    }
}

/// What is found where a journal would be.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Absent,
    /// A journal that is not complete.
    Incomplete,
    /// A complete journal.
    Complete(Journal),
}

/// A complete journal. Its index is in memory, its pages are not.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    header: Header,
    /// Rising by page.
    entries: Vec<Entry>,
}

impl Journal {
    /// Looks for a journal, and checks that it is complete.
    pub(super) fn open(path: &Path) -> Result<Found, JournalError> {
        let Some(file) = open_file(path)? else { return Ok(Found::Absent) };
        let Some(header) = read_header(path, &file)? else { return Ok(Found::Incomplete) };
        let failed = JournalError::io(path, Action::Read);
        let size = file.metadata().map_err(&failed)?.len();
        let Some(entries) = read_index(&file, size, &header).map_err(&failed)? else {
            return Ok(Found::Incomplete);
        };
        let journal = Self { path: path.to_owned(), file, header, entries };
        Ok(if journal.is_whole()? { Found::Complete(journal) } else { Found::Incomplete })
    }

    /// Whether all pages have their checksums.
    fn is_whole(&self) -> Result<bool, JournalError> {
        let mut is_whole = true;
        self.visit(|_, intact, _| {
            is_whole &= intact;
            Ok(())
        })?;
        Ok(is_whole)
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of pages, and of their bytes.
    pub(super) fn extent(&self) -> (u64, u64) {
        let bytes = self.entries.iter().map(|entry| entry.length as u64).sum();
        (self.entries.len() as u64, bytes)
    }

    /// Whether the journal was written for `file`, whose path is `path`.
    pub(super) fn belonging(&self, path: &Path, file: &File) -> Result<Belonging, JournalError> {
        let failed = JournalError::io(path, Action::Read);
        let (old_end, new_end) = (self.header.old_end, self.header.new_end);
        let size = file.metadata().map_err(&failed)?.len();
        // Applying a journal that shortens the file leaves any size between the two when it is interrupted.
        if size < new_end || size > old_end.max(new_end) {
            return Ok(Belonging::Foreign);
        }
        let pages: Vec<u64> = self.entries.iter().map(|entry| entry.page).collect();
        let identity = Identity::of(file, old_end, new_end, &pages).map_err(failed)?;
        Ok(self.header.identity.belonging(&identity))
    }

    /// Applies the journal to its file, whose path is `path`, and makes that durable. Doing it again changes nothing.
    pub(super) fn replay(
        &self,
        path: &Path,
        file: &File,
        durability: Durability,
    ) -> Result<(), JournalError> {
        self.write_to(path, file)?;
        match durability {
            Durability::Full => file.sync_data().map_err(JournalError::io(path, Action::Sync)),
            Durability::Process => Ok(()),
        }
    }

    /// Writes the pages to a file, and cuts it where it becomes shorter.
    pub(super) fn write_to<T: Target>(&self, path: &Path, file: &T) -> Result<(), JournalError> {
        let Header { old_end, new_end, .. } = self.header;
        apply_pages(path, file, (old_end, new_end), |push| {
            self.visit(|entry, intact, bytes| match intact {
                true => push(entry.page, bytes),
                false => Err(JournalError::io(&self.path, Action::Read)(
                    io::ErrorKind::InvalidData.into(),
                )),
            })
        })
    }

    /// Reads all pages, rising; `visit` gets each, whether its checksum fits, and its bytes.
    fn visit(
        &self,
        mut visit: impl FnMut(&Entry, bool, &[u8]) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let mut buffer = [0; PAGE_BYTES];
        for entry in &self.entries {
            let bytes = &mut buffer[..entry.length];
            let count = read_up_to(&self.file, slot_start(entry.slot), bytes)
                .map_err(JournalError::io(&self.path, Action::Read))?;
            let intact = count == entry.length && checksum(bytes) == entry.checksum;
            visit(entry, intact, bytes)?;
        }
        Ok(())
    }
}

/// Writes pages to a file, as `pages` pushes them, rising; cuts the file where its new end is before the old one.
pub(super) fn apply_pages<T: Target>(
    path: &Path,
    file: &T,
    (old_end, new_end): (u64, u64),
    pages: impl FnOnce(
        &mut dyn FnMut(u64, &[u8]) -> Result<(), JournalError>,
    ) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    let failed = JournalError::io(path, Action::Write);
    let mut batch = Batch::new(file);
    pages(&mut |page, bytes| batch.push(PageGrid::start(page), bytes).map_err(&failed))?;
    batch.flush().map_err(failed)?;
    if new_end < old_end {
        file.cut(new_end).map_err(JournalError::io(path, Action::Cut))?;
    }
    Ok(())
}

impl PageLayer for Journal {
    fn grid(&self) -> PageGrid {
        PageGrid::new(self.header.old_end)
    }

    fn next_page(&self, page: u64) -> Option<u64> {
        let at = self.entries.partition_point(|entry| entry.page < page);
        self.entries.get(at).map(|entry| entry.page)
    }

    fn read_page(&self, page: u64, offset: usize, out: &mut [u8]) -> io::Result<()> {
        let at = self.entries.binary_search_by_key(&page, |entry| entry.page);
        let entry = at.ok().and_then(|at| self.entries.get(at)).ok_or(io::ErrorKind::NotFound)?;
        self.file.read_exact_at(out, slot_start(entry.slot).saturating_add(offset as u64))
    }
}

/// Removes what is no complete journal. Returns whether there is one that may be: one whose header is whole.
pub(super) fn remove_incomplete(path: &Path) -> Result<bool, JournalError> {
    let Some(file) = open_file(path)? else { return Ok(false) };
    if read_header(path, &file)?.is_some() {
        return Ok(true);
    }
    super::sidecar::remove(path).map(|()| false)
}

/// Opens a journal; `None` where there is no file.
fn open_file(path: &Path) -> Result<Option<File>, JournalError> {
    let failed = JournalError::io(path, Action::Open);
    let is_absent = |error: &io::Error| {
        // A name that is too long was never given to a file.
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
    };
    // Opening a pipe would wait for a writer.
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(JournalError::NotAFile { journal: path.to_owned() }),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Reads the header; `None` where it is not whole.
fn read_header(path: &Path, file: &File) -> Result<Option<Header>, JournalError> {
    let mut bytes = [0; HEADER_SIZE];
    let count = read_up_to(file, 0, &mut bytes).map_err(JournalError::io(path, Action::Read))?;
    if count < HEADER_SIZE {
        // Also where all that is missing is zeros.
        return Ok(None);
    }
    match Header::decode(&bytes) {
        DecodedHeader::Whole(header) => Ok(Some(header)),
        DecodedHeader::Version(found) => {
            Err(JournalError::Version { journal: path.to_owned(), found })
        }
        DecodedHeader::None => Ok(None),
    }
}
