use crate::snapshot::OnProgress;
use crate::store::verify::VerifyOptions;

/// How a file is repaired.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    pub(super) accept_chunks: bool,
    pub(super) verify: VerifyOptions,
}

impl RepairOptions {
    /// Nothing is done that loses anything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether chunks are taken as they are where they do not fit the digests in their rows. Damage of their values is
    /// then not to be told from what was committed any more.
    #[must_use]
    pub fn accept_chunks(mut self, accept: bool) -> Self {
        self.accept_chunks = accept;
        self
    }

    /// Tells, while chunks are read, how far each dataset has come. They are read when the file is verified, when a hash
    /// table is made anew, and when the file is verified again.
    #[must_use]
    pub fn on_progress(mut self, on_progress: OnProgress) -> Self {
        self.verify = self.verify.on_progress(on_progress);
        self
    }
}
