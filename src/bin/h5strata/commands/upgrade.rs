//! `h5strata upgrade`: a file of an older format becomes one of the newest.

use std::io::Write;

use h5strata::store::UpgradedTable;
use h5strata::{UpgradeOptions, VersionedFile};
use serde::Serialize;

use crate::args::{Global, Upgrade};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Steps, visible};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'r> {
    from: i64,
    to: i64,
    tables: Vec<Table<'r>>,
}

/// A hash table that was made anew.
#[derive(Debug, Serialize)]
struct Table<'r> {
    raw_data: &'r str,
    rows: u64,
    digests: u64,
}

impl<'r> From<&'r UpgradedTable> for Table<'r> {
    fn from(table: &'r UpgradedTable) -> Self {
        Self { raw_data: &table.raw_data, rows: table.rows, digests: table.digests }
    }
}

pub(crate) fn run(args: &Upgrade, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let steps = Steps::default();
    let open = lookup::writing(global, &args.changes).on_progress(steps.listener());
    let options = UpgradeOptions::new().open_options(open).rebuild_hashes(args.rebuild_hashes);
    let report = options.upgrade(&args.file);
    steps.end();
    let report = report?;
    let file = args.file.display();
    if report.may_hold_wrong_chunks() {
        reporter.warning(&format_args!(
            "{file}: versions that were committed after a wrong hash table was made may hold chunks of other \
             data: compare them with the sources of the data"
        ));
    }
    let mut out = output::screen();
    let (from, to) = (report.from, VersionedFile::NEWEST_DATA_VERSION);
    if args.json {
        let tables = report.tables.iter().map(Table::from).collect();
        serde_json::to_writer_pretty(&mut out, &Report { from, to, tables })
            .map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else if report.was_newest() {
        writeln!(out, "{file}: data_version {from}: nothing to do")?;
    } else {
        writeln!(out, "{file}: data_version {from} is now {to}")?;
        for UpgradedTable { raw_data, rows, digests, .. } in &report.tables {
            let raw_data = visible(raw_data);
            writeln!(out, "{raw_data}: new hash table: {rows} chunks, {digests} digests")?;
        }
    }
    out.flush()?;
    Ok(())
}
