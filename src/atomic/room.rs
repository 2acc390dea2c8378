//! Blocks that the file system sets aside for a long tail before it is written.

use std::fs::File;
use std::os::fd::AsFd;

use h5strata_ffi::os;

/// Bytes of large writes from which on blocks are set aside.
const LONG: u64 = 16 << 20;

/// Bytes for which blocks are set aside at once, at most.
const MOST: u64 = 1 << 30;

/// Blocks behind the end of a file. A file system that has to find them write by write takes a third longer to write.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Bytes that were written in large writes.
    written: u64,
    /// Where the blocks end that were set aside; 0 if there are none.
    end: u64,
    /// Whether the file system has refused.
    is_refused: bool,
}

impl Room {
    /// Sees to room for a large write up to `end`: for as much again as was written, once that is much.
    pub(super) fn make(&mut self, file: &File, start: u64, end: u64) {
        self.written = self.written.saturating_add(end.saturating_sub(start));
        if self.written < LONG || end <= self.end || self.is_refused {
            return;
        }
        let start = start.max(self.end);
        let length = self.written.min(MOST);
        // Without it all goes on as it would; a lack of room shows when it is used.
        self.is_refused = os::set_aside(file.as_fd(), start, length).is_err();
        if !self.is_refused {
            self.end = start.saturating_add(length);
        }
    }

    /// Whether blocks were set aside behind `size`.
    pub(super) fn is_left(&self, size: u64) -> bool {
        self.end > size
    }
}
