//! `h5strata recover`: what a stopped writer has left is finished or taken back.

use std::io::Write;

use h5strata::{RecoverOptions, Recovery, RecoveryReport};
use serde::Serialize;

use crate::args::{Global, Recover};
use crate::failure::{Failure, Reporter};

/// What was found and done.
#[derive(Debug, Serialize)]
struct Report {
    /// `none`, `applied` or `discarded`.
    journal: &'static str,
    pages: u64,
    bytes: u64,
    tail_bytes: u64,
}

pub(crate) fn run(args: &Recover, _: &Global, _: &mut Reporter) -> Result<(), Failure> {
    let recovery = RecoverOptions::new().moved(args.moved).recover(&args.file)?;
    let mut out = anstream::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &Report::new(&recovery)).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    let file = args.file.display();
    match recovery.journal {
        Recovery::Replayed(replay) => writeln!(
            out,
            "{file}: the commit that was being applied is finished: {} pages, {} bytes",
            replay.pages, replay.bytes
        )?,
        Recovery::Discarded => {
            writeln!(out, "{file}: a commit that was not complete is taken back")?;
        }
        _ if recovery.tail == 0 => writeln!(out, "{file}: nothing to recover")?,
        _ => {}
    }
    if recovery.tail > 0 {
        writeln!(out, "{file}: {} bytes behind its end are cut off", recovery.tail)?;
    }
    Ok(())
}

impl Report {
    fn new(recovery: &RecoveryReport) -> Self {
        let (journal, pages, bytes) = match recovery.journal {
            Recovery::Replayed(replay) => ("applied", replay.pages, replay.bytes),
            Recovery::Discarded => ("discarded", 0, 0),
            _ => ("none", 0, 0),
        };
        Self { journal, pages, bytes, tail_bytes: recovery.tail }
    }
}
