//! `h5strata stats`: where the bytes of a file are.

mod chart;
mod row;

use std::io::Write;

use h5strata::StatsOptions;

use self::row::Summary;
use crate::args::{Global, Stats};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Countdown};

pub(crate) fn run(args: &Stats, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let file = lookup::open(&args.file, global, reporter)?;
    let bar = Countdown::new("versions");
    let listener = bar.clone();
    let options = StatsOptions::new()
        .quick(args.quick)
        .on_progress(move |done, versions| listener.reached(done, versions));
    let stats = file.stats(&options);
    bar.end();
    let mut stats = stats?;
    for fault in std::mem::take(&mut stats.faults) {
        reporter.error(&fault.into());
    }
    let mut out = output::screen();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Summary::of(&stats))
            .map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        chart::write(&mut out, &args.file, &stats, args.all)?;
    }
    out.flush()?;
    Ok(())
}
