//! The file beside an HDF5 file that pages and the journal are written to.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::error::{Action, JournalError};
use super::journal::{self, SLOTS_START};
use super::page::PAGE_SIZE;

const SUFFIX: &str = ".h5strata-journal";

/// Permission bits that a journal takes from its file: reading and writing.
const MODE_MASK: u32 = 0o666;

/// Where the journal of a file is: beside the file itself, whatever symbolic links lead to it. Hard links are names of
/// their own: a file that has several is to be opened by one of them.
#[derive(Clone, Debug)]
pub(crate) struct JournalPath(PathBuf);

impl JournalPath {
    /// Of a file that is there.
    ///
    /// # Errors
    /// [`JournalError::Io`] where the file's own path cannot be told.
    pub(crate) fn of(file: &Path) -> Result<Self, JournalError> {
        fs::canonicalize(file).map(Self::beside).map_err(JournalError::io(file, Action::Open))
    }

    /// Of a file by its own path: absolute, and no symbolic link in it.
    pub(super) fn beside(file: PathBuf) -> Self {
        let mut name: OsString = file.into();
        name.push(SUFFIX);
        Self(name.into())
    }

    /// Whether there is a journal, complete or not.
    pub(crate) fn exists(&self) -> bool {
        self.0.symlink_metadata().is_ok()
    }
}

impl Deref for JournalPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// First byte of a slot, which holds one page.
pub(super) fn slot_start(slot: u64) -> u64 {
    SLOTS_START.saturating_add(slot.saturating_mul(PAGE_SIZE))
}

/// Removes the journal, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), JournalError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::io(path, Action::Remove)(error))
        }
        _ => Ok(()),
    }
}

/// Makes the names in the directory of `path` durable.
pub(super) fn sync_directory(path: &Path) -> Result<(), JournalError> {
    // A path that was made absolute has a parent unless it is the root, which is no file.
    let folder = path.parent().unwrap_or(path);
    let directory = File::open(folder);
    let synced = directory.and_then(|directory| directory.sync_all());
    synced.map_err(JournalError::io(path, Action::SyncName))
}

/// A sidecar that is being written.
#[derive(Debug)]
pub(super) struct Sidecar {
    path: PathBuf,
    file: File,
    slots: u64,
}

impl Sidecar {
    /// Makes the sidecar of `file`, its own path, with the permissions of `base`, which is that file opened. An incomplete one of an
    /// earlier commit is replaced.
    pub(super) fn create(file: &Path, base: &File) -> Result<Self, JournalError> {
        let JournalPath(path) = JournalPath::beside(file.to_owned());
        if journal::remove_incomplete(&path)? {
            return Err(JournalError::InTheWay { file: file.to_owned(), journal: path });
        }
        let permissions =
            base.metadata().map_err(JournalError::io(file, Action::Open))?.permissions();
        let mode = permissions.mode() & MODE_MASK;
        let created = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            // Whoever may write the file may write the journal, and so may its maker.
            .mode(mode | 0o600)
            .open(&path)
            .map_err(JournalError::io(&path, Action::Open))?;
        let sidecar = Self { path, file: created, slots: 0 };
        let mode = Permissions::from_mode(mode | 0o600);
        if let Err(source) = sidecar.file.set_permissions(mode) {
            let action = Action::Write;
            let _left_behind = fs::remove_file(&sidecar.path);
            return Err(JournalError::Io { file: sidecar.path, action, source });
        }
        Ok(sidecar)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// A new slot.
    pub(super) fn new_slot(&mut self) -> u64 {
        self.slots += 1;
        self.slots - 1
    }

    /// The byte behind all slots.
    pub(super) fn slots_end(&self) -> u64 {
        slot_start(self.slots)
    }

    /// Writes pages to slots, neighbours in one go.
    pub(super) fn batch(&self) -> Batch<'_, File> {
        Batch::new(&self.file)
    }

    /// Fills `out` from byte `offset` of a slot on.
    pub(super) fn read_slot(&self, slot: u64, offset: usize, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, slot_start(slot).saturating_add(offset as u64))
    }
}
