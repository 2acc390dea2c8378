//! Files without what nothing in them needs.

use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use super::file::VersionedFile;
use super::open::{check_absent, io_error};
use super::rebuild::{Plan, RebuildReport, rebuild};
use super::recovery::{open_to_write, recover_with};
use super::replace::NewFile;
use super::rewrite::{Carriers, RewriteOptions};
use crate::atomic::{Durability, JournalPath, ReaderGate};
use crate::snapshot::OnProgress;

/// How a file is repacked.
#[derive(Clone, Debug, Default)]
pub struct RepackOptions {
    overwrite: bool,
    durability: Durability,
    settings: Option<RewriteOptions>,
    on_progress: Option<OnProgress>,
}

impl RepackOptions {
    /// The defaults: a file that is there already is an error, and the new one is durable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a file that is there already is replaced.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// What a file under another name survives. In place it is what commits survive
    /// ([`OpenOptions::durability`](super::OpenOptions::durability)).
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Gives all datasets other settings on the way, as [`VersionedFile::rewrite_all`] does it.
    #[must_use]
    pub fn settings(mut self, settings: RewriteOptions) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Is told how far each dataset has come.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}

impl VersionedFile {
    /// Writes the file anew at `out`, without what no version needs: chunks that none of them has, versions whose commit
    /// has not ended, and space that was freed. Chunks are copied as they are stored, those of each dataset in the order
    /// in which the current version reads them. What lies beside the versions is copied too.
    ///
    /// The file is written beside `out` under another name, read and compared with this one, and gets its own name then.
    ///
    /// ```no_run
    /// use h5strata::{RepackOptions, VersionedFile};
    /// let report = VersionedFile::open("prices.h5")?.repack("small.h5", &RepackOptions::new())?;
    /// println!("{} of {} bytes", report.new_bytes, report.old_bytes);
    /// # Ok::<(), h5strata::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if there is a file already, or it cannot be made; [`Error::Lock`] while somebody writes to the file
    /// that is to be replaced; [`Error::DataVersion`] for files of old formats; [`Error::NotCarried`] if something in the
    /// file cannot be copied, as references to objects cannot; [`Error::Differs`]; [`Error::Format`], [`Error::Dataset`]
    /// and others where the file is damaged.
    pub fn repack(
        &self,
        out: impl AsRef<Path>,
        options: &RepackOptions,
    ) -> Result<RebuildReport, Error> {
        let out = out.as_ref();
        let absent = check_absent(out);
        let replaced = match absent {
            Err(error)
                if error.kind() == std::io::ErrorKind::AlreadyExists && options.overwrite =>
            {
                // Nobody writes to it from now on, and nothing of it is left to finish.
                let (old, mut lock) = open_to_write(out)?;
                let journal = JournalPath::of(out)?;
                recover_with(out, &journal, &old, &mut lock, ReaderGate::PATIENCE, false)?;
                Some(lock)
            }
            absent => absent.map(|()| None).map_err(|source| io_error(out, source))?,
        };
        let new = NewFile::named(out, options.durability)?;
        let file = Self { inner: Arc::new(self.inner.anew()) };
        let report = file.copy_all(&new, options)?;
        let placed = if replaced.is_some() { new.take_place()? } else { new.take_new_place()? };
        placed.sync_name()?;
        Ok(report)
    }

    /// As [`repack`](Self::repack), to the place of this file, all of it or nothing. Who has it open reads on in the old
    /// one; clones of this handle take no more commits then: [`Error::Replaced`].
    ///
    /// # Errors
    /// As [`repack`](Self::repack); [`Error::ReadOnly`], [`Error::StageOpen`], [`Error::Broken`], [`Error::Replaced`].
    pub fn repack_in_place(&mut self, options: &RepackOptions) -> Result<RebuildReport, Error> {
        self.replace(|file, new| file.copy_all(new, options))
    }

    fn copy_all(&self, new: &NewFile, options: &RepackOptions) -> Result<RebuildReport, Error> {
        let survivors = {
            // Both, the history and the current version, as of one moment.
            let _entered = self.inner.enter()?;
            self.survivors(&[].into())?
        };
        let carriers = match &options.settings {
            Some(settings) => self.carriers(settings)?,
            None => Carriers::default(),
        };
        let (carrier, on_progress) = (|path: &str| carriers.of(path), options.on_progress.as_ref());
        rebuild(self, new, &Plan { survivors: &survivors, carrier: &carrier, on_progress })
    }
}
