use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::os;

use crate::atomic::Reader;
use crate::ondisk::{OndiskError, ReadAt};

/// Positional reads of one file, counted.
#[derive(Debug)]
pub struct FileBytes {
    source: Source,
    preads: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Debug)]
enum Source {
    /// A file that stays as it is.
    Still(File),
    /// A file that somebody may commit to.
    Shared(Arc<Reader>),
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
    /// Reads through a descriptor of a file that nobody changes meanwhile.
    pub(crate) fn still(descriptor: OwnedFd) -> Self {
        Self::of(Source::Still(File::from(descriptor)))
    }

    /// Reads a file that somebody may commit to.
    pub(crate) fn shared(reader: Arc<Reader>) -> Self {
        Self::of(Source::Shared(reader))
    }

    fn of(source: Source) -> Self {
        Self { source, preads: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// What `read` finds in metadata that nobody has changed meanwhile: nobody commits while it runs.
    pub(crate) fn read_whole<T, E: From<OndiskError>>(
        &self,
        mut read: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.source {
            Source::Still(_) => read(),
            Source::Shared(reader) => {
                reader.read_whole(read).map_err(|source| OndiskError::Entry { source })?
            }
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
        os::is_cached(self.descriptor(), offset) == Some(false)
    }

    /// Advises the kernel to read a range ahead; that it does not is no error.
    pub(crate) fn read_ahead(&self, offset: u64, len: u64) {
        // Advice only: without it the read itself fetches the bytes.
        drop(os::will_need(self.descriptor(), offset, len));
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.source {
            Source::Still(file) => file.as_fd(),
            Source::Shared(reader) => reader.descriptor(),
        }
    }
}

impl ReadAt for FileBytes {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = match &self.source {
            Source::Still(file) => file.read_at(buf, offset),
            Source::Shared(reader) => reader.read_at(buf, offset),
        }?;
        self.preads.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        match &self.source {
            Source::Still(file) => file.size(),
            Source::Shared(reader) => ReadAt::size(&**reader),
        }
    }
}
