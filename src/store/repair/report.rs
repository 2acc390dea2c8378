use std::fmt;

use crate::store::names::VERSIONS;
use crate::store::verify::VerifyReport;

/// What a repair has done, and what it has left.
#[derive(Debug)]
#[non_exhaustive]
pub struct RepairReport {
    /// What was done; nothing where nothing could be.
    pub repairs: Vec<Repair>,
    /// What the file is found to be like now.
    pub remaining: VerifyReport,
}

/// Something that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// There was no current version, or none of its name.
    CurrentVersion {
        /// The newest version by time, which is current now; `None` in a file without versions.
        version: Option<String>,
    },
    /// A hash table was made anew.
    HashTable {
        /// Path of the `raw_data` that it is of.
        raw_data: String,
        /// Its rows, one for each stored chunk.
        rows: u64,
        /// How many of them differ from what was there, and of those that were there how many are gone.
        changed: u64,
    },
    /// Stored chunks were dropped that neither a version nor a row told of.
    Leftovers {
        /// Path of the `raw_data`.
        raw_data: String,
        /// How many.
        chunks: u64,
    },
    /// A version was dropped that was never committed.
    NotCommitted {
        /// Its name.
        version: String,
    },
    /// Bytes behind the end of the file were cut off.
    Tail {
        /// How many.
        bytes: u64,
    },
}

/// What was done, in one line without the file's name.
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CurrentVersion { version: Some(version) } => {
                write!(f, "{VERSIONS}: the current version is now the newest, {version:?}")
            }
            Self::CurrentVersion { version: None } => {
                write!(f, "{VERSIONS}: there is no current version, as there is none at all")
            }
            Self::HashTable { raw_data, rows, changed } => write!(
                f,
                "the hash table of {raw_data} is made anew: {rows} rows, {changed} of them changed"
            ),
            Self::Leftovers { raw_data, chunks } => {
                let plural = if *chunks == 1 { "" } else { "s" };
                write!(f, "{raw_data}: {chunks} chunk{plural} of a stopped writer dropped")
            }
            Self::NotCommitted { version } => {
                write!(f, "version {version:?}, which was never committed, dropped")
            }
            Self::Tail { bytes } => write!(f, "{bytes} bytes behind the end of the file cut off"),
        }
    }
}
