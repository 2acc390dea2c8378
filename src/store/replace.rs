//! Files that are made beside the one whose place they take, or beside their name to be.
//!
//! ```text
//! .prices.h5.h5strata-new-XXXXXX   made, locked ── whole, synced ──┐
//! prices.h5                        the old file, locked ───────────┴─ rename ─► the new one ── folder synced
//! ```
//!
//! Whatever stops the process, the name leads to the old file or to the new one. Who has the old file open reads on in
//! it: its bytes are given back when the last of them has closed it. The new file is locked before it gets the name, so
//! that nobody else becomes its writer in between. What a stopped process has left beside the file is removed by the
//! next one that makes a new file there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;

use super::error::Error;
use super::file::VersionedFile;
use super::open::{OpenOptions, io_error};
use super::recovery::{MOST_TRIES, folder_of, name_anew};
use super::writer::{CommitOptions, Writer};
use crate::atomic::{Durability, JournalPath, LockError, LockPolicy, Overlay, WriterLock};

/// What the names of such files have between the name to be and some random characters.
const MARK: &[u8] = b".h5strata-new-";

/// Bytes of the name to be that are taken: names have at most 255.
const MOST_OF_NAME: usize = 200;

/// Permission bits of a new file that replaces none, as far as the process's mask lets it have them.
const NEW_MODE: u32 = 0o666;

/// A file that has no name of its own yet. It is removed if it is dropped before it gets one.
#[derive(Debug)]
pub(super) struct NewFile {
    /// Its name to be, as errors call it.
    name: PathBuf,
    /// The same without symbolic links.
    place: PathBuf,
    made: TempPath,
    file: File,
    lock: WriterLock,
    durability: Durability,
}

/// A file that has got its name.
#[derive(Debug)]
pub(super) struct Placed {
    name: PathBuf,
    place: PathBuf,
    file: File,
    lock: WriterLock,
    durability: Durability,
}

impl NewFile {
    /// A file that is to take the place of the one at `path`, open as `old`, with its permissions and, where that is
    /// allowed, its owner.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Lock`].
    pub(super) fn in_place_of(
        path: &Path,
        old: &File,
        durability: Durability,
    ) -> Result<Self, Error> {
        let io = |source| io_error(path, source);
        let place = fs::canonicalize(path).map_err(io)?;
        let metadata = old.metadata().map_err(io)?;
        let new = Self::beside(path, place, 0o600, durability)?;
        // Who may not give files away keeps the group at least, if he is in it.
        let group = Some(metadata.gid());
        if fchown(&new.file, Some(metadata.uid()), group).is_err() {
            drop(fchown(&new.file, None, group));
        }
        new.file.set_permissions(metadata.permissions()).map_err(io)?;
        Ok(new)
    }

    /// A file that is to be called `path`, where nothing is or something that it replaces.
    ///
    /// # Errors
    /// As [`in_place_of`](Self::in_place_of).
    pub(super) fn named(path: &Path, durability: Durability) -> Result<Self, Error> {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self::beside(path, place, NEW_MODE, durability)
    }

    fn beside(
        name: &Path,
        place: PathBuf,
        mode: u32,
        durability: Durability,
    ) -> Result<Self, Error> {
        let io = |source| io_error(name, source);
        let policy = LockPolicy::from_environment();
        let (folder, prefix) = (folder_of(&place), prefix_of(&place));
        remove_leftovers(folder, &prefix, policy);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).permissions(fs::Permissions::from_mode(mode));
        for _ in 0..MOST_TRIES {
            let (file, made) = builder.tempfile_in(folder).map_err(io)?.into_parts();
            match WriterLock::acquire(&file, name, policy) {
                // Who looks for leftovers may have taken it for one before it was locked.
                Ok(lock) if is_at(&file, &made).map_err(io)? => {
                    let name = name.to_owned();
                    return Ok(Self { name, place, made, file, lock, durability });
                }
                Ok(_) | Err(LockError::Writer { .. } | LockError::Busy { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(LockError::Changed { file: name.to_owned() }.into())
    }

    /// Where it is for the time being.
    pub(super) fn path(&self) -> &Path {
        &self.made
    }

    /// Its name to be, as errors call it.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// The file, in which nothing is yet, to be written: all of it goes straight to the file, as nobody else looks at it.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Journal`].
    pub(super) fn overlay(&self) -> Result<Overlay, Error> {
        let file = self.file.try_clone().map_err(|source| io_error(&self.name, source))?;
        // Synced at the end, together with the size.
        Ok(Overlay::new(file, &self.made, 0, Durability::Process)?)
    }

    /// Makes what is written durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn sync(&self) -> Result<(), Error> {
        match self.durability {
            Durability::Full => self.file.sync_all().map_err(|source| io_error(&self.name, source)),
            Durability::Process => Ok(()),
        }
    }

    /// Makes the file durable and puts it in the place of the one that is there.
    ///
    /// # Errors
    /// [`Error::Io`]: the old file is there as before.
    pub(super) fn take_place(self) -> Result<Placed, Error> {
        self.give_name(|made, place| fs::rename(made, place))
    }

    /// Makes the file durable and gives it a name that nothing has.
    ///
    /// # Errors
    /// [`Error::Io`], of the kind [`io::ErrorKind::AlreadyExists`] if something has the name.
    pub(super) fn take_new_place(self) -> Result<Placed, Error> {
        self.give_name(name_anew)
    }

    fn give_name(self, give: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<Placed, Error> {
        self.sync()?;
        let Self { name, place, made, file, lock, durability } = self;
        let io = |source| io_error(&name, source);
        give(&made, &place).map_err(io)?;
        // Its other name is gone, unless the file has both, and then it goes now.
        drop(made);
        Ok(Placed { name, place, file, lock, durability })
    }
}

impl Placed {
    /// Makes the name durable.
    ///
    /// # Errors
    /// [`Error::Io`]: the file has its name all the same.
    pub(super) fn sync_name(&self) -> Result<(), Error> {
        if self.durability != Durability::Full {
            return Ok(());
        }
        let synced = File::open(folder_of(&self.place)).and_then(|folder| folder.sync_all());
        synced.map_err(|source| {
            let told = format!("the new file is made, but its folder cannot be synced: {source}");
            io_error(&self.name, io::Error::new(source.kind(), told))
        })
    }

    /// Opens the file as its one writer.
    fn open(self, options: &OpenOptions, commits: CommitOptions) -> Result<VersionedFile, Error> {
        let Self { name, file, lock, .. } = self;
        let journal = JournalPath::of(&name)?;
        let reading = File::open(&name).map_err(|source| io_error(&name, source))?;
        options.opened(&name, journal, reading, Some(Writer::new(file, lock, commits)))
    }
}

impl VersionedFile {
    /// Has `make` make a file that takes the place of this one, and shows it from then on. Clones of the handle go on
    /// showing the old one, and refuse to write: [`Error::Replaced`]. If `make` fails everything is as it was.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::StageOpen`], [`Error::Replaced`], [`Error::Broken`]; [`Error::Lock`] also when the
    /// path leads to another file by now; [`Error::Io`]; else those of `make`.
    pub(super) fn replace<T>(
        &mut self,
        make: impl FnOnce(&Self, &NewFile) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _guard = self.begin_stage()?;
        let inner = Arc::clone(&self.inner);
        let writer = inner.writer()?;
        let (outcome, placed) = {
            let held = writer.held();
            held.lock.ensure_held()?;
            let new = NewFile::in_place_of(&inner.path, &held.file, writer.options.durability)?;
            let outcome = make(self, &new)?;
            if !is_at(&held.file, &new.place).map_err(|source| io_error(&inner.path, source))? {
                return Err(LockError::Changed { file: inner.path.clone() }.into());
            }
            (outcome, new.take_place()?)
        };
        writer.set_replaced();
        let synced = placed.sync_name();
        *self = placed.open(&inner.options, writer.options)?;
        synced.map(|()| outcome)
    }
}

/// Whether a path leads to an open file.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the names of the files begin with that are to take a place.
fn prefix_of(place: &Path) -> OsString {
    let name = place.file_name().unwrap_or(OsStr::new("")).as_bytes();
    let name = name.get(..MOST_OF_NAME).unwrap_or(name);
    OsString::from_vec([b".", name, MARK].concat())
}

/// Removes what stopped processes have left. That it cannot be removed is no error: it is in nobody's way.
fn remove_leftovers(folder: &Path, prefix: &OsStr, policy: LockPolicy) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()))
    {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let opened = is_file.then(|| File::options().read(true).write(true).open(&path));
        let Some(Ok(file)) = opened else { continue };
        // Whoever makes it has it locked.
        let lock = WriterLock::acquire(&file, &path, policy);
        if lock.is_ok_and(|lock| lock.is_exclusive() || policy == LockPolicy::Off) {
            drop(fs::remove_file(&path));
        }
    }
}
