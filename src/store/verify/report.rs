use super::finding::{Finding, Severity};

/// What a file is found to be like.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct VerifyReport {
    /// What was found: first of the versions from the oldest on, then of each `raw_data` in order of their paths.
    pub findings: Vec<Finding>,
    /// Versions that were walked through.
    pub versions: u64,
    /// Datasets, of each version its own.
    pub datasets: u64,
    /// Stored chunks, whether they were read or only their places looked at.
    pub chunks: u64,
    /// Bytes of the chunks that were read, their filters undone.
    pub bytes: u64,
}

impl VerifyReport {
    /// Whether no damage was found.
    pub fn is_sound(&self) -> bool {
        self.damage().next().is_none()
    }

    /// What is damaged.
    pub fn damage(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Damage)
    }

    /// What is only worth knowing.
    pub fn remarks(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Remark)
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity() == severity)
    }
}
