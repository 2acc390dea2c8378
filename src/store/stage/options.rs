use chrono::{DateTime, Utc};

use super::super::error::Error;
use super::super::file::VersionedFile;
use super::super::version::Version;
use super::Stage;
use crate::snapshot::OnProgress;

/// How a version is made: its parent, its time, and whether it becomes the current one.
///
/// ```no_run
/// use h5strata::{StageOptions, VersionedFile};
/// let mut file = VersionedFile::open_rw("prices.h5")?;
/// let stage = StageOptions::new().parent("r3").make_current(false).stage(&mut file, "r3-fixed")?;
/// # Ok::<(), h5strata::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StageOptions {
    parent: Parent,
    pub(super) timestamp: Option<DateTime<Utc>>,
    pub(super) make_current: bool,
    pub(super) verify: bool,
    pub(super) on_progress: Option<OnProgress>,
}

#[derive(Clone, Debug)]
enum Parent {
    Current,
    Named(String),
    Nobody,
}

impl Default for StageOptions {
    fn default() -> Self {
        Self {
            parent: Parent::Current,
            timestamp: None,
            make_current: true,
            verify: false,
            on_progress: None,
        }
    }
}

impl StageOptions {
    /// A child of the current version that becomes current, of the time of its commit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes another version than the current one as the parent.
    #[must_use]
    pub fn parent(mut self, name: impl Into<String>) -> Self {
        self.parent = Parent::Named(name.into());
        self
    }

    /// Starts from nothing.
    #[must_use]
    pub fn no_parent(mut self) -> Self {
        self.parent = Parent::Nobody;
        self
    }

    /// The version's time, which else is that of the commit. Files keep microseconds.
    #[must_use]
    pub fn timestamp(mut self, time: DateTime<Utc>) -> Self {
        self.timestamp = Some(time);
        self
    }

    /// Whether the version becomes the current one.
    #[must_use]
    pub fn make_current(mut self, make_current: bool) -> Self {
        self.make_current = make_current;
        self
    }

    /// Whether a stored chunk is compared byte for byte before it is used again for one of the same digest. One that
    /// differs is reported, and the new chunk is stored.
    #[must_use]
    pub fn verify_reused(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Tells, while the commit stores chunks, how far each dataset has come: chunk by chunk, of those that were changed.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }

    /// Begins the version `name`.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::StageOpen`], [`Error::Stage`] if the name is taken or none,
    /// [`Error::UnknownVersion`] of the parent.
    pub fn stage<'f>(&self, file: &'f mut VersionedFile, name: &str) -> Result<Stage<'f>, Error> {
        Stage::open(file, name, self)
    }

    pub(super) fn parent_of(&self, file: &VersionedFile) -> Result<Option<Version>, Error> {
        match &self.parent {
            Parent::Nobody => Ok(None),
            Parent::Named(name) => file.version(name).map(Some),
            Parent::Current => match file.current() {
                Ok(version) => Ok(Some(version)),
                Err(Error::NoVersions { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}
