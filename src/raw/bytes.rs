use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use h5strata_ffi::os;

use crate::atomic::{ReadView, Reader};
use crate::ondisk::{OndiskError, ReadAt};

/// Positional reads of one file, counted.
#[derive(Debug)]
pub struct FileBytes {
    source: Source,
    counted: Counted,
}

#[derive(Debug)]
enum Source {
    /// A file that stays as it is.
    Still(File),
    /// A file that somebody may commit to.
    Shared(Arc<Reader>),
}

/// Positional reads and the bytes they returned.
#[derive(Debug, Default)]
struct Counted {
    preads: AtomicU64,
    bytes: AtomicU64,
}

impl Counted {
    #[inline]
    fn add(&self, preads: u64, bytes: u64) {
        self.preads.fetch_add(preads, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
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
    /// Reads a file that nobody changes meanwhile.
    pub(crate) fn still(file: File) -> Self {
        Self::of(Source::Still(file))
    }

    /// Reads a file that somebody may commit to.
    pub(crate) fn shared(reader: Arc<Reader>) -> Self {
        Self::of(Source::Shared(reader))
    }

    fn of(source: Source) -> Self {
        Self { source, counted: Counted::default() }
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
            preads: self.counted.preads.load(Ordering::Relaxed),
            bytes: self.counted.bytes.load(Ordering::Relaxed),
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
        self.counted.add(1, count as u64);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        match &self.source {
            Source::Still(file) => file.size(),
            Source::Shared(reader) => ReadAt::size(&**reader),
        }
    }

    fn size_for(&self, end: u64) -> io::Result<u64> {
        match &self.source {
            Source::Still(file) => file.size(),
            Source::Shared(reader) => reader.size_for(end),
        }
    }
}

/// Positional reads by one thread. What threads would take from each other with every read, the counts and the lock on
/// how a file is read that somebody may commit to, it has for itself.
#[derive(Debug)]
pub(super) struct ThreadBytes<'f> {
    file: &'f FileBytes,
    view: View<'f>,
    counted: Counted,
}

#[derive(Debug)]
enum View<'f> {
    Still(&'f File),
    Shared(ReadView),
}

impl<'f> ThreadBytes<'f> {
    pub(super) fn new(file: &'f FileBytes) -> Self {
        Self { file, view: View::of(file), counted: Counted::default() }
    }

    /// Sees what has become known about the file since.
    pub(super) fn refresh(&mut self) {
        self.view = View::of(self.file);
    }
}

impl<'f> View<'f> {
    fn of(file: &'f FileBytes) -> Self {
        match &file.source {
            Source::Still(file) => Self::Still(file),
            Source::Shared(reader) => Self::Shared(reader.view()),
        }
    }
}

impl Drop for ThreadBytes<'_> {
    fn drop(&mut self) {
        let Counted { preads, bytes } = &mut self.counted;
        self.file.counted.add(*preads.get_mut(), *bytes.get_mut());
    }
}

impl ReadAt for ThreadBytes<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = match &self.view {
            View::Still(file) => file.read_at(buf, offset),
            View::Shared(view) => view.read_at(buf, offset),
        }?;
        self.counted.add(1, count as u64);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ondisk::Structure;

    #[test]
    fn what_threads_have_read_is_counted_when_they_have_ended() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &[7; 100]).unwrap();
        let file = FileBytes::still(file.into_file());
        let (one, mut other) = (ThreadBytes::new(&file), ThreadBytes::new(&file));
        let mut bytes = [0; 10];
        one.read_exact_at(&mut bytes, 0, Structure::Chunk).unwrap();
        other.refresh();
        other.read_exact_at(&mut bytes, 90, Structure::Chunk).unwrap();
        assert_eq!(bytes, [7; 10]);
        assert_eq!(file.counts().preads, 0);
        drop((one, other));
        assert_eq!(file.counts(), IoCounts { preads: 2, bytes: 20, library_reads: 0 });
    }
}
