//! Tests of whole commits.

mod belonging;
mod crashes;
mod failures;
mod model;
mod views;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use h5strata_ffi::h5fd::Storage;
use tempfile::TempDir;

use super::*;

/// What a reader sees of a file through its journal, if there is one.
fn seen(path: &Path, file: &File) -> Result<Option<ReadView>, JournalError> {
    read_through(path, &JournalPath::of(path).unwrap(), file)
}

/// A file of a test, in a folder of its own.
struct Scratch {
    folder: TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new(content: &[u8]) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("data.h5");
        fs::write(&path, content).unwrap();
        Self { folder, path }
    }

    fn open(&self) -> File {
        open(&self.path)
    }

    /// An overlay over all of the file.
    fn overlay(&self) -> Overlay {
        let end = fs::metadata(&self.path).unwrap().len();
        Overlay::new(self.open(), &self.path, end, Durability::Process).unwrap()
    }

    fn content(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }

    fn journal(&self) -> PathBuf {
        journal_of(&self.path)
    }

    fn recover(&self) -> Recovery {
        recover(&self.path, &self.open(), Durability::Process).unwrap()
    }

    /// Names in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".h5strata-journal");
    name.into()
}

/// Bytes without a period that pages or blocks could hide.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}

/// Commits, but for the last steps that `steps` leaves out.
fn commit(overlay: &mut Overlay, steps: usize) -> Result<(), JournalError> {
    let all = [Overlay::sync_data, Overlay::write_journal, Overlay::apply, Overlay::remove_journal];
    all.iter().take(steps).try_for_each(|step| step(overlay))
}

/// A write of a commit: where, and how many bytes.
type Write = (u64, usize);

/// A commit whose process ended before it was applied: its journal is complete, the file is the old one with a tail.
struct Interrupted {
    scratch: Scratch,
    /// The file and the journal as they were left.
    file: Vec<u8>,
    journal: Vec<u8>,
    /// What the commit leads to.
    new: Vec<u8>,
}

impl Interrupted {
    fn new(old_size: usize, writes: &[Write], new_size: usize) -> Self {
        let mut new = noise(old_size, 1);
        let scratch = Scratch::new(&new);
        let mut overlay = scratch.overlay();
        for (seed, &(address, length)) in (2..).zip(writes) {
            let bytes = noise(length, seed);
            let start = usize::try_from(address).unwrap();
            new.resize(new.len().max(start + length), 0);
            new[start..start + length].copy_from_slice(&bytes);
            overlay.write(address, &bytes).unwrap();
        }
        new.resize(new_size, 0);
        overlay.set_size(new_size as u64).unwrap();
        commit(&mut overlay, 2).unwrap();
        // As if the process had ended.
        std::mem::forget(overlay);
        let (file, journal) = (scratch.content(), fs::read(scratch.journal()).unwrap());
        Self { scratch, file, journal, new }
    }

    /// Commits that differ in what becomes of the end of the file; the old one is in the middle of a page.
    fn all() -> [Self; 4] {
        let scattered = [(100, 50), (4096, 4096), (8000, 500), (16380, 8), (28600, 72)];
        let growing = [&scattered[..], &[(28660, 3000), (90_000, 20)]].concat();
        [
            Self::new(28672 - 1, &growing, 100_000),
            Self::new(28672, &scattered, 28672),
            Self::new(28672 + 9, &growing, 13_000),
            Self::new(20_000, &[], 9_000),
        ]
    }

    /// Puts the file and the journal back, as the same files.
    fn restore(&self) {
        fs::write(&self.scratch.path, &self.file).unwrap();
        fs::write(self.scratch.journal(), &self.journal).unwrap();
    }
}
