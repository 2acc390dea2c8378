//! `h5strata commit`: a new version.

mod report;

use std::io::ErrorKind;
use std::path::Path;

use h5strata::store::EntryKind;
use h5strata::{Error, ImportOptions, NotCarried, Snapshot, Stage, StageOptions, VersionedFile};

use self::report::{Advice, Report};
use crate::args::{Commit, Global, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::ops::Operations;
use crate::output::Steps;

pub(crate) fn run(args: &Commit, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let operations = args.content.ops.as_deref().map(Operations::read).transpose()?;
    if let Some(snapshot) = &args.content.from
        && lookup::is_same_file(snapshot, &args.file)
    {
        return Err(Failure::SnapshotIsFile { file: snapshot.clone() });
    }
    let mut file = open(args, global, reporter)?;
    let mut options = options(args, &file)?;
    let steps = Steps::default();
    if operations.is_some() {
        options = options.on_progress(steps.listener());
    }
    let mut stage = options.stage(&mut file, &args.version)?;
    let mut created = Vec::new();
    if let Some(operations) = &operations {
        created = operations.apply(&mut stage)?;
    }
    let not_carried = match &args.content.from {
        Some(snapshot) => import(&mut stage, snapshot, args, &steps, &mut created)?,
        None => Vec::new(),
    };
    let parent = stage.parent().map(str::to_owned);
    let advice = advice(&mut stage, &created, reporter)?;
    let committed = stage.commit();
    steps.end();
    let report = Report::new(committed?, parent, !args.no_current, advice, &not_carried);
    report.warn(reporter);
    report.print(args.json)?;
    Ok(())
}

/// Stages the content of a plain file; gives what is left behind, and adds the paths of new datasets to `created`.
fn import(
    stage: &mut Stage<'_>,
    snapshot: &Path,
    args: &Commit,
    steps: &Steps,
    created: &mut Vec<String>,
) -> Result<Vec<NotCarried>, Failure> {
    let snapshot = match &args.path {
        Some(group) => Snapshot::open_below(snapshot, group)?,
        None => Snapshot::open(snapshot)?,
    };
    let options =
        ImportOptions::new().keep(args.keep).strict(args.strict).on_progress(steps.listener());
    let datasets = snapshot.entries().iter().filter(|entry| entry.kind == EntryKind::Dataset);
    let new = datasets.filter(|entry| stage.kind(&entry.path).is_none());
    created.extend(new.map(|entry| entry.path.clone()));
    Ok(stage.import(&snapshot, &options)?.not_carried)
}

/// Opens the file to commit to.
fn open(args: &Commit, global: &Global, reporter: &Reporter) -> Result<VersionedFile, Failure> {
    let opened = lookup::open_rw(&args.file, global, &args.changes, reporter);
    opened.map_err(|failure| match failure {
        Failure::Store(Error::Io { file, source }) if source.kind() == ErrorKind::NotFound => {
            Failure::NoFile { file }
        }
        failure => failure,
    })
}

fn options(args: &Commit, file: &VersionedFile) -> Result<StageOptions, Failure> {
    let mut options =
        StageOptions::new().make_current(!args.no_current).verify_reused(args.verify_reused);
    if args.no_parent || args.parent.as_deref() == Some("") {
        options = options.no_parent();
    } else if let Some(parent) = &args.parent {
        options = options.parent(lookup::version(file, &VersionArg::named(parent))?.name());
    }
    if let Some(time) = args.timestamp {
        options = options.timestamp(time);
    }
    Ok(options)
}

/// What would be better about the chunk shapes of new datasets, which is also told at once.
fn advice(
    stage: &mut Stage<'_>,
    created: &[String],
    reporter: &Reporter,
) -> Result<Vec<Advice>, Failure> {
    let mut all = Vec::new();
    for path in created {
        if stage.kind(path) != Some(EntryKind::Dataset) {
            continue;
        }
        if let Some(advice) = stage.dataset_mut(path)?.chunk_advice() {
            reporter.warning(&format_args!("dataset {path:?}: {advice}"));
            all.push(Advice::new(path, &advice));
        }
    }
    Ok(all)
}
