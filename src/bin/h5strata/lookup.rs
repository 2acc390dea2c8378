//! Files and versions as the command line names them.

use std::path::Path;
use std::time::Duration;

use h5strata::store::parse_time;
use h5strata::{Durability, OpenOptions, RawPath, UpgradeReport, Version, VersionedFile};

use crate::args::{Changes, DurabilityChoice, Global, RawPathChoice, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::output::Steps;

/// How the command line wants files opened.
pub(crate) fn options(global: &Global) -> OpenOptions {
    OpenOptions::new()
        .threads(global.threads.unwrap_or(0))
        .accept_wrong_hashes(global.accept_wrong_hashes)
        .raw_path(match global.raw_path {
            RawPathChoice::Auto => RawPath::Auto,
            RawPathChoice::Library => RawPath::Library,
        })
}

/// How the command line wants files changed.
pub(crate) fn writing(global: &Global, changes: &Changes) -> OpenOptions {
    options(global)
        .durability(durability(changes))
        .commit_patience(Duration::from_secs_f64(changes.wait))
}

/// What changes are to survive.
pub(crate) fn durability(changes: &Changes) -> Durability {
    match changes.durability {
        DurabilityChoice::Full => Durability::Full,
        DurabilityChoice::Process => Durability::Process,
    }
}

/// Opens a file for changing it, and tells if that has upgraded it.
pub(crate) fn open_rw(
    path: &Path,
    global: &Global,
    changes: &Changes,
    reporter: &Reporter,
) -> Result<VersionedFile, Failure> {
    let steps = Steps::default();
    let file = writing(global, changes).on_progress(steps.listener()).open_rw(path);
    steps.end();
    let file = file?;
    if let Some(UpgradeReport { from, tables, .. }) = file.upgraded() {
        let anew = match tables.len() {
            0 => String::new(),
            1 => "; the hash table of a dataset of strings was made anew".to_owned(),
            tables => format!("; the hash tables of {tables} datasets of strings were made anew"),
        };
        let (path, to) = (path.display(), file.data_version());
        reporter.note(&format_args!("{path}: data_version {from} was upgraded to {to}{anew}"));
    }
    Ok(file)
}

/// Opens a file for reading.
pub(crate) fn open(
    path: &Path,
    global: &Global,
    reporter: &Reporter,
) -> Result<VersionedFile, Failure> {
    let file = options(global).open(path)?;
    if matches!(file.data_version(), 2 | 3) {
        reporter.warning(&format_args!(
            "{}: data_version {}: strings of variable length may be wrong: versions committed after a hash \
             table was made can hold chunks of other data",
            path.display(),
            file.data_version()
        ));
    }
    Ok(file)
}

/// Whether two paths lead to one file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path| std::fs::canonicalize(path).ok();
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// How a version is named.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Spec<'t> {
    Name(&'t str),
    Back(u64),
    Time(chrono::DateTime<chrono::Utc>),
}

impl<'t> Spec<'t> {
    /// `@0`, `@-2`, `@TIME`; all else is a name.
    fn parse(text: &'t str) -> Self {
        let Some(spec) = text.strip_prefix('@') else { return Self::Name(text) };
        let digits = spec.strip_prefix('-').or((spec == "0").then_some(spec));
        if let Some(back) = digits.and_then(|digits| digits.parse().ok()) {
            return Self::Back(back);
        }
        parse_time(spec).map_or(Self::Name(text), Self::Time)
    }
}

/// The version that was asked for; the current one if none was. A version of exactly that name comes first,
/// whatever else the text could mean.
pub(crate) fn version(file: &VersionedFile, arg: &VersionArg) -> Result<Version, Failure> {
    let Some(text) = arg.version.as_deref() else { return Ok(file.current()?) };
    let version = match Spec::parse(text) {
        Spec::Back(_) | Spec::Time(_) if file.has_version(text)? => file.version(text),
        Spec::Name(name) => file.version(name),
        Spec::Back(back) => file.back(back),
        Spec::Time(time) => file.at(time),
    };
    Ok(version?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_names_steps_back_or_times() {
        assert_eq!(Spec::parse("2026-11-30"), Spec::Name("2026-11-30"));
        assert_eq!(Spec::parse("@0"), Spec::Back(0));
        assert_eq!(Spec::parse("@-2"), Spec::Back(2));
        assert!(matches!(Spec::parse("@2026-11-30T12:00:00Z"), Spec::Time(_)));
        assert!(matches!(Spec::parse("@2026-11-30"), Spec::Time(_)));
        for name in ["@", "@2", "@-", "@-x", "@home", "-2", ""] {
            assert_eq!(Spec::parse(name), Spec::Name(name), "{name}");
        }
    }
}
