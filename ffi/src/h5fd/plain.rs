//! Files that libhdf5 opens by itself: sources of virtual datasets in other files, targets of external links.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::Storage;

/// A file of the file system, read and written as it stands.
pub(super) struct Plain(File);

impl Plain {
    /// Opens it as HDF5's own driver does, with the lock that keeps writers, or everybody, out (`H5FD__sec2_lock`).
    pub(super) fn open(path: &Path, write: bool) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(write).open(path)?;
        if !matches!(std::env::var("HDF5_USE_FILE_LOCKING").as_deref(), Ok("FALSE" | "0")) {
            match if write { file.try_lock() } else { file.try_lock_shared() } {
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
                // A file system without locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
        }
        Ok(Self(file))
    }

    /// Another descriptor of the open file.
    pub(super) fn descriptor(&self) -> io::Result<File> {
        self.0.try_clone()
    }
}

impl Storage for Plain {
    fn read(&mut self, mut address: u64, mut out: &mut [u8]) -> io::Result<()> {
        while !out.is_empty() {
            match self.0.read_at(out, address) {
                Ok(0) => {
                    out.fill(0);
                    break;
                }
                Ok(count) => {
                    out = &mut out[count..];
                    address = address.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, address)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.0.set_len(size)
    }
}
