//! Which file a journal was written for.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use sha2::{Digest as _, Sha256};

use super::journal::Digest;
use super::merge::{pages_before, read_or_zero};
use super::page::{PAGE_BYTES, PageGrid, at_most};

/// Bytes at the end of the tail that the fingerprint covers.
const TAIL_SIZE: usize = 4 << 10;

/// Pages below the committed end that the fingerprint covers.
const SAMPLES: u64 = 4;

/// Whose a journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Belonging {
    /// It was written for this file.
    Own,
    /// It fits the content of this file, and was written for one at another place: both were copied or restored together.
    Moved,
    /// It was written for a file of other content.
    Foreign,
}

/// What a journal knows its file by.
///
/// The *fingerprint* is the SHA-256 of what applying the journal does not change: the old and the new end (u64 each);
/// up to 4 KiB at the end of the tail; of the pages that lie below both ends and are not in the journal up to 4,
/// evenly spread, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Number of the device that the file is on (`st_dev`).
    pub(super) device: u64,
    /// Number of the file on it (`st_ino`).
    pub(super) inode: u64,
    /// Fingerprint of the content.
    pub(super) fingerprint: Digest,
}

impl Identity {
    /// The identity of a file; `pages` are those of the journal, rising.
    pub(super) fn of(file: &File, old_end: u64, new_end: u64, pages: &[u64]) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            fingerprint: fingerprint(file, old_end, new_end, pages)?,
        })
    }

    /// Whose the journal with this identity is, for the file of identity `file`.
    pub(super) fn belonging(&self, file: &Self) -> Belonging {
        match self.fingerprint == file.fingerprint {
            true if self == file => Belonging::Own,
            true => Belonging::Moved,
            false => Belonging::Foreign,
        }
    }
}

fn fingerprint(file: &File, old_end: u64, new_end: u64, pages: &[u64]) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    hash.update(old_end.to_le_bytes());
    hash.update(new_end.to_le_bytes());
    let mut tail = vec![0; at_most(new_end.saturating_sub(old_end), TAIL_SIZE)];
    read_or_zero(file, new_end.saturating_sub(tail.len() as u64), &mut tail)?;
    hash.update(&tail);
    let lasting = PageGrid::new(old_end.min(new_end));
    let mut buffer = [0; PAGE_BYTES];
    for page in samples(pages_before(lasting.end()), pages) {
        let bytes = &mut buffer[..lasting.length(page)];
        read_or_zero(file, PageGrid::start(page), bytes)?;
        hash.update(&*bytes);
    }
    Ok(hash.finalize().into())
}

/// Up to 4 of the pages below `page_count` that are not in `excluded`, evenly spread. Both rise.
fn samples(page_count: u64, excluded: &[u64]) -> Vec<u64> {
    let inside = excluded.partition_point(|&page| page < page_count);
    let excluded = &excluded[..inside];
    let candidates = page_count.saturating_sub(inside as u64);
    let count = candidates.min(SAMPLES);
    let mut skipped = excluded.iter().peekable();
    let mut skipped_count = 0;
    let nth = |i: u64| candidates / count * i + candidates % count * i / count;
    (0..count)
        .map(|i| {
            // The page with that many candidates in front of it.
            let mut page = nth(i) + skipped_count;
            while skipped.next_if(|&&excluded| excluded <= page).is_some() {
                skipped_count += 1;
                page += 1;
            }
            page
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_pages_that_are_not_excluded_evenly_spread() {
        assert_eq!(samples(0, &[]), [0; 0]);
        assert_eq!(samples(3, &[]), [0, 1, 2]);
        assert_eq!(samples(5, &[0, 2, 4]), [1, 3]);
        assert_eq!(samples(2, &[0, 1, 7]), [0; 0]);
        assert_eq!(samples(160, &[]), [0, 40, 80, 120]);
        assert_eq!(samples(162, &[0, 11]), [1, 42, 82, 122]);
        let most = u64::MAX / 4096 + 1;
        assert!(samples(most, &[0]).is_sorted() && samples(most, &[0]).len() == 4);
    }
}
