use crate::snapshot::OnProgress;

/// How a file is verified.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    pub(super) quick: bool,
    pub(super) on_progress: Option<OnProgress>,
}

impl VerifyOptions {
    /// Everything is looked at.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether only structures are looked at: versions, mappings, rows of hash tables, and where chunks are stored. No
    /// chunk is read.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }

    /// Tells, while chunks are read, how far each dataset has come, all of its versions together.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.on_progress = Some(on_progress);
        self
    }
}
