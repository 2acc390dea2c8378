//! Commands that change files.

use std::path::PathBuf;

use chrono::{DateTime, FixedOffset, Utc};
use clap::{Args, ValueEnum};
use h5strata::store::parse_time;

/// How changes are made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for changes")]
pub(crate) struct Changes {
    /// What a change survives once the command has ended
    #[arg(long, value_enum, default_value_t = DurabilityChoice::Full, value_name = "WHAT")]
    pub(crate) durability: DurabilityChoice,
    /// Seconds to wait for readers to let go of the file
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) wait: f64,
}

/// What a change survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityChoice {
    /// A crash of the system and a power failure too: everything is synced to the medium
    Full,
    /// A kill of the process at any moment, not a crash of the system: nothing is synced
    Process,
}

/// Create a versioned file without versions
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata init prices.h5\n  \
    h5strata init prices.h5 && h5strata commit prices.h5 r1 --ops first.json")]
pub(crate) struct Init {
    /// The file, which must not exist
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// Finish what a stopped writer has begun, or take it back
///
/// A commit that was stopped before its journal was complete is taken back, one that was stopped after that is
/// finished. Every other command that opens the file does the same, if it may write there: this one tells what it did.
/// It waits up to 30 seconds for readers.
///
/// A journal is applied to the file that it was written for, and no other: where a file was replaced, its journal is
/// left alone, and nothing can be committed before it is gone.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata recover prices.h5\n  \
    h5strata recover prices.h5 --json\n  \
    h5strata recover restored/prices.h5 --moved")]
pub(crate) struct Recover {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Apply a journal too that was copied or restored together with its file
    #[arg(long)]
    pub(crate) moved: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commit a new version: changes to its parent, or the content of another file
///
/// A new version has the content of its parent until something is changed. With --ops the changes are the
/// operations of a JSON file, applied in order. With --from the version gets the content of a plain HDF5 or NetCDF-4
/// file. Chunks that are stored already are not stored again. If anything fails, nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Operations are a JSON array of objects:\n  \
    {\"op\": \"create\", \"dataset\": PATH, \"npy\": FILE | \"value\": V | \"shape\": [N...], \"dtype\": TYPE,\n   \
    \"fill\": V, \"chunks\": [N...], \"filters\": {\"gzip\": 4, \"shuffle\": true}}\n  \
    {\"op\": \"write\", \"dataset\": PATH, \"select\": SELECTION, \"npy\": FILE | \"value\": V}\n  \
    {\"op\": \"resize\", \"dataset\": PATH, \"shape\": [N...]}\n  \
    {\"op\": \"delete\", \"path\": PATH}\n  \
    {\"op\": \"rename\" | \"copy\", \"from\": PATH, \"to\": PATH}\n  \
    {\"op\": \"group\", \"path\": PATH}\n  \
    {\"op\": \"attr\", \"path\": PATH or \"\" for the version, \"name\": NAME, \"value\": V or null | \"npy\": FILE}\n\n\
    V is a number, a string, a boolean, or nested lists of them; FILE is relative to the JSON file. Filters: \
    gzip, lzf, zstd, lz4, bzip2, blosc, bitshuffle or raw; shuffle and fletcher32.\n\n\
    Examples:\n  \
    h5strata commit prices.h5 r2 --ops changes.json\n  \
    echo '[{\"op\": \"write\", \"dataset\": \"close\", \"select\": \"-1\", \"value\": 0.5}]' |\n    \
    h5strata commit prices.h5 r3 --ops - --parent r1 --no-current\n  \
    h5strata commit prices.h5 2026-12-01 --from snapshot.h5 --timestamp 2026-12-01T18:00:00Z --json")]
pub(crate) struct Commit {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// Name of the new version
    #[arg(value_name = "VERSION", allow_hyphen_values = true)]
    pub(crate) version: String,
    #[command(flatten)]
    pub(crate) content: Content,
    /// Take only what is in this group of the snapshot
    #[arg(long, value_name = "PREFIX", conflicts_with = "ops")]
    pub(crate) path: Option<String>,
    /// Keep the datasets and groups that the snapshot lacks
    #[arg(long, conflicts_with = "ops")]
    pub(crate) keep: bool,
    /// Fail if anything in the snapshot cannot be carried
    #[arg(long, conflicts_with = "ops")]
    pub(crate) strict: bool,
    /// The version to start from: a name, @-N or @TIME [default: the current version]
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true, conflicts_with = "no_parent")]
    pub(crate) parent: Option<String>,
    /// Start from nothing, as an empty name of a parent does
    #[arg(long)]
    pub(crate) no_parent: bool,
    /// Time of the version, in UTC [default: now]
    #[arg(long, value_name = "TIME", value_parser = utc_time)]
    pub(crate) timestamp: Option<DateTime<Utc>>,
    /// Leave the current version the current one
    #[arg(long)]
    pub(crate) no_current: bool,
    /// Compare stored chunks byte by byte before they are used again
    #[arg(long)]
    pub(crate) verify_reused: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// What a new version holds.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Content {
    /// Apply the operations of a JSON file; - reads standard input
    #[arg(long, value_name = "OPS.json")]
    pub(crate) ops: Option<PathBuf>,
    /// Take the whole content of a plain HDF5 or NetCDF-4 file
    #[arg(long, value_name = "SNAPSHOT.h5")]
    pub(crate) from: Option<PathBuf>,
}

/// Write one version as a plain HDF5 file
///
/// Datasets are chunked as in the version, with the same types, filters, fill values and attributes. Stored chunks are
/// copied as they are. The file gets its name when it is whole.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata export prices.h5 2026-11-30 plain.h5\n  \
    h5strata export prices.h5 @-1 yesterday.h5 --force")]
pub(crate) struct Export {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A version's name, @-N or @TIME
    #[arg(value_name = "VERSION", allow_hyphen_values = true)]
    pub(crate) version: String,
    /// The file to write
    #[arg(value_name = "OUT.h5")]
    pub(crate) out: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

/// Make a version the current one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    h5strata set-current prices.h5 r1\n  \
    h5strata set-current prices.h5 @-1")]
pub(crate) struct SetCurrent {
    /// A versioned HDF5 file
    pub(crate) file: PathBuf,
    /// A version's name, @-N or @TIME
    #[arg(value_name = "VERSION", allow_hyphen_values = true)]
    pub(crate) version: String,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

/// A number of seconds that one can wait.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match std::time::Duration::try_from_secs_f64(seconds) {
        Ok(_) => Ok(seconds),
        Err(_) => Err("not a time that one can wait".to_owned()),
    }
}

/// A time that is UTC's: versions have no other.
pub(super) fn utc_time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = parse_time(text).ok_or("not a time such as 2026-11-30T12:00:00Z")?;
    match zone(text) {
        Some(zone) if zone.local_minus_utc() != 0 => Err(format!(
            "times of versions are UTC, not {zone}: did you mean {}?",
            time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
        )),
        _ => Ok(time),
    }
}

/// The zone that a time is given in.
fn zone(text: &str) -> Option<FixedOffset> {
    let forms = [
        DateTime::parse_from_rfc3339(text),
        DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%z"),
    ];
    forms.into_iter().find_map(Result::ok).map(|time| *time.offset())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_utc() {
        let noon = utc_time("2026-11-30T12:00:00Z").unwrap();
        for text in
            ["2026-11-30T12:00", "2026-11-30 12:00:00.000000+0000", "2026-11-30T12:00:00-00:00"]
        {
            assert_eq!(utc_time(text), Ok(noon), "{text}");
        }
        for text in ["2026-11-30T13:00:00+01:00", "2026-11-30 13:00:00.000000+0100"] {
            let error = utc_time(text).unwrap_err();
            assert!(error.contains("UTC") && error.contains("2026-11-30T12:00:00Z"), "{error}");
        }
        assert!(utc_time("noon").unwrap_err().contains("not a time"));
    }
}
