//! `h5strata blame`: which version wrote each chunk last.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use h5strata::Selection;
use serde::Serialize;

use crate::args::{Blame, Global};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::{self, Cell, JsonArray, Table, block, tuple};

/// How names of versions are shown.
const NAME: Style = AnsiColor::Yellow.on_default();

/// A row of the listing.
#[derive(Debug, Serialize)]
struct Row<'b> {
    chunk: &'b [u64],
    start: &'b [u64],
    shape: &'b [u64],
    version: &'b str,
    timestamp: &'b str,
}

pub(crate) fn run(args: &Blame, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let selection = match &args.selection {
        Some(text) => text.parse()?,
        None => Selection::all(),
    };
    let file = lookup::open(&args.file, global, reporter)?;
    let dataset = lookup::version(&file, &args.version)?.dataset(&args.dataset)?;
    let blame = dataset.blame(selection)?;
    let mut times = Vec::new();
    for name in blame.versions() {
        times.push(output::time(&file.version(name)?.timestamp()?));
    }
    let timestamp = |version: &str| {
        let at = blame.versions().iter().position(|name| name == version);
        at.and_then(|at| times.get(at)).map_or("?", String::as_str)
    };
    let mut out = output::screen();
    if args.json {
        let mut array = JsonArray::default();
        for chunk in blame.chunks() {
            let row = Row {
                chunk: &chunk.coordinate,
                start: &chunk.start,
                shape: &chunk.shape,
                version: chunk.version,
                timestamp: timestamp(chunk.version),
            };
            array.push(&mut out, &row)?;
        }
        array.finish(&mut out)?;
        return Ok(());
    }
    let mut table = Table::with_header(&["version", "timestamp", "chunk", "elements"]);
    for chunk in blame.chunks() {
        let end: Vec<u64> = chunk.start.iter().zip(&chunk.shape).map(|(a, b)| a + b).collect();
        table.push([
            Cell::styled(chunk.version, NAME),
            Cell::new(timestamp(chunk.version)),
            Cell::new(&tuple(&chunk.coordinate)),
            Cell::new(&block(&chunk.start, &end)),
        ]);
    }
    table.write(&mut out, 0)?;
    out.flush()?;
    Ok(())
}
