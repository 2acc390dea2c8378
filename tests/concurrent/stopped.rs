//! Writers that are killed at a moment that can be told from outside: the journal is complete, and nothing of it is in
//! the file yet, as a reader has the file open.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use h5strata::VersionedFile;
use h5strata::atomic::{LockError, LockPolicy, ReaderGate};

use crate::process::Process;
use crate::{LIMIT, Scratch, roles};

/// A file with a complete journal beside it, and a tail behind its end.
pub(crate) struct Stopped {
    pub(crate) scratch: Scratch,
    /// Number of versions in the file without its journal.
    pub(crate) count: u64,
    /// All bytes of the file before the commit.
    pub(crate) old: Vec<u8>,
    /// A handle from before the commit.
    pub(crate) reader: VersionedFile,
}

impl Stopped {
    /// Kills a process that makes version `rCOUNT`.
    pub(crate) fn new(count: u64) -> Self {
        let scratch = Scratch::with_versions(count);
        let old = scratch.bytes();
        let kept = VersionedFile::open(&scratch.path).unwrap();
        let mut reader = Process::holding(&scratch.path, "r", LIMIT);
        assert_eq!(reader.says(), "open");
        let mut writer = roles::start("committing", &scratch.path, count);
        wait_for_wait(&scratch, &mut writer);
        writer.kill();
        reader.kill();
        assert!(scratch.journal().exists() && scratch.bytes().starts_with(&old));
        Self { scratch, count, old, reader: kept }
    }

    /// Copies the file and its journal to another folder. Then they are not what they were written as.
    pub(crate) fn copied(&self) -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.h5");
        std::fs::copy(&self.scratch.path, &path).unwrap();
        std::fs::copy(self.scratch.journal(), crate::journal_of(&path)).unwrap();
        Scratch { folder, path }
    }
}

/// Waits until a writer waits for readers, with a complete journal.
pub(crate) fn wait_for_wait(scratch: &Scratch, writer: &mut Process) {
    let end = Instant::now() + LIMIT;
    while !is_waited_for(scratch) {
        assert!(Instant::now() < end, "{}", writer.kill());
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a writer waits for readers to go: then those of h5strata wait for it.
fn is_waited_for(scratch: &Scratch) -> bool {
    let file = File::open(&scratch.path).unwrap();
    let gate = ReaderGate::new(&file, &scratch.path, LockPolicy::Required, Duration::ZERO).unwrap();
    matches!(gate.enter(), Err(LockError::Busy { .. }))
}
