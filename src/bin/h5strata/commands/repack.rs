//! `h5strata repack`: a file without what no version needs.

use std::io::Write;

use h5strata::RepackOptions;

use super::rebuilt::Rebuilt;
use super::settings;
use crate::args::{Global, Repack};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Steps};

pub(crate) fn run(args: &Repack, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let steps = Steps::default();
    let options = RepackOptions::new()
        .overwrite(args.overwrite)
        .durability(lookup::durability(&args.changes))
        .on_progress(steps.listener());
    let options = match settings::options(&args.settings) {
        Some(settings) => options.settings(settings),
        None => options,
    };
    let report = match &args.out {
        Some(out) if lookup::is_same_file(&args.file, out) => {
            return Err(Failure::OutputIsInput { target: out.clone() });
        }
        Some(out) => lookup::open(&args.file, global, reporter)?.repack(out, &options),
        None => {
            lookup::open_rw(&args.file, global, &args.changes, reporter)?.repack_in_place(&options)
        }
    };
    steps.end();
    let rebuilt = Rebuilt::of(&report?);
    let mut out = output::screen();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &rebuilt).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        rebuilt.write(&mut out)?;
    }
    out.flush()?;
    Ok(())
}
