use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::os;

use crate::ondisk::ReadAt;

/// Positional reads of one file, counted.
#[derive(Debug)]
pub struct FileBytes {
    file: File,
    preads: AtomicU64,
    bytes: AtomicU64,
    /// How often libhdf5 has begun or ended to change what is read here: odd while it does.
    changes: AtomicU64,
}

/// What reading has cost so far, in calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Positional reads.
    pub preads: u64,
    /// Bytes they returned.
    pub bytes: u64,
    /// Chunks and selections read through libhdf5.
    pub library_reads: u64,
}

impl FileBytes {
    /// Reads through a descriptor of the file.
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        let [preads, bytes, changes] = [(); 3].map(|()| AtomicU64::new(0));
        Self { file: File::from(descriptor), preads, bytes, changes }
    }

    /// Has `change` write to metadata that others may be reading.
    pub(crate) fn change<T>(&self, change: impl FnOnce() -> T) -> T {
        self.changes.fetch_add(1, Ordering::AcqRel);
        let outcome = change();
        self.changes.fetch_add(1, Ordering::AcqRel);
        outcome
    }

    /// What `read` finds in metadata that nobody has changed meanwhile: it is run again until that is so.
    pub(crate) fn read_whole<T>(&self, mut read: impl FnMut() -> T) -> T {
        loop {
            let before = self.changes.load(Ordering::Acquire);
            let outcome = read();
            if before.is_multiple_of(2) && self.changes.load(Ordering::Acquire) == before {
                return outcome;
            }
            std::thread::yield_now();
        }
    }

    /// The counts since the file was opened; `library_reads` are counted elsewhere.
    pub(crate) fn counts(&self) -> IoCounts {
        IoCounts {
            preads: self.preads.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            library_reads: 0,
        }
    }

    /// Whether the byte at `offset` would have to come from the medium. Where the system cannot tell, no.
    pub(crate) fn is_cold(&self, offset: u64) -> bool {
        os::is_cached(self.file.as_fd(), offset) == Some(false)
    }

    /// Advises the kernel to read a range ahead; that it does not is no error.
    pub(crate) fn read_ahead(&self, offset: u64, len: u64) {
        // Advice only: without it the read itself fetches the bytes.
        drop(os::will_need(self.file.as_fd(), offset, len));
    }
}

impl ReadAt for FileBytes {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.file.read_at(buf, offset)?;
        self.preads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}
