//! `h5strata diff`: what differs between two versions.

mod row;
mod table;

use std::io::Write;

use h5strata::store::EntryDiff;

use self::row::Row;
use self::table::Listing;
use crate::args::{Diff, Global, VersionArg};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, JsonArray, STRONG, visible};

pub(crate) fn run(args: &Diff, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let old = lookup::version(&file, &VersionArg::named(&args.old))?;
    let new = lookup::version(&file, &VersionArg::named(&args.new))?;
    let diff = old.diff_below(&new, args.path.as_deref().unwrap_or_default())?;
    let attributes = diff.attributes()?;
    let of_version = (!attributes.is_empty()).then(|| (Some(Row::of_version(&attributes)), None));
    // A dataset whose values cannot be read is listed with what else is known of it.
    let entries = diff.entries().map(|entry| match entry {
        Ok(EntryDiff::Group(group)) => (Some(Row::of_group(&group)), None),
        Ok(EntryDiff::Dataset(dataset)) => {
            let (values, error) = match args.values.then(|| dataset.values()).transpose() {
                Ok(values) => (values, None),
                Err(error) => (None, Some(error)),
            };
            (Some(Row::of_dataset(&dataset, values)), error)
        }
        Err(error) => (None, Some(error)),
    });
    let mut out = output::screen();
    let (mut array, mut listing) = (JsonArray::default(), Listing::new(args.values));
    for (row, error) in of_version.into_iter().chain(entries) {
        if let Some(error) = error {
            reporter.error(&error.into());
        }
        let Some(row) = row else { continue };
        reporter.difference();
        if args.json {
            array.push(&mut out, &row)?;
        } else {
            listing.push(&row);
        }
    }
    if args.json {
        array.finish(&mut out)?;
    } else if !listing.is_empty() {
        let (old, new) = (visible(old.name()), visible(new.name()));
        writeln!(out, "version {STRONG}{old}{STRONG:#} -> {STRONG}{new}{STRONG:#}")?;
        listing.write(&mut out)?;
        out.flush()?;
    }
    Ok(())
}
