//! What stands between libhdf5 and a storage: checks, and what becomes of failures.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::class::H5FD_t;
use super::{Failure, Storage, heaps};

/// The highest address behind a byte: what a file of a signed 64-bit offset can have.
pub(super) const MAX_ADDRESS: u64 = i64::MAX.unsigned_abs();

/// The storage did not do what libhdf5 asked for.
pub(super) struct Refused;

/// Who hears of failures.
pub(super) enum Told {
    /// The opener of the file. libhdf5 hears of failed reads alone, see [`OpenFile::change`].
    Opener(Failure),
    /// libhdf5, which opened the file by itself.
    Library,
}

/// A file of the driver that is open in libhdf5.
#[repr(C)]
pub(super) struct OpenFile {
    /// The part that libhdf5 knows. It comes first: a pointer to the whole is a pointer to it.
    library: H5FD_t,
    /// No other file has it.
    number: u64,
    /// End of the addresses that libhdf5 has given out.
    pub(super) end_of_allocation: u64,
    storage: Arc<Mutex<dyn Storage>>,
    write: bool,
    /// Whether its global heaps were made by libhdf5, which may not have written a superblock yet to check them by.
    is_new: bool,
    told: Told,
    /// A change was lost, so the storage gets no more of them.
    abandoned: bool,
}

impl OpenFile {
    pub(super) fn new(
        storage: Arc<Mutex<dyn Storage>>,
        write: bool,
        is_new: bool,
        told: Told,
    ) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            library: H5FD_t::blank(),
            number: LAST.fetch_add(1, Ordering::Relaxed),
            end_of_allocation: 0,
            storage,
            write,
            is_new,
            told,
            abandoned: false,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads bytes from `address` on.
    pub(super) fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), Refused> {
        let read = check_range(address, out.len()).and_then(|()| {
            self.call(|storage| {
                storage.read(address, out)?;
                if self.is_new { Ok(()) } else { heaps::check(storage, address, out) }
            })
        });
        self.tell("read", read)
    }

    /// Writes bytes from `address` on.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.change("write", |file| {
            check_range(address, bytes.len())?;
            file.call(|storage| storage.write(address, bytes))
        })
    }

    /// Makes the storage end where the addresses end that libhdf5 has given out.
    pub(super) fn truncate(&mut self) -> Result<(), Refused> {
        if !self.write {
            return Ok(());
        }
        self.change("set_size", |file| {
            let end = file.end_of_allocation;
            file.call(|storage| if storage.size()? == end { Ok(()) } else { storage.set_size(end) })
        })
    }

    /// Bytes of the storage.
    pub(super) fn size(&self) -> Result<u64, Refused> {
        self.tell("size", self.call(|storage| storage.size()))
    }

    /// Changes the storage, unless an earlier change was lost.
    ///
    /// libhdf5 does not survive all failures to write: when `H5Fclose` cannot flush, parts of the file are freed and its
    /// id stays, to be closed once more when the process ends, which crashes HDF5 1.10.8 even if no other write fails.
    /// So where an opener listens, a lost change is kept for it, and libhdf5 goes on as if all were well.
    fn change(
        &mut self,
        call: &'static str,
        run: impl FnOnce(&Self) -> io::Result<()>,
    ) -> Result<(), Refused> {
        if !self.write {
            return self.tell(call, Err(io::ErrorKind::ReadOnlyFilesystem.into()));
        }
        if self.abandoned {
            // Told again if somebody has taken the first failure and gone on.
            let before = Err(io::Error::other("an earlier change was lost"));
            return self.tell(call, before).or(Ok(()));
        }
        let outcome = self.tell(call, run(self));
        match &self.told {
            Told::Opener(_) => {
                self.abandoned = outcome.is_err();
                Ok(())
            }
            Told::Library => outcome,
        }
    }

    /// Calls the storage; a panic in it is an error as others are.
    fn call<T>(&self, run: impl FnOnce(&mut dyn Storage) -> io::Result<T>) -> io::Result<T> {
        let called = catch_unwind(AssertUnwindSafe(|| {
            let mut storage =
                self.storage.lock().map_err(|_| io::Error::other("the storage had panicked"))?;
            run(&mut *storage)
        }));
        called.unwrap_or_else(|_| Err(io::Error::other("the storage panicked")))
    }

    fn tell<T>(&self, call: &'static str, outcome: io::Result<T>) -> Result<T, Refused> {
        outcome.map_err(|error| {
            if let Told::Opener(failure) = &self.told {
                failure.keep(call, error);
            }
            Refused
        })
    }
}

/// Whether a file can have these bytes.
fn check_range(address: u64, bytes: usize) -> io::Result<()> {
    let end = u64::try_from(bytes).ok().and_then(|bytes| address.checked_add(bytes));
    if end.is_some_and(|end| end <= MAX_ADDRESS) {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "an address that no file has"))
    }
}
