//! The durable steps of a commit, in this order.
//!
//! | step | what holds when it has returned |
//! |---|---|
//! | [`sync_data`](Overlay::sync_data) | the tail is durable; the file is the old one |
//! | [`write_journal`](Overlay::write_journal) | from now on recovery makes the file the new one |
//! | [`apply`](Overlay::apply) | the file is the new one, and durable |
//! | [`remove_journal`](Overlay::remove_journal) | nothing is left to do |
//!
//! Readers are excluded from before `apply` until it has succeeded. [`discard`](Overlay::discard) leads back to the old file
//! from anywhere before `apply`. Where no byte below the committed end was written and it does not sink there is no
//! journal, and the steps that deal with it do nothing.

use super::batch::Target;
use super::durability::Durability;
use super::error::{Action, JournalError, same_error};
use super::identity::Identity;
use super::journal::{Header, apply_pages, write_index};
use super::overlay::Overlay;
use super::recovery::cut_tail;
use super::sidecar::{remove, sync_directory};

/// How far a commit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Writes are accepted.
    Writing,
    /// The tail is durable.
    DataSynced,
    /// The journal is complete and durable.
    Journaled,
    /// The file has been or is being changed below the committed end.
    Applying,
    /// The file is the new one.
    Applied,
    /// The journal is gone.
    Committed,
    /// What was written is given up.
    Discarded,
}

impl Overlay {
    /// Makes the tail durable (fdatasync). From here on nothing can be written.
    ///
    /// # Errors
    /// [`JournalError::Abandoned`] with the first failed write; [`JournalError::Io`];
    /// [`JournalError::OutOfOrder`].
    pub(crate) fn sync_data(&mut self) -> Result<(), JournalError> {
        self.expect_stage(&[Stage::Writing], "syncing the data")?;
        self.check_writes()?;
        let size = self.size.max(self.committed_end);
        let given_back = self.tail.give_room_back(&self.file, size);
        given_back.map_err(JournalError::io(&self.path, Action::Cut))?;
        if self.has_tail && self.is_durable() {
            self.file.sync_data().map_err(JournalError::io(&self.path, Action::Sync))?;
        }
        self.stage = Stage::DataSynced;
        Ok(())
    }

    /// Whether all writes have succeeded, those that were held back included.
    ///
    /// # Errors
    /// [`JournalError::Abandoned`] with the first failed write.
    pub(crate) fn check_writes(&mut self) -> Result<(), JournalError> {
        if self.stage == Stage::Writing {
            // A failure is kept with those of other writes.
            let _kept = self.attempt(Self::flush_tail);
        }
        match &self.failure {
            None => Ok(()),
            Some(failure) => {
                let source = same_error(failure);
                Err(JournalError::Abandoned { file: self.path.clone(), source })
            }
        }
    }

    /// Writes the journal: the pages that are not in it yet, the index, the header; syncs it and its directory. Where
    /// that fails the journal is removed.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::InTheWay`], [`JournalError::OutOfOrder`]; [`JournalError::Undecided`] where
    /// the journal could not be removed.
    pub(crate) fn write_journal(&mut self) -> Result<(), JournalError> {
        self.expect_stage(&[Stage::DataSynced], "writing the journal")?;
        self.pages.forget_unchanged();
        // Whatever becomes of it, a journal that might be complete is removed durably when it is discarded.
        self.stage = Stage::Journaled;
        if self.needs_journal()
            && let Err(error) = self.fill_journal()
        {
            return Err(match self.discard() {
                Err(JournalError::Undecided { file, journal, .. }) => {
                    JournalError::Undecided { file, journal, source: error.into() }
                }
                _ => error,
            });
        }
        Ok(())
    }

    fn fill_journal(&mut self) -> Result<(), JournalError> {
        self.pages.store(&self.path, &self.file)?;
        let pages: Vec<u64> = self.pages.entries().map(|entry| entry.page).collect();
        let (old_end, new_end) = (self.committed_end, self.size);
        let identity = Identity::of(&self.file, old_end, new_end, &pages)
            .map_err(JournalError::io(&self.path, Action::Read))?;
        let Some(sidecar) = self.pages.sidecar() else { return Ok(()) };
        let write_failed = JournalError::io(sidecar.path(), Action::Write);
        let (index_start, page_count) = (sidecar.slots_end(), pages.len() as u64);
        let index_digest = write_index(sidecar.file(), index_start, self.pages.entries())
            .map_err(&write_failed)?;
        let header = Header { old_end, new_end, page_count, index_start, index_digest, identity };
        Target::write_at(sidecar.file(), &header.encode(), 0).map_err(write_failed)?;
        if self.is_durable() {
            sidecar.file().sync_all().map_err(JournalError::io(sidecar.path(), Action::Sync))?;
            sync_directory(sidecar.path())?;
        }
        Ok(())
    }

    /// Writes the pages to the file as recovery does, and makes it durable. Where that fails the journal stays, and the
    /// step can be tried again.
    ///
    /// # Errors
    /// [`JournalError::Unfinished`]; [`JournalError::OutOfOrder`].
    pub(crate) fn apply(&mut self) -> Result<(), JournalError> {
        self.expect_stage(&[Stage::Journaled, Stage::Applying], "applying the journal")?;
        if let Some(sidecar) = self.pages.sidecar() {
            self.stage = Stage::Applying;
            self.write_pages().map_err(|source| JournalError::Unfinished {
                file: self.path.clone(),
                journal: sidecar.path().to_owned(),
                source: source.into(),
            })?;
        }
        self.stage = Stage::Applied;
        Ok(())
    }

    fn write_pages(&self) -> Result<(), JournalError> {
        let ends = (self.committed_end, self.size);
        apply_pages(&self.path, &self.file, ends, |push| self.pages.visit(push))?;
        if self.is_durable() {
            self.file.sync_data().map_err(JournalError::io(&self.path, Action::Sync))?;
        }
        Ok(())
    }

    /// Removes the journal and syncs the directory: the commit is over. Where that fails the file is the new one; a
    /// journal that stays is replayed once more by the next writer.
    ///
    /// # Errors
    /// [`JournalError::Io`]; [`JournalError::OutOfOrder`].
    pub(crate) fn remove_journal(&mut self) -> Result<(), JournalError> {
        self.expect_stage(&[Stage::Applied], "removing the journal")?;
        if let Some(sidecar) = self.pages.sidecar() {
            remove(sidecar.path())?;
            if self.is_durable() {
                sync_directory(sidecar.path())?;
            }
        }
        self.stage = Stage::Committed;
        Ok(())
    }

    /// Gives up what was written: removes the journal and cuts the tail off. Does nothing from
    /// [`apply`](Self::apply) on: by then the file may be changed, and the journal is what makes it whole.
    ///
    /// # Errors
    /// [`JournalError::Undecided`] where a complete journal could not be removed; [`JournalError::Io`], of what failed
    /// first: the rest was tried, and the next writer does what is left.
    pub(crate) fn discard(&mut self) -> Result<(), JournalError> {
        let may_be_complete = match self.stage {
            Stage::Writing | Stage::DataSynced => false,
            Stage::Journaled => true,
            Stage::Applying | Stage::Applied | Stage::Committed | Stage::Discarded => return Ok(()),
        };
        self.stage = Stage::Discarded;
        self.tail.forget();
        // The journal goes first: without its tail it leads nowhere, and one that came back after a loss of power
        // could meet the tail of a later commit.
        let removed = self.pages.sidecar().map_or(Ok(()), |sidecar| remove(sidecar.path()));
        match (removed, self.pages.sidecar()) {
            (Err(source), Some(sidecar)) if may_be_complete => Err(JournalError::Undecided {
                file: self.path.clone(),
                journal: sidecar.path().to_owned(),
                source: source.into(),
            }),
            (Ok(()), Some(sidecar)) if may_be_complete && self.is_durable() => {
                let synced = sync_directory(sidecar.path());
                self.cut_own_tail().and(synced)
            }
            (removed, _) => self.cut_own_tail().and(removed),
        }
    }

    /// As [`discard`](Self::discard), of a file that somebody else has changed: it is left as it is.
    ///
    /// # Errors
    /// As [`discard`](Self::discard).
    pub(crate) fn leave(&mut self) -> Result<(), JournalError> {
        self.has_tail = false;
        self.discard()
    }

    fn cut_own_tail(&self) -> Result<(), JournalError> {
        if self.has_tail {
            cut_tail(&self.file, self.committed_end)
                .map_err(JournalError::io(&self.path, Action::Cut))?;
        }
        Ok(())
    }

    fn needs_journal(&self) -> bool {
        !self.pages.is_empty() || self.size < self.committed_end
    }

    fn is_durable(&self) -> bool {
        self.durability == Durability::Full
    }

    fn expect_stage(&self, stages: &[Stage], step: &'static str) -> Result<(), JournalError> {
        match stages.contains(&self.stage) {
            true => Ok(()),
            false => Err(JournalError::OutOfOrder { file: self.path.clone(), step }),
        }
    }
}
