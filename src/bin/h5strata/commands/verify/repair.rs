//! A repair as a JSON object.

use h5strata::store::Repair;
use serde::Serialize;

/// What is known of a repair. What it has not is left out.
#[derive(Debug, Default, Serialize)]
pub(super) struct RepairRow<'r> {
    kind: &'static str,
    /// The repair in one line.
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_data: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl<'r> RepairRow<'r> {
    pub(super) fn of(repair: &'r Repair) -> Self {
        Self { what: repair.to_string(), ..Self::pieces(repair) }
    }

    fn pieces(repair: &'r Repair) -> Self {
        let kind = |kind| Self { kind, ..Self::default() };
        match repair {
            Repair::CurrentVersion { version } => {
                Self { version: version.as_deref(), ..kind("current-version") }
            }
            Repair::HashTable { raw_data, rows, changed } => Self {
                raw_data: Some(raw_data),
                rows: Some(*rows),
                changed: Some(*changed),
                ..kind("hash-table")
            },
            Repair::Leftovers { raw_data, chunks } => {
                Self { raw_data: Some(raw_data), chunks: Some(*chunks), ..kind("leftovers") }
            }
            Repair::NotCommitted { version } => {
                Self { version: Some(version), ..kind("not-committed") }
            }
            Repair::Tail { bytes } => Self { bytes: Some(*bytes), ..kind("tail") },
            _ => kind("other"),
        }
    }
}
