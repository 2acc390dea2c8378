//! A storage for files of the driver, and a file to put into it.

#![allow(clippy::panic, reason = "a storage may panic")]

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use h5strata_ffi::h5fd::{self, Failure, Storage};
use h5strata_ffi::id::{File, FileAccess};
use h5strata_ffi::{Error, Lock, h5a, h5d, h5g, h5p, h5s};

use super::fresh::{bytes, i32_type};

/// What a storage does instead of serving a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No space is left on the device.
    Full,
    Panic,
}

/// Bytes in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) contents: Vec<u8>,
    /// Calls so far that would change it.
    pub(crate) changes: usize,
    /// Calls so far that read it.
    pub(crate) reads: usize,
    /// The first change, from 0, that is not served, nor is any later one.
    pub(crate) bad_change: Option<(usize, Fault)>,
    /// The first read that is not served.
    pub(crate) bad_read: Option<(usize, Fault)>,
}

/// Counts a call, and tells whether it is served.
fn serve(count: &mut usize, bad: Option<(usize, Fault)>) -> io::Result<()> {
    let number = *count;
    *count += 1;
    match bad {
        Some((first, Fault::Full)) if number >= first => Err(io::ErrorKind::StorageFull.into()),
        Some((first, Fault::Panic)) if number >= first => panic!("a storage that panics"),
        _ => Ok(()),
    }
}

impl Memory {
    pub(crate) fn holding(contents: Vec<u8>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { contents, ..Self::default() }))
    }
}

impl Storage for Memory {
    fn read(&mut self, address: u64, out: &mut [u8]) -> io::Result<()> {
        serve(&mut self.reads, self.bad_read)?;
        let start = usize::try_from(address).unwrap().min(self.contents.len());
        let there = (self.contents.len() - start).min(out.len());
        out[..there].copy_from_slice(&self.contents[start..start + there]);
        out[there..].fill(0);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> io::Result<()> {
        serve(&mut self.changes, self.bad_change)?;
        let start = usize::try_from(address).unwrap();
        let end = start + bytes.len();
        if self.contents.len() < end {
            self.contents.resize(end, 0);
        }
        self.contents[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(u64::try_from(self.contents.len()).unwrap())
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        serve(&mut self.changes, self.bad_change)?;
        self.contents.resize(usize::try_from(size).unwrap(), 0);
        Ok(())
    }
}

/// The bytes of a storage that nobody panicked in.
pub(crate) fn contents(storage: &Mutex<Memory>) -> Vec<u8> {
    storage.lock().unwrap().contents.clone()
}

pub(crate) fn access(lock: &Lock) -> FileAccess {
    h5p::file_access(lock).unwrap()
}

pub(crate) fn create(lock: &Lock, storage: &Arc<Mutex<Memory>>) -> (File, Failure) {
    h5fd::create(lock, Path::new("made.h5"), &access(lock), storage.clone()).unwrap()
}

pub(crate) fn open(
    lock: &Lock,
    storage: &Arc<Mutex<Memory>>,
    write: bool,
) -> Result<(File, Failure), Error> {
    h5fd::open(lock, Path::new("made.h5"), &access(lock), storage.clone(), write)
}

/// Writes groups, a dataset in chunks with an attribute, and a virtual dataset over it.
pub(crate) fn fill(lock: &Lock, file: &File) -> Result<(), Error> {
    let integers = i32_type(lock);
    drop(h5g::create(lock, file, "a/b")?);
    let list = h5p::dataset_creation(lock)?;
    h5p::set_chunk(lock, &list, &[100])?;
    let space = h5s::growable(lock, &[1000], &[h5s::UNLIMITED])?;
    let raw = h5d::create(lock, file, "a/raw", &integers, &space, &list)?;
    h5d::write(lock, &raw, &integers, None, &bytes(&(0..1000).collect::<Vec<_>>()))?;
    h5a::write(lock, file, "a/raw", "note", &integers, Some(&[3]), &bytes(&[7, 8, 9]))?;
    virtual_of(lock, file, "v", ".", "a/raw")
}

/// A virtual dataset of 1000 integers.
pub(crate) fn virtual_of(
    lock: &Lock,
    file: &File,
    path: &str,
    source_file: &str,
    source: &str,
) -> Result<(), Error> {
    let (list, space) = (h5p::dataset_creation(lock)?, h5s::simple(lock, &[1000])?);
    h5p::set_virtual(lock, &list, &space, source_file, source, &space)?;
    drop(h5d::create(lock, file, path, &i32_type(lock), &space, &list)?);
    Ok(())
}

/// The integers of a dataset.
pub(crate) fn values(lock: &Lock, file: &File, path: &str) -> Result<Vec<i32>, Error> {
    let dataset = h5d::open(lock, file, path)?;
    let points = h5s::selected(lock, &h5d::space(lock, &dataset)?)?;
    let reader = h5d::Reader::new(lock, &dataset, i32_type(lock))?;
    let mut out = vec![0; usize::try_from(points).unwrap() * 4];
    reader.read(lock, None, &mut out)?;
    Ok(super::integers(&out))
}

/// Asserts that all is there that `fill` wrote.
pub(crate) fn check(lock: &Lock, file: &File) {
    let expected: Vec<i32> = (0..1000).collect();
    assert_eq!(values(lock, file, "a/raw").unwrap(), expected);
    assert_eq!(values(lock, file, "v").unwrap(), expected);
    drop(h5g::open(lock, file, "a/b").unwrap());
    let note = h5a::open(lock, file, "a/raw", "note").unwrap();
    assert_eq!(super::integers(&h5a::read(lock, &note).unwrap()), [7, 8, 9]);
}
