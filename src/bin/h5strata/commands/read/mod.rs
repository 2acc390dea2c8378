//! `h5strata read`: a selection of a dataset, to a file or the screen.

mod csv;
mod npy;
mod npy_header;
mod text;

use std::io::Write;
use std::path::Path;

use h5strata::{Dataset, Selection};

use crate::args::{Format, Global, Read};
use crate::failure::{Failure, Reporter};
use crate::lookup;
use crate::output::Target;
use crate::read::{Elements, Parts, for_each_slab};

pub(crate) fn run(args: &Read, global: &Global, reporter: &mut Reporter) -> Result<(), Failure> {
    let selection = match &args.selection {
        Some(text) => text.parse()?,
        None => Selection::all(),
    };
    let format = format(args)?;
    let file = lookup::open(&args.file, global, reporter)?;
    let dataset = lookup::version(&file, &args.version)?.dataset(&args.dataset)?;
    let parts = Parts::new(&dataset, &selection)?;
    let mut target = Target::open(args.output.as_deref(), &args.file)?;
    let bytes_to_terminal = |format| {
        if target.is_terminal() { Err(Failure::BytesToTerminal { format }) } else { Ok(()) }
    };
    match format {
        Format::Text => text::write(&dataset, &parts, args.full, &mut target)?,
        Format::Csv => csv::write(&dataset, &parts, &mut target)?,
        Format::Npy => {
            bytes_to_terminal(".npy")?;
            npy::write(&dataset, &parts, &mut target)?;
        }
        Format::Raw => {
            bytes_to_terminal("raw")?;
            write_raw(&dataset, &parts, &mut target)?;
        }
    }
    target.finish()
}

/// The format asked for, or the one that the output's ending stands for.
fn format(args: &Read) -> Result<Format, Failure> {
    let (None, Some(output)) = (args.format, &args.output) else {
        return Ok(args.format.unwrap_or(Format::Text));
    };
    if output == Path::new("-") {
        return Ok(Format::Text);
    }
    let ending = output.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("npy") => Ok(Format::Npy),
        Some("csv") => Ok(Format::Csv),
        Some("txt") => Ok(Format::Text),
        Some("raw" | "bin") => Ok(Format::Raw),
        _ => Err(Failure::UnknownEnding { target: output.clone() }),
    }
}

/// Elements as they are digested: bytes in the file's order, strings as their length and bytes.
fn write_raw(dataset: &Dataset, parts: &Parts, target: &mut Target) -> Result<(), Failure> {
    let failure = target.failure();
    for_each_slab(dataset, parts, |Elements { bytes, strings }| {
        target.write_all(bytes).map_err(&failure)?;
        for string in strings {
            target.write_all(&(string.len() as u64).to_le_bytes()).map_err(&failure)?;
            target.write_all(string).map_err(&failure)?;
        }
        Ok(())
    })
}
